"""What plays a policy on a log, and its estimates by each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from purse.base import amounts
from purse.base.progress import Progress
from purse.engine.job import Job
from purse.lab.offline import model_world as models
from purse.lab.offline.bootstrap import Played, generator, play_log, with_log_error
from purse.lab.offline.context_estimates import by_contexts
from purse.lab.offline.context_world import make_context_world
from purse.lab.offline.log import Log, too_little
from purse.lab.offline.log_result import UNKNOWN, LogEstimate
from purse.lab.offline.queue_replay import QueueReplay, replay
from purse.lab.report.log_standings import SHORT
from purse.lab.study.compile_ahead import warm_up_all
from purse.lab.study.shard import JobSpec
from purse.lab.theory.estimate import Estimate
from purse.types import Floats, Ints, World


class LogPlayer:
    """What plays jobs on a log, by each method that is asked for."""

    def __init__(
        self,
        log: Log,
        methods: Sequence[str],
        *,
        n_paths: int,
        replicates: int,
        seed: int,
        workers: int,
    ) -> None:
        self.model = models.make_model(log)
        self.queues = replay(log) if "replay" in methods else None
        self.logged = None if log.contexts is None else make_context_world(log)
        self.how: dict[str, Any] = {
            "n_paths": n_paths,
            "replicates": replicates,
            "workers": workers,
        }
        wanted = [method for method in models.METHODS if method in methods]
        self.means = model_means(self.model, seed, wanted, replicates)

    def warm_up(self, players: Mapping[Any, str], budget: Any, bar: Progress) -> None:
        """Compile the loops of these policies, each with its stop rule, for all methods; those that
        see contexts are compiled when they play.
        """
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
            return by_contexts(self.logged, job, {**self.how, "bar": bar})
        found, worlds = {}, bool(self.means) + (self.queues is not None)
        if self.means:
            bar.part(start, length / worlds, bar.title)
            model = self.model
            played = play_log(
                job, model.reweighted, model.once(), model.redrawn, **self.how, bar=bar
            )
            found = by_model(model, self.means, job, played)
        if self.queues is not None:
            bar.part(start + length * (1 - 1 / worlds), length / worlds, bar.title)
            queues = self.queues

            def ran_out(world: World) -> bool:
                return bool(queues.ran_out(world).size)

            played = play_log(
                job,
                queues.world,
                queues.once(),
                queues.redrawn,
                **self.how,
                bar=bar,
                enough=ran_out,
            )
            found["replay"] = by_replay(queues, job, played)
        return found


def model_means(
    model: models.ModelWorld, seed: int, methods: Sequence[str], replicates: int
) -> dict[str, list[Floats]]:
    """By each method, the mean reward of each arm in the log and in each replicate."""
    by_method: dict[str, list[Floats]] = {
        method: [model.means(method, model.once())] for method in methods
    }
    for number in range(replicates) if methods else ():
        rows = model.redrawn(generator(seed, number))
        for method, means in by_method.items():
            means.append(model.means(method, rows))
    return by_method


def by_model(
    model: models.ModelWorld, means: Mapping[str, list[Floats]], job: Job, played: Played
) -> dict[str, LogEstimate]:
    """Return what the estimated world says, by each way to estimate mean rewards."""
    inside, sizes, spent = model.played_means(), model.log.ess, spent_of(played)
    by_method = {}
    for method, (mean, *again) in means.items():
        values = np.concatenate([run.gain + run.pulls @ (mean - inside) for _, run in played.main])
        pairs = zip(played.replicates, again, strict=True)
        found = with_log_error(values, np.array([run.pulls @ each for run, each in pairs]))
        by_method[method] = answer(job, method, found, model.log, played, sizes, spent)
    return by_method


def by_replay(queues: QueueReplay, job: Job, played: Played) -> LogEstimate:
    """Return what the logged rounds themselves say; refused where a path needs more of them than
    there are.
    """
    short = np.concatenate([queues.ran_out(world) for world, _ in played.main])
    if short.size:
        arm, size = queues.log.arms[short[0]], queues.ess[short[0]]
        shortage = (
            f"{SHORT}: a game needs more rounds of arm {arm!r} than the {size:,.0f} that "
            "can be replayed"
        )
        found = answer(job, "replay", UNKNOWN, queues.log, played, queues.ess, UNKNOWN)
        return found._replace(refused=found.refused or shortage)
    values = np.concatenate([run.gain for _, run in played.main])
    gain = with_log_error(values, np.array([run.gain for run in played.replicates]))
    return answer(job, "replay", gain, queues.log, played, queues.ess, spent_of(played))


def spent_of(played: Played) -> Estimate:
    """Return what the policy spends of the first resource."""
    values = np.concatenate([run.spent[:, 0] for _, run in played.main])
    return with_log_error(values, np.array([run.spent[:, 0] for run in played.replicates]))


def answer(
    job: Job,
    method: str,
    estimate: Estimate,
    log: Log,
    played: Played,
    ess: Floats,
    spent: Estimate,
) -> LogEstimate:
    """Return the estimate, or why the log cannot support it: the policy plays an arm of which it
    knows too little.
    """
    pulls, size = played.pulls, budget_of(job)
    refused = too_little(log, pulls, ess)
    return LogEstimate(
        job.name, size, method, estimate, pooled(pulls, ess), refused, spent, played.rounds
    )


def budget_of(job: Job) -> float:
    """Return the budget of a job, of the first resource and in the user's unit."""
    return float(job.problem.budget[0] / amounts.UNIT)


def pooled(pulls: Ints, ess: Floats) -> float:
    """Effective sample size of a policy: (sum w)^2 / sum w^2 where the rows of each arm share the
    weight of its part s_i of the pulls: 1 / sum_i s_i^2 / ess_i.

    >>> pooled(np.array([3, 1, 0]), np.array([90.0, 10.0, 0.0]))
    80.0
    """
    played = pulls > 0
    if (ess[played] == 0).any():
        return 0.0
    part = pulls[played] / max(1, pulls.sum())
    return float(1 / (part**2 / ess[played]).sum()) if played.any() else 0.0
