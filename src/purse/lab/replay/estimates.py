"""Estimates of what a policy gains and spends, from a log, by each method; or why it cannot tell.

The log itself is a reference: its rows in their order, until one cannot be paid or the game ends.
For its interval rows are drawn again with replacement and keep the order of the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from purse.base import amounts
from purse.base.progress import Progress
from purse.engine.job import Job
from purse.lab.data.log import LEAST_ESS, Log, too_few_rewards, too_little
from purse.lab.data.question import Question
from purse.lab.replay.bootstrap import Played, Resampled, generator, play_log, with_log_error
from purse.lab.replay.certain_game import CertainGame, certain_game
from purse.lab.replay.context_world import (
    ContextWorld,
    Credited,
    effective_rows,
    make_context_world,
)
from purse.lab.replay.log_result import SHORT, UNKNOWN, LogEstimate
from purse.lab.replay.log_worlds import (
    WEIGHTED,
    ModelWorld,
    QueueReplay,
    make_model,
    make_queues,
    ratio,
)
from purse.lab.replay.logged_rounds import MOST_DRAWS, seat
from purse.lab.study.compile_ahead import warm_up_all
from purse.lab.study.shard import JobSpec
from purse.lab.theory.estimate import Estimate
from purse.types import Floats, Ints, World

_MISSED = 4.0  # standard errors by which the weights of a policy's rows may fall short of 1
_NO_QUEUES = (
    "sees contexts: the next row of an arm has a context that the policy did not choose in; "
    "ips, snips and dr can tell"
)
NAME, _COST = "as logged", "cost"


class LogPlayer:
    """A player of jobs on a log, by each method of the question."""

    def __init__(self, log: Log, question: Question, *, workers: int) -> None:
        methods, logs = question.methods, question.logs
        self.model = make_model(log)
        self.queues = make_queues(log) if "replay" in methods else None
        self.logged = None if log.contexts is None else make_context_world(log)
        self.how: dict[str, Any] = {
            "n_paths": question.games,
            "replicates": logs,
            "workers": workers,
        }
        wanted = [method for method in WEIGHTED if method in methods]
        self.means = _model_means(self.model, question.seed, wanted, logs)
        self.costs = self.means.pop(_COST)

    def warm_up(self, players: Mapping[Any, str], budget: Any, bar: Progress) -> None:
        """Compile the loops of policies by their stop rules, but for those with contexts."""
        world = self.model.reweighted(self.model.once())
        jobs, recipes = dict[str, Job](), dict[str, JobSpec]()
        for policy, stop in players.items():
            recipe = JobSpec(policy, world, budget, 0, stop)
            job = recipe.make()
            if not job.contexts:
                jobs[job.name], recipes[job.name] = job, recipe
        warm_up_all(jobs, recipes, bar, self.how["workers"])

    def by_method(self, job: Job, bar: Progress) -> dict[str, LogEstimate]:
        """Return the estimates for a job; the bar goes on by one part."""
        start, length = bar.start, bar.length
        if self.logged is not None and job.contexts:
            return _by_contexts(self.logged, job, {**self.how, "bar": bar})
        model, queues = self.model, self.queues
        answers, worlds = dict[str, LogEstimate](), bool(self.means) + (queues is not None)
        if self.means:
            bar.part(start, length / worlds, bar.title)
            if (game := certain_game(job)) is not None:
                answers = _by_sum(model.log, self.means, self.costs, job, game)
            else:
                played = play_log(
                    job, model.reweighted, model.once(), model.redrawn, **self.how, bar=bar
                )
                answers = _by_model(model, self.means, job, played)
        if queues is not None:
            bar.part(start + length * (1 - 1 / worlds), length / worlds, bar.title)

            def ran_out(world: World) -> bool:
                return bool(queues.ran_out(world).size)

            rows = queues.once()
            played = play_log(
                job, queues.world, rows, queues.redrawn, **self.how, bar=bar, enough=ran_out
            )
            answers["replay"] = _by_replay(queues, job, played)
        return answers


def _model_means(
    model: ModelWorld, seed: int, methods: Sequence[str], replicates: int
) -> dict[str, list[Floats]]:
    """By each method, the mean reward of each arm in the log and in each replicate; its mean cost
    likewise.
    """
    by_method: dict[str, list[Floats]] = {method: [] for method in methods}
    by_method[_COST] = []
    for number in range(-1, replicates if methods else 0):
        rows = model.once() if number < 0 else model.redrawn(generator(seed, number))
        for method in methods:
            by_method[method].append(model.means(method, rows))
        by_method[_COST].append(model.costs(rows))
    return by_method


def _by_sum(
    log: Log,
    by_arm: Mapping[str, list[Floats]],
    costs: list[Floats],
    job: Job,
    game: CertainGame,
) -> dict[str, LogEstimate]:
    """Return what a game without a simulation gains, by each way to estimate mean rewards."""
    spent = _sum_of(game.pulls, costs).estimate()
    return {
        method: _answer(job, method, _sum_of(game.pulls, means), log, game, log.ess, spent)
        for method, means in by_arm.items()
    }


def _sum_of(pulls: Floats, by_log: list[Floats]) -> Resampled:
    """Return the sum over these pulls, from the means in the log and in each replicate."""
    value, *again = (float(pulls @ means) for means in by_log)
    return _certain(value, np.array(again))


def _by_model(
    model: ModelWorld, by_arm: Mapping[str, list[Floats]], job: Job, played: Played
) -> dict[str, LogEstimate]:
    """Return what the estimated world says, by each way to estimate mean rewards."""
    log, sizes, spent = model.log, model.log.ess, _spent_of(played)
    low, high = log.reward_range  # rewards outside count as its ends
    within = log.sums(log.weight * (low + (high - low) * log.inside))
    inside = ratio(within, log.sums(log.weight))
    by_method = {}
    for method, (mean, *again) in by_arm.items():
        values = np.concatenate([run.gain + run.pulls @ (mean - inside) for _, run in played.main])
        pairs = zip(played.replicates, again, strict=True)
        gain = Resampled(values, np.array([run.pulls @ means for run, means in pairs]))
        by_method[method] = _answer(job, method, gain, log, played, sizes, spent)
    return by_method


def _by_replay(queues: QueueReplay, job: Job, played: Played) -> LogEstimate:
    """Return what the logged rounds themselves say, or that a path needs more of them."""
    short = np.concatenate([queues.ran_out(world) for world, _ in played.main])
    if short.size:
        arm, size = queues.log.arms[short[0]], queues.ess[short[0]]
        shortage = (
            f"{SHORT}: a game needs more rounds of arm {arm!r} than the {size:,.0f} that "
            "can be replayed"
        )
        unknown = _answer(job, "replay", None, queues.log, played, queues.ess, UNKNOWN)
        return unknown._replace(refused=unknown.refused or shortage)
    values = np.concatenate([run.gain for _, run in played.main])
    gain = Resampled(values, np.array([run.gain for run in played.replicates]))
    return _answer(job, "replay", gain, queues.log, played, queues.ess, _spent_of(played))


def _spent_of(played: Played) -> Estimate:
    """Return what the policy spends of the first resource."""
    values = np.concatenate([run.spent[:, 0] for _, run in played.main])
    return with_log_error(values, np.array([run.spent[:, 0] for run in played.replicates]))


def _answer(
    job: Job,
    method: str,
    gains: Resampled | None,
    log: Log,
    played: Played | CertainGame,
    ess: Floats,
    spent: Estimate,
) -> LogEstimate:
    """Return the estimate; refused if the policy plays an arm of which the log knows too little."""
    pulls, size = played.pulls, budget_of(job)
    refused, rows = too_little(log, pulls, ess), _pooled(pulls, ess)
    gain = UNKNOWN if gains is None else _in_range(gains.estimate(), log, played.paid)
    rest = played.rounds, "policy", played.mean_pulls, gains
    return LogEstimate(job.name, size, method, gain, rows, refused, spent, *rest)


def _in_range(estimate: Estimate, log: Log, pulls: float) -> Estimate:
    """Return the estimate, with an interval within what this number of pulls can gain."""
    mean, error, low, high = estimate
    least, most = (pulls * end for end in log.reward_range)
    return Estimate(mean, error, min(mean, max(low, least)), max(mean, min(high, most)))


def budget_of(job: Job) -> float:
    """Return the budget of a job, of the first resource and in the user's unit."""
    return float(job.problem.budget[0] / amounts.UNIT)


