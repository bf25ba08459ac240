"""`purse.replay` without budgets: what would have been as good for less, on recorded rounds."""

from dataclasses import replace
from typing import Any

import numpy as np

from purse.base import amounts, validation
from purse.base.progress import whole
from purse.base.text import join_words
from purse.engine.simulate import simulate
from purse.errors import InvalidInput
from purse.lab.data.log import LEAST_ESS, Log
from purse.lab.data.question import Question
from purse.lab.data.rounds import Rounds
from purse.lab.data.table import FullTable
from purse.lab.replay.block_means import BlockMeans
from purse.lab.replay.log_result import LogFacts
from purse.lab.replay.model_world import make_model
from purse.lab.replay.savings import Savings, find_savings
from purse.lab.replay.savings_result import SavingsResult
from purse.lab.study import manifest
from purse.lab.study.manifest import Recording
from purse.lab.theory.estimate import estimate
from purse.policies import DEFAULT
from purse.types import Floats

_PATHS, _MOST_ROUNDS = 20, 20_000  # of the simulation; what longer logs gain is scaled
_STOP = "retry"
_MOST_WITHIN = 0.5
_UNLIKE = 1.5  # times the tokens: requests are others


def ask_savings(rounds: Rounds, question: Question) -> SavingsResult:
    """Return choices that would have been as good for less, or why the rounds cannot tell.

    Of a table what was done is the arm that it says, else its dearest.

    Raise `InvalidInput` if there is one arm, or if no cost is above 0.
    """
    within = validation.number("within", question.within, low=0, high=_MOST_WITHIN)
    log, share = (rounds, None) if isinstance(rounds, Log) else _as_log(rounds)
    n = len(rounds) if isinstance(rounds, Log) else len(rounds.rewards)
    if (log.rows > 0).sum() < 2:
        raise InvalidInput(
            f"{log.name} has one arm, {log.arms[int(log.rows.argmax())]!r}: there is nothing to "
            "compare; let another one answer a part of the requests"
        )
    if not log.cost.any():
        raise InvalidInput(f"{log.name}: every cost is 0, so there is nothing to save")
    with whole("looking for savings") as bar:
        means = BlockMeans.of(
            log.arm,
            log.reward,
            log.cost[:, 0] / amounts.UNIT,
            n_arms=len(log.arms),
            weight=log.weight,
            session=log.session,
            share=share,
            ends=log.ends,
        )
        bar.part(0.2, 0.8, "looking for savings")
        answer, plan = find_savings(means, within), None
        if share is None and len(wrong := log.contradicted):
            arms = join_words(repr(log.arms[arm]) for arm in wrong)
            answer = Savings(
                "cannot tell", f"its probabilities contradict how often it chose {arms}"
            )
        elif reason := _other_requests(log):
            answer = Savings("cannot tell", reason)
        elif share is None and answer.kind == "less":
            plan = _plan(
                log, means, float(n * means.log_cost[0] * (1 - answer.saving[0])), question
            )
    facts = LogFacts(
        title=f"{log.name}: what would have been as good for less?",
        command=question.command(log.origin),
        replay=Recording(
            "table" if share is not None else "log", log.name, n, n, log.arms, notes=log.notes
        ),
        policies=[DEFAULT],
        budgets=[] if plan is None else [plan[5]],
        n_paths=_PATHS,
        seed=question.seed,
        stop=_STOP,
        replicates=0,
        **manifest.surroundings(),
        made=manifest.now(),
    )
    return SavingsResult(log, means, answer, plan, within, facts)


def _as_log(table: FullTable) -> tuple[Log, Floats]:
    """Return a table as a log with a row for each round and arm, whose rounds are sessions, and the
    shares of what was done.
    """
    n, k = table.rewards.shape
    done = int(table.costs.mean(axis=0).argmax()) if table.done is None else table.done
    log = Log(
        table.name,
        table.arms,
        np.tile(np.arange(k), n),
        table.rewards.ravel(),
        table.costs.reshape(-1, 1),
        np.ones(n * k),
        table.costs.min(axis=0)[:, None],
        table.costs.max(axis=0)[:, None],
        (0.0, 1.0),
        None,
        notes=table.notes,
        origin=table.origin,
        session=np.repeat(np.arange(n), k),
        currency=table.currency,
    )
    return log, np.eye(k)[done]


def _other_requests(log: Log) -> str:
    """Return why arms did not get the same requests, if their sizes show it. Tokens of the same
    text differ from model to model, so that only large differences tell.
    """
    if log.size is None or not log.assumed:
        return ""
    sizes = BlockMeans.of(log.arm, log.size, log.size, n_arms=len(log.arms), session=log.session)
    often = np.flatnonzero(sizes.ess >= LEAST_ESS)
    if not len(often):
        return ""
    small, large = (
        int(often[end]) for end in (sizes.gain[0, often].argmin(), sizes.gain[0, often].argmax())
    )
    ratio = sizes.gain[:, large] / np.maximum(sizes.gain[:, small], 1)
    if ratio[0] - sizes.t * sizes.error(ratio) <= _UNLIKE:
        return ""
    return (
        f"{log.arms[large]!r} got requests with {ratio[0]:.1f} times the tokens of those of "
        f"{log.arms[small]!r}, so which arm answered had to do with the request"
    )


def _plan(log: Log, means: BlockMeans, money: float, question: Question) -> tuple[Any, ...]:
    """Return the gain of the default policy with this money, which knows nothing beforehand; its
    interval holds the chance in play and the log's.
    """
    judged, rounds = np.isfinite(log.reward), min(len(log), _MOST_ROUNDS)
    part = rounds / len(log)
    rows = {name: getattr(log, name)[judged] for name in ("arm", "reward", "cost", "weight")}
    world = make_model(replace(log, **rows, horizon=rounds)).world
    how: dict[str, Any] = {"n_paths": _PATHS, "seed": question.seed, "stop": _STOP}
    run = simulate(DEFAULT, world, part * money, **how)
    low, high = log.reward_range
    gain, error, *_ = estimate((low * run.pulls.sum(axis=1) + (high - low) * run.gain) / part)
    of_log = means.error(means.gain @ (run.pulls.mean(axis=0) / part))
    half = means.t * float(np.hypot(error, of_log))
    spent = float(run.spent[:, 0].mean()) / part
    saved = 1 - spent / float(log.cost[:, 0].sum() / amounts.UNIT)
    return DEFAULT, "policy", gain, gain - half, gain + half, spent, saved, 0.0
