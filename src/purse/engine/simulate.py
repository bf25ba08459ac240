"""`purse.simulate`: one policy against one world, on many independent paths."""

from types import ModuleType
from typing import Any

import numpy as np

from purse.base import amounts, validation
from purse.base.optional import check_lab, needs
from purse.base.progress import Progress, progress
from purse.engine import cpu
from purse.engine.job import Job, make_job, plans_by_forecast
from purse.engine.python_policy import as_module
from purse.engine.rules import NEVER
from purse.engine.run import Run, Trajectory
from purse.engine.workspace import Checkpoints, PathResults
from purse.errors import invalid
from purse.types import CPU, CUDA, DEVICES, PYTHON, STOP_RULES, Floats, World

_MAX_GIGABYTES = 4  # for what is recorded at checkpoints


def simulate(
    policy: str | ModuleType | type[Any],
    world: str | World,
    budget: Any,
    *,
    n_paths: int = 100,
    seed: int = 0,
    stop: str = "exit",
    plays: int = 1,
    horizon: int | None = None,
    cost_min: Any = None,
    cost_max: Any = None,
    caps: Any = None,
    checkpoints: int = 0,
    delay: Any = 0,
    n_workers: int | None = None,
    device: str = CPU,
    block: int | None = None,
) -> Run:
    """Play `policy` against `world` on `n_paths` independent paths until the budget is spent.

    policy    a name with options, such as "exp3++.bwk:beta=1"; the path of a policy file; a
              module; or a class in plain Python, see the page *Adding a policy*
    world     a `World`, or text such as "two_worlds:cost_min=0.1,world=2"
    budget    one amount, or one per resource, shape (d,)
    seed      the same seed gives the same numbers
    stop      the stop rule: "exit" ends the game when a pull cannot be paid; "hold" ends it when
              the most that the chosen arm may cost does not fit; "retry" tries the other arms
              first; "fit" offers only arms whose largest cost fits
    plays     arms per round
    horizon   rounds after which the game ends, known to the policy; None: the world's own
    cost_min, cost_max   the bounds on costs that the policy is told; None: those of the world
    caps      pulls allowed per arm, one number or one for each, for policies that keep to them
    checkpoints   the number of log-spaced rounds, and of equal fractions of the budget, at which
                  the standing of each path is recorded
    delay     the rounds by which each report comes late: a whole number; or "geometric:D", or
              ("geometric", D), for random delays with mean D. Until its report comes, a ticket is
              open as in a live policy; see the page *Concepts*
    n_workers, block   threads, and paths per block; neither changes any number
    device    "cpu", "cuda" for an NVIDIA GPU (needs the extra `gpu`; not with a delay), or "python"
              to play kernels as plain Python, slowly, as classes always are; it changes no number

    Return a `Run` with gains, rounds, spending and pulls of each path.

    Raise `InvalidInput` when a value is not allowed, or when the policy cannot play the problem.
    """
    validation.choice("device", device, DEVICES)
    job = make_job(
        as_module(policy),
        world,
        budget,
        seed=seed,
        stop=stop,
        plays=plays,
        horizon=horizon,
        cost_min=cost_min,
        cost_max=cost_max,
        caps=caps,
        checkpoints=checkpoints,
        delay=delay,
    )
    with progress(f"{job.name} on {job.world.name}") as shown:
        return play(job, n_paths, n_workers=n_workers, block=block, device=device, shown=shown)


def play(
    job: Job,
    n_paths: int,
    *,
    n_workers: int | None,
    shown: Progress,
    block: int | None = None,
    device: str = CPU,
) -> Run:
    """Play a job on `n_paths` paths and return its results."""
    n_paths = validation.integer("n_paths", n_paths, low=1)
    n_workers = validation.workers(n_workers)
    block = None if block is None else validation.integer("block", block, low=1)
    check_device(device, job)
    if device == PYTHON:
        job = job.as_python()
    if not job.in_python:
        check_lab("simulate", "numba")
    gigabytes = (
        n_paths
        * (len(job.checkpoints.rounds) + len(job.checkpoints.left))
        * (job.problem.n_arms + job.problem.n_resources + 2)
        * 8
        / 1e9
    )
    if gigabytes > _MAX_GIGABYTES:
        raise invalid(
            "checkpoints",
            len(job.checkpoints.left),
            f"would need {gigabytes:.0f} GB for {n_paths} paths and {job.problem.n_arms} arms",
        )
    return to_run(
        job,
        gpu_engine().simulate(job, n_paths, shown)
        if device == CUDA
        else cpu.simulate(job, n_paths, n_workers, block, shown),
    )


def check_device(device: str, job: Job) -> None:
    """Raise `InvalidInput` if the device cannot play the job."""
    allowed = ""
    if device == CUDA and job.delay.is_late:
        allowed = f"must be 'cpu' with delay={job.delay.value!r}; leave out one of the two"
    elif device == CUDA and job.of_class:
        allowed = f"must be 'python' for {job.name}, which is a class"
    elif device == PYTHON and getattr(job.policy, "COMPILED", False):
        allowed = f"must be 'cpu' or 'cuda' for {job.name}, which says COMPILED = True"
    if allowed:
        raise invalid("device", device, allowed)


def to_run(job: Job, results: PathResults) -> Run:
    """Return the results of a job under their names, in the user's unit."""
    plain, n_marks = job.world.reward_range == (0.0, 1.0), len(job.checkpoints.left)
    return Run(
        policy=job.name,
        world=job.world.name,
        budget=job.problem.budget / amounts.UNIT,
        stop=STOP_RULES[job.game.rule],
        seed=job.game.seed,
        gain=job.world.in_units_of_user(results.gain, results.pulls),
        efficiency=results.efficiency * float(job.problem.unit_scale[0] * amounts.UNIT)
        if job.problem.n_resources == 1 and plain
        else None,
        rounds=results.rounds,
        spent_units=results.spent,
        pulls=results.pulls,
        ended=(results.rounds >= (job.world.n_rounds or NEVER))
        & (results.spent < job.problem.budget).all(axis=1),
        by_round=_trajectory(job.world, job.checkpoints.rounds.astype(np.float64), results.by_round)
        if n_marks
        else None,
        by_budget=_trajectory(job.world, np.arange(1, n_marks + 1) / n_marks, results.by_budget)
        if n_marks
        else None,
        delay=job.delay.value,
        untold=job.world.n_rounds
        if job.problem.horizon is None and plans_by_forecast(job.policy)
        else None,
    )


def gpu_engine() -> Any:
    """Return the engine for GPUs; raise `MissingExtra` when the extra `gpu` is not installed."""
    with needs('device="cuda"', "gpu"):
        from purse.engine import gpu
    return gpu


def _trajectory(world: World, checkpoints: Floats, record: Checkpoints) -> Trajectory:
    return Trajectory(
        checkpoints,
        record.rounds,
        world.in_units_of_user(record.gain, record.pulls),
        record.spent / amounts.UNIT,
        record.pulls,
    )
