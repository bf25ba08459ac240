"""Estimates of what a policy gains and spends, from a log; or why it cannot tell.

The log itself is a reference: its rows in their order, until one cannot be paid or the game ends.
For its interval blocks are drawn again with replacement, and rows keep the order of the log.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from purse.base import amounts
from purse.base.progress import Progress
from purse.engine.job import Job
from purse.lab.data.log import LEAST_ESS, Log, too_little
from purse.lab.data.question import Question
from purse.lab.replay.bootstrap import Played, Resampled, generator, play_log, redraw, with_unseen
from purse.lab.replay.context_world import (
    ContextWorld,
    Credited,
    effective_rows,
    make_context_world,
)
from purse.lab.replay.log_result import LogEstimate
from purse.lab.replay.logged_rounds import MOST_DRAWS, seat
from purse.lab.replay.model_world import make_model
from purse.lab.study.compile_ahead import warm_up_all
from purse.lab.study.shard import JobSpec
from purse.lab.theory.estimate import Estimate
from purse.types import Floats, Ints

_MISSED = 4.0  # standard errors by which the weights of a policy's rows may fall short of 1


class LogPlayer:
    """A player of jobs on a log."""

    def __init__(self, log: Log, question: Question, *, workers: int) -> None:
        self.model = make_model(log)
        self.logged = None if log.contexts is None else make_context_world(log)
        self.how: dict[str, Any] = {
            "n_paths": question.games,
            "replicates": question.logs,
            "workers": workers,
        }
        seeds = (generator(question.seed, number) for number in range(question.logs))
        # of the log, and of each replicate
        self.means = [log.means(), *(log.means(redraw(log, rng)) for rng in seeds)]

    def warm_up(self, players: Mapping[Any, str], budget: Any, bar: Progress) -> None:
        """Compile the loops of policies by their stop rules, but for those with contexts."""
        jobs, recipes = dict[str, Job](), dict[str, JobSpec]()
        for policy, stop in players.items():
            recipe = JobSpec(policy, self.model.world, budget, 0, stop)
            job = recipe.make()
            if not job.contexts:
                jobs[job.name], recipes[job.name] = job, recipe
        warm_up_all(jobs, recipes, bar, self.how["workers"])

    def answer(self, job: Job, bar: Progress) -> LogEstimate:
        """Return the estimate for a job; the bar goes on by one part."""
        if self.logged is not None and job.contexts:
            return _by_contexts(self.logged, job, {**self.how, "bar": bar})
        model, log, (mean, *again) = self.model, self.model.log, self.means
        once, redrawn = np.ones(len(log), np.int64), partial(redraw, log)
        played = play_log(job, model.reweighted, once, redrawn, **self.how, bar=bar)
        pulls = np.concatenate([run.pulls for _, run in played.main])
        # what pulls gain on average has less noise than what they gained
        pairs = zip(played.replicates, again, strict=True)
        gains = Resampled(pulls @ mean, np.array([run.pulls @ means for run, means in pairs]))
        gain = _in_range(gains.estimate(), log, played.mean_pulls)
        game = _spent_of(played), played.rounds, "policy", played.mean_pulls, gains
        rows, refused = _pooled(played.pulls, log.ess), too_little(log, played.pulls, log.ess)
        return LogEstimate(job.name, budget_of(job), gain, rows, refused, *game)


def _spent_of(played: Played) -> Estimate:
    """Return the estimate of what is spent of the first resource."""
    values = np.concatenate([run.spent[:, 0] for _, run in played.main])
    redone = np.array([run.spent[:, 0] for run in played.replicates])
    return Resampled(values, redone).estimate()


def _in_range(estimate: Estimate, log: Log, pulls: Floats) -> Estimate:
    """Return the estimate, with an interval that holds unseen rows, within what (K,) pulls gain."""
    mean, error, low, high = with_unseen(estimate, log, pulls)
    lowest, highest = (float(pulls.sum()) * end for end in log.reward_range)
    return Estimate(mean, error, min(mean, max(low, lowest)), max(mean, min(high, highest)))


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


def _by_contexts(logged: ContextWorld, job: Job, how: Mapping[str, Any]) -> LogEstimate:
    """Return the estimate for a policy that sees contexts; `how` is as in `play_log`."""
    played = play_log(
        job, logged.world, logged.once(), logged.redrawn, **how, seat=seat, keep=logged.credited
    )
    main = [logged.credited(world, run) for world, run in played.main]
    again: list[Credited] = played.worlds
    rows = effective_rows(np.sum([part.visits for part in main], axis=0))
    refused = _reason(logged, main, again, played, rows)
    gains = _from_paths([part.gain for part in main], [part.gain for part in again])
    gain = _in_range(gains.estimate(), logged.log, played.mean_pulls)
    game = _spent_of(played), played.rounds, "policy", played.mean_pulls, gains
    return LogEstimate(job.name, budget_of(job), gain, rows, refused, *game)


def _from_paths(main: list[Floats], again: list[Floats]) -> Resampled:
    """Return the values of the log's paths, and of the replicates'."""
    return Resampled(np.concatenate(main), np.array(again))


def _reason(
    logged: ContextWorld, main: list[Credited], again: list[Credited], played: Played, rows: float
) -> str | None:
    """Return why the log cannot tell what a policy gains that sees contexts, or None."""
    log = logged.log
    wanted: Ints = played.pulls + np.sum([part.wanted for part in (*main, *again)], axis=0)
    if (why := too_little(log, wanted, log.ess)) is not None:
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
    return None


def as_logged(log: Log, question: Question) -> list[LogEstimate]:
    """Return the gain of the log itself with each budget.

    Refused if the game would have gone on after the last row, with money and rounds left.
    """
    answers, n = [], len(log)
    for budget in question.sizes:
        units = amounts.budget_array(budget, len(log.resources))
        size = float(units[0] / amounts.UNIT)
        gain, spent, rounds = _play_rows(log, np.arange(n), units)
        refused = None
        if rounds == n and (log.horizon is None or log.horizon > n):
            left = amounts.text(units[0] - log.cost[:, 0].sum())
            refused = f"log too short: it ends with {left} of the budget left"
        again = [
            _play_rows(
                log, np.repeat(np.arange(n), redraw(log, generator(question.seed, number))), units
            )
            for number in range(question.logs)
        ]
        redone = np.array(again)
        pulls = np.bincount(log.arm[:rounds], minlength=len(log.arms)).astype(float)
        # nothing is random within a log
        gains, paid = (
            Resampled(np.array([value]), redone[:, column, None])
            for column, value in enumerate((gain, spent))
        )
        gain_of_log = _in_range(gains.estimate(), log, pulls)
        game = paid.estimate(), rounds, "log", pulls, gains
        answers.append(LogEstimate("as logged", size, gain_of_log, rounds, refused, *game))
    return answers


def _play_rows(log: Log, rows: Ints, units: Ints) -> tuple[float, float, int]:
    """Return the gain and the cost of these rows in their order, and how many are played."""
    total = np.cumsum(log.cost[rows], axis=0)
    paid = int((total <= units).all(axis=1).sum())  # costs are not negative: the first ones
    last = min(paid, len(rows) if log.horizon is None else log.horizon)
    spent = float(total[last - 1, 0] / amounts.UNIT) if last else 0.0
    return float(log.reward[rows[:last]].sum()), spent, last
