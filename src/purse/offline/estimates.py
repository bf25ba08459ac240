"""What policies would have gained, from a log that was read, by each method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse.base import amounts, validation
from purse.base.progress import progress
from purse.engine import cpu
from purse.engine.job import SEEDS, Job, make_job
from purse.errors import invalid
from purse.offline import bootstrap
from purse.offline import model_world as models
from purse.offline.bootstrap import Played, generator, play_log, with_log_error
from purse.offline.context_estimates import by_contexts
from purse.offline.context_world import make_context_world
from purse.offline.log import LEAST_ESS, Log
from purse.offline.log_result import LogEstimate, LogResult
from purse.offline.queue_replay import QueueReplay, replay
from purse.report.data import LogFacts, Recording
from purse.study import manifest
from purse.theory.notions import Estimate
from purse.types import Floats, Ints

METHODS = ("replay", *models.METHODS)


class Question(NamedTuple):
    """What is asked of a log."""

    policies: list[str | ModuleType]
    budgets: list[Any]  # in the user's unit: numbers, or with several resources one for each
    n_paths: int
    seed: int
    methods: tuple[str, ...]
    stop: str | None  # None: "retry" where there is a horizon, else "exit"


def ask(
    policies: str | ModuleType | Sequence[str | ModuleType],
    budgets: Any,
    *,
    n_paths: int,
    seed: int,
    methods: Sequence[str],
    stop: str | None,
) -> Question:
    """Return what is asked. Raise `InvalidInput` where a value is not allowed."""
    chosen = tuple(validation.choice("methods", method, METHODS) for method in methods)
    n_paths = validation.integer("n_paths", n_paths, low=2)
    seed = validation.integer("seed", seed, low=0, high=SEEDS)
    players = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    sizes = list(budgets) if isinstance(budgets, Sequence) else [budgets]
    for field, entries in (("policies", players), ("budgets", sizes), ("methods", chosen)):
        if not entries:
            raise invalid(field, entries, "must have at least one entry")
    return Question(players, sizes, n_paths, seed, chosen, stop)


def estimate(
    log: Log, question: Question, *, command: str, n_workers: int | None = None
) -> LogResult:
    """What each policy would have gained with each budget, by each method, with 95% intervals that
    hold the uncertainty of the log.

    command   how to ask again
    """
    players, sizes, n_paths, seed, chosen, stop = question
    workers = validation.workers(n_workers) or cpu.usable_cores()
    model = models.make_model(log)
    queues = replay(log) if "replay" in chosen else None
    logged = None if log.contexts is None else make_context_world(log)
    rule = stop or ("exit" if log.horizon is None else "retry")
    jobs = [
        make_job(policy, model.world, budget, stop=rule, seed=seed)
        for policy in players
        for budget in sizes
    ]
    blind = not all(job.contexts for job in jobs)
    wanted = [method for method in models.METHODS if method in chosen and blind]
    means = model_means(model, seed, wanted)
    answers = []
    with progress("replaying the log") as bar:
        for number, job in enumerate(jobs):
            title = f"{job.name}, budget {amounts.text(job.problem.budget[0])}"
            bar.part(number / len(jobs), 1 / len(jobs), title)
            how: dict[str, Any] = {"n_paths": n_paths, "workers": workers, "bar": bar}
            by_method = {}
            if logged is not None and job.contexts:
                by_method = by_contexts(logged, job, how)
                answers += [by_method[method] for method in chosen]
                continue
            if means:
                played = play_log(job, model.reweighted, model.once(), model.redrawn, **how)
                by_method = by_model(model, means, job, played)
            if queues is not None:
                played = play_log(job, queues.world, queues.once(), queues.redrawn, **how)
                by_method["replay"] = by_replay(queues, job, played)
            answers += [by_method[method] for method in chosen]
    note = "" if log.contexts is None else log.contexts.note
    facts = LogFacts(
        title=f"{log.name}: which policy spends a budget best?",
        command=command,
        replay=Recording("log", log.name, len(log), log.horizon, list(log.arms), note),
        policies=list(dict.fromkeys(answer.policy for answer in answers)),
        budgets=list(dict.fromkeys(answer.budget for answer in answers)),
        n_paths=n_paths,
        seed=seed,
        stop=rule,
        **manifest.surroundings(),
        made=manifest.now(),
    )
    return LogResult(log, tuple(answers), facts)


def model_means(
    model: models.ModelWorld, seed: int, methods: Sequence[str]
) -> dict[str, list[Floats]]:
    """By each method, the mean reward of each arm in the log and in each replicate."""
    by_method: dict[str, list[Floats]] = {
        method: [model.means(method, model.once())] for method in methods
    }
    for number in range(bootstrap.REPLICATES) if methods else ():
        rows = model.redrawn(generator(seed, number))
        for method, means in by_method.items():
            means.append(model.means(method, rows))
    return by_method


def by_model(
    model: models.ModelWorld, means: Mapping[str, list[Floats]], job: Job, played: Played
) -> dict[str, LogEstimate]:
    """What the estimated world says, by each way to estimate mean rewards."""
    inside, sizes, spent = model.played_means(), model.log.ess, spent_of(played)
    by_method = {}
    for method, (mean, *again) in means.items():
        values = np.concatenate([run.gain + run.pulls @ (mean - inside) for _, run in played.main])
        pairs = zip(played.replicates, again, strict=True)
        found = with_log_error(values, np.array([run.pulls @ each for run, each in pairs]))
        by_method[method] = answer(job, method, found, model.log, played.pulls, sizes, spent)
    return by_method


def by_replay(queues: QueueReplay, job: Job, played: Played) -> LogEstimate:
    """What the logged rounds themselves say; refused where a path needs more of them than there
    are.
    """
    values = np.concatenate([run.gain for _, run in played.main])
    found = with_log_error(values, np.array([run.gain for run in played.replicates]))
    spent = spent_of(played)
    estimate = answer(job, "replay", found, queues.log, played.pulls, queues.ess, spent)
    for arm in np.concatenate([queues.ran_out(world) for world, _ in played.main])[:1]:
        shortage = (
            f"needs more rounds of arm {queues.log.arms[arm]!r} than the log has: "
            f"{queues.ess[arm]:,.0f} that can be replayed"
        )
        estimate = estimate._replace(refused=estimate.refused or shortage)
    return estimate


def spent_of(played: Played) -> Estimate:
    """What the policy spends of the first resource."""
    values = np.concatenate([run.spent[:, 0] for _, run in played.main])
    return with_log_error(values, np.array([run.spent[:, 0] for run in played.replicates]))


def answer(
    job: Job,
    method: str,
    estimate: Estimate,
    log: Log,
    pulls: Ints,
    ess: Floats,
    spent: Estimate,
) -> LogEstimate:
    """The estimate, or why the log cannot support it: the policy plays an arm of which it knows too
    little.
    """
    refused = None
    for arm in np.flatnonzero((pulls > 0) & (ess < LEAST_ESS)):
        known = "which was never logged"
        if log.rows[arm]:
            known = f"whose effective sample size is {ess[arm]:.3g}, below {LEAST_ESS:g}"
        refused = refused or f"plays arm {log.arms[arm]!r}, {known}"
    budget = float(job.problem.budget[0] / amounts.UNIT)
    return LogEstimate(job.name, budget, method, estimate, pooled(pulls, ess), refused, spent)


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