def _pooled(pulls: Ints | Floats, ess: Floats) -> float:
    """Effective sample size of a policy: (sum w)^2 / sum w^2 where the rows of each arm share the
    weight of its part s_i of the pulls: 1 / sum_i s_i^2 / ess_i.

    >>> _pooled(np.array([3, 1, 0]), np.array([90.0, 10.0, 0.0]))
    80.0
    """
    played = pulls > 0
    if (ess[played] == 0).any():
        return 0.0
    part = pulls[played] / pulls.sum()
    return float(1 / (part**2 / ess[played]).sum()) if played.any() else 0.0


def _by_contexts(logged: ContextWorld, job: Job, how: Mapping[str, Any]) -> dict[str, LogEstimate]:
    """Return the estimates for a policy that sees contexts; `how` is as in `play_log`."""
    played = play_log(
        job, logged.world, logged.once(), logged.redrawn, **how, seat=seat, keep=logged.credited
    )
    main = [logged.credited(world, run) for world, run in played.main]
    again: list[Credited] = played.worlds
    rows = effective_rows(np.sum([part.visits for part in main], axis=0))
    refused = _reason(logged, main, again, played, rows)
    size = budget_of(job)
    unknown = LogEstimate(
        job.name, size, "replay", UNKNOWN, 0.0, _NO_QUEUES, UNKNOWN, played.rounds
    )
    answers = {"replay": unknown}
    for method in WEIGHTED:
        gains, spent = (
            _from_paths(
                [getattr(part, what)[method] for part in main],
                [getattr(part, what)[method] for part in again],
            )
            for what in ("gain", "spent")
        )
        gain = _in_range(gains.estimate(), logged.log, played.paid)
        rest = spent.estimate(), played.rounds, "policy", played.mean_pulls, gains
        answers[method] = LogEstimate(job.name, size, method, gain, rows, refused, *rest)
    return answers


