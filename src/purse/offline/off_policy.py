"""`estimate_log`: which policy would have gained how much, from a log that another policy wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from purse.base import amounts, validation
from purse.base.progress import progress
from purse.engine import cpu
from purse.engine.job import SEEDS, Job, make_job
from purse.errors import invalid
from purse.offline import bootstrap
from purse.offline import model_world as models
from purse.offline.bootstrap import Played, generator, play_log, with_log_error
from purse.offline.log import Log, read_log
from purse.offline.log_result import LogEstimate, LogResult
from purse.offline.queue_replay import QueueReplay, replay
from purse.offline.source import Source, read
from purse.report.command import command
from purse.report.data import LogFacts, Recording
from purse.study import manifest
from purse.theory.notions import Estimate
from purse.types import Floats, Ints

if TYPE_CHECKING:
    import polars as pl

METHODS = ("replay", *models.METHODS)
LEAST_ESS = 30.0  # effective rows of an arm, below which nothing is said about who plays it


def estimate_log(
    data: str | os.PathLike[str] | pl.DataFrame | Source,
    *,
    policies: str | ModuleType | Sequence[str | ModuleType],
    budgets: float | Sequence[float],
    n_paths: int = 200,
    seed: int = 0,
    horizon: int | None = None,
    methods: Sequence[str] = METHODS,
    arm: str = "arm",
    reward: str = "reward",
    cost: str = "cost",
    probability: str = "probability",
    arms: Sequence[str] | None = None,
    reward_range: tuple[float, float] | None = None,
    cost_min: Any = None,
    cost_max: Any = None,
    stop: str | None = None,
    n_workers: int | None = None,
) -> LogResult:
    """What each policy would have gained with each budget, by each method, with 95% intervals that
    hold the uncertainty of the log.

    data        a file (.csv, .parquet, .jsonl) or a Polars frame: one row per round, one pull each
    horizon     rounds after which the game ends, known to the policies; then costs may be 0
    arm, reward, cost, probability   the columns; probability is that of the logged arm when it was
                                     chosen
    arms        all arms, where some were never logged, or in the order in which policies know them;
                else those in the log, sorted
    reward_range, cost_min, cost_max   what policies are told, where that is wider than what the log
                                       holds
    stop        what happens when a pull cannot be paid; "retry" where there is a horizon, "exit"
                where there is none
    """
    source = data if isinstance(data, Source) else read(data)
    chosen = [validation.choice("methods", method, METHODS) for method in methods]
    n_paths = validation.integer("n_paths", n_paths, low=2)
    seed = validation.integer("seed", seed, low=0, high=SEEDS)
    horizon = None if horizon is None else validation.integer("horizon", horizon, low=1)
    workers = validation.workers(n_workers) or cpu.usable_cores()
    players = [policies] if isinstance(policies, (str, ModuleType)) else list(policies)
    sizes = list(budgets) if isinstance(budgets, Sequence) else [budgets]
    for field, entries in (("policies", players), ("budgets", sizes), ("methods", chosen)):
        if not entries:
            raise invalid(field, entries, "must have at least one entry")
    columns: dict[str, Any] = {
        "arm": arm,
        "reward": reward,
        "cost": cost,
        "probability": probability,
    }
    declared: dict[str, Any] = {
        "arms": arms,
        "reward_range": reward_range,
        "cost_min": cost_min,
        "cost_max": cost_max,
    }
    log = read_log(source, **columns, **declared, horizon=horizon)
    model, queues = models.make_model(log), replay(log)
    rule = stop or ("exit" if horizon is None else "retry")
    jobs = [
        make_job(policy, model.world, budget, stop=rule, seed=seed)
        for policy in players
        for budget in sizes
    ]
    means = model_means(model, seed) if set(chosen) & set(models.METHODS) else {}
    answers = []
    with progress("replaying the log") as bar:
        for number, job in enumerate(jobs):
            title = f"{job.name}, budget {amounts.text(job.problem.budget[0])}"
            bar.part(number / len(jobs), 1 / len(jobs), title)
            how: dict[str, Any] = {"n_paths": n_paths, "workers": workers, "bar": bar}
            by_method = {}
            if means:
                played = play_log(job, model.reweighted, model.once(), model.redrawn, **how)
                by_method = by_model(model, means, job, played)
            if "replay" in chosen:
                played = play_log(job, queues.world, queues.once(), queues.redrawn, **how)
                by_method["replay"] = by_replay(queues, job, played)
            answers += [by_method[method] for method in chosen]
    options: dict[str, Any] = {"horizon": horizon, "n_paths": n_paths, "seed": seed, "stop": stop}
    declared = {"methods": None if tuple(chosen) == METHODS else chosen, **declared}
    options |= columns | {name: value for name, value in declared.items() if value is not None}
    function = "purse.offline.off_policy.estimate_log"
    facts = LogFacts(
        title=f"{log.name}: which policy spends a budget best?",
        command=command(source.path, players, sizes, function, **options),
        replay=Recording("log", log.name, len(log), horizon, list(log.arms)),
        policies=list(dict.fromkeys(answer.policy for answer in answers)),
        budgets=list(dict.fromkeys(answer.budget for answer in answers)),
        n_paths=n_paths,
        seed=seed,
        stop=rule,
        **manifest.surroundings(),
        made=manifest.now(),
    )
    return LogResult(log, tuple(answers), facts)


def model_means(model: models.ModelWorld, seed: int) -> dict[str, list[Floats]]:
    """By each method, the mean reward of each arm in the log and in each replicate."""
    by_method: dict[str, list[Floats]] = {
        method: [model.means(method, model.once())] for method in models.METHODS
    }
    for number in range(bootstrap.REPLICATES):
        rows = model.redrawn(generator(seed, number))
        for method, means in by_method.items():
            means.append(model.means(method, rows))
    return by_method


def by_model(
    model: models.ModelWorld, means: Mapping[str, list[Floats]], job: Job, played: Played
) -> dict[str, LogEstimate]:
    """What the estimated world says, by each way to estimate mean rewards."""
    inside = model.means("snips", model.once())
    by_method = {}
    for method, (mean, *again) in means.items():
        values = np.concatenate([run.gain + run.pulls @ (mean - inside) for _, run in played.main])
        pairs = zip(played.replicates, again, strict=True)
        found = with_log_error(values, np.array([run.pulls @ each for run, each in pairs]))
        by_method[method] = answer(job, method, found, model.log, played.pulls, model.log.ess)
    return by_method


def by_replay(queues: QueueReplay, job: Job, played: Played) -> LogEstimate:
    """What the logged rounds themselves say; refused where a path needs more of them than there
    are.
    """
    values = np.concatenate([run.gain for _, run in played.main])
    found = with_log_error(values, np.array([run.gain for run in played.replicates]))
    estimate = answer(job, "replay", found, queues.log, played.pulls, queues.ess)
    for arm in np.concatenate([queues.ran_out(world) for world, _ in played.main])[:1]:
        shortage = (
            f"needs more rounds of arm {queues.log.arms[arm]!r} than the log has: "
            f"{queues.ess[arm]:,.0f} that can be replayed"
        )
        estimate = estimate._replace(refused=estimate.refused or shortage)
    return estimate


def answer(
    job: Job, method: str, estimate: Estimate, log: Log, pulls: Ints, ess: Floats
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
    return LogEstimate(job.name, budget, method, estimate, pooled(pulls, ess), refused)


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