def _from_paths(main: list[Floats], again: list[Floats]) -> Resampled:
    """Return the values of the log's paths, and of the replicates'."""
    return Resampled(np.concatenate(main), np.array(again))


def _reason(
    logged: ContextWorld, main: list[Credited], again: list[Credited], played: Played, rows: float
) -> str | None:
    """Return why the log cannot tell what a policy gains that sees contexts, or None."""
    log = logged.log
    asked: Ints = played.pulls + np.sum([part.asked for part in (*main, *again)], axis=0)
    if (why := too_little(log, asked, log.ess)) is not None:
        return why
    if any(part.lost for part in main):
        return f"not in the log: wants an arm that none of {MOST_DRAWS:,} rows has"
    weight = _from_paths([part.weight for part in main], [part.weight for part in again]).estimate()
    if (short := 1 - weight.mean) > _MISSED * weight.error:
        apart = short / weight.error if weight.error else np.inf
        return (
            "not in the log: wants arms in contexts in which the log never chose them, or the "
            "probabilities are wrong: the weights of the rows that it agrees with come to "
            f"{weight.mean:.3g} a round and should come to "
            f"1, {apart:.3g} standard errors apart"
        )
    if rows < LEAST_ESS:
        return f"too few rows: plays rows whose effective number is {rows:.3g}, below {LEAST_ESS:g}"
    visits = np.sum([part.visits for part in main], axis=0)
    return too_few_rewards(visits, logged.values[:, 0]) if visits.any() else None


def as_logged(log: Log, question: Question) -> list[LogEstimate]:
    """Return what the log itself gained with each budget: the same for every method.

    Refused if the game would have gone on after the last row, with money and rounds left.
    """
    answers, n = [], len(log)
    for budget in question.sizes:
        units = amounts.budget_array(budget, len(log.resources))
        gain, spent, rounds = _play_rows(log, np.arange(n), units)
        refused = None
        if rounds == n and (log.horizon is None or log.horizon > n):
            left = amounts.text(units[0] - log.cost[:, 0].sum())
            refused = f"{SHORT}: it ends with {left} of the budget left"
        again = [
            _play_rows(log, np.sort(generator(question.seed, number).integers(n, size=n)), units)
            for number in range(question.logs)
        ]
        redone = np.array(again)
        gains, amounts_spent = _certain(gain, redone[:, 0]), _certain(spent, redone[:, 1])
        answers += [
            LogEstimate(
                NAME,
                float(units[0] / amounts.UNIT),
                method,
                UNKNOWN if refused else _in_range(gains.estimate(), log, rounds),
                float(rounds),
                refused,
                UNKNOWN if refused else amounts_spent.estimate(),
                float(rounds),
                "log",
                np.bincount(log.arm[:rounds], minlength=len(log.arms)).astype(float),
                gains,
            )
            for method in question.methods
        ]
    return answers


def _play_rows(log: Log, rows: Ints, units: Ints) -> tuple[float, float, int]:
    """Return what these rows gain and cost in their order, and how many of them are played."""
    total = np.cumsum(log.cost[rows], axis=0)
    paid = int((total <= units).all(axis=1).sum())  # costs are not negative: the first ones
    last = min(paid, len(rows) if log.horizon is None else log.horizon)
    spent = float(total[last - 1, 0] / amounts.UNIT) if last else 0.0
    return float(log.reward[rows[:last]].sum()), spent, last


def _certain(value: float, again: Floats) -> Resampled:
    """Return the value in the log and those in the replicates: nothing is random within one."""
    return Resampled(np.array([value]), again[:, None])
