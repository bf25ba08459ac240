"""`purse.simulate`: a policy against a world, many times over."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from purse import amount, check, environments, policies, spec
from purse.engine import cpu
from purse.engine.path import Game, Marks, Record, Results
from purse.engine.referee import NEVER, sweep_rounds
from purse.errors import InvalidInput, invalid, needs
from purse.progress import Progress, progress
from purse.types import (
    CPU,
    CUDA,
    DEVICES,
    STOP_RULES,
    Floats,
    Problem,
    Run,
    Trajectory,
    World,
    cap_array,
)

SEEDS = 2**63 - 1
MOST_GIGABYTES = 4  # for what is recorded at marks


def simulate(
    policy: str | ModuleType,
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
    marks: int = 0,
    n_workers: int | None = None,
    device: str = CPU,
    block: int | None = None,
) -> Run:
    """Play `policy` against `world` on `n_paths` independent paths until the budget is gone.

    policy    a name with options, such as "exp3++.bwk:beta=1"; the path of a policy file; or a
              module
    world     a `World`, or text such as "two_worlds:cost_min=0.1,world=2"
    budget    one number, or one per resource
    stop      what happens when a pull cannot be paid: "exit" ends the game; "hold" ends it as soon
              as the most that the chosen arm may cost does not fit; "retry" tries the other arms
              first
    plays     arms per round
    horizon   rounds after which the game ends, known to the policy; None: the world's own
    cost_min, cost_max   what the policy is told, where that is wider than what the world declares
    caps      pulls allowed per arm, one number or one for each, for policies that keep to them
    marks     so many log-spaced rounds and equal fractions of the budget at which the standing is
              recorded
    n_workers, block     threads, and paths per block
    device    "cpu", or "cuda" for an NVIDIA GPU (needs purse[gpu]); none of these three changes any
              number
    """
    check.choice("device", device, DEVICES)
    job = make_job(
        policy,
        world,
        budget,
        seed=seed,
        stop=stop,
        plays=plays,
        horizon=horizon,
        cost_min=cost_min,
        cost_max=cost_max,
        caps=caps,
        marks=marks,
    )
    with progress(f"{job.name} on {job.world.name}") as shown:
        return play(job, n_paths, n_workers=n_workers, block=block, device=device, shown=shown)


def play(
    job: cpu.Job,
    n_paths: int,
    *,
    n_workers: int | None,
    shown: Progress,
    block: int | None = None,
    device: str = CPU,
) -> Run:
    """Run a job and name its results."""
    n_paths = check.integer("n_paths", n_paths, low=1)
    n_workers = None if n_workers is None else check.integer("n_workers", n_workers, low=1)
    block = None if block is None else check.integer("block", block, low=1)
    gigabytes = (
        n_paths
        * (len(job.marks.rounds) + len(job.marks.left))
        * (job.problem.n_arms + job.problem.n_resources + 2)
        * 8
        / 1e9
    )
    if gigabytes > MOST_GIGABYTES:
        raise invalid(
            "marks",
            len(job.marks.left),
            f"would need {gigabytes:.0f} GB for {n_paths} paths and {job.problem.n_arms} arms",
        )
    return told(
        job,
        gpu_engine().simulate(job, n_paths, shown)
        if device == CUDA
        else cpu.simulate(job, n_paths, n_workers, block, shown),
    )


def told(job: cpu.Job, results: Results) -> Run:
    """The results of a job under their names, in the user's unit."""
    plain, n_marks = job.world.reward_range == (0.0, 1.0), len(job.marks.left)
    return Run(
        policy=job.name,
        world=job.world.name,
        budget=job.problem.budget / amount.UNIT,
        stop=STOP_RULES[job.game.rule],
        seed=job.game.seed,
        gain=job.world.in_units_of_user(results.gain, results.pulls),
        efficiency=results.efficiency * float(job.problem.share[0] * amount.UNIT)
        if job.problem.n_resources == 1 and plain
        else None,
        rounds=results.rounds,
        spent_units=results.spent,
        pulls=results.pulls,
        ended=(results.rounds >= (job.world.n_rounds or NEVER))
        & (results.spent < job.problem.budget).all(axis=1),
        by_round=trajectory(job.world, job.marks.rounds.astype(np.float64), results.by_round)
        if n_marks
        else None,
        by_budget=trajectory(job.world, np.arange(1, n_marks + 1) / n_marks, results.by_budget)
        if n_marks
        else None,
    )


def gpu_engine() -> Any:
    """The engine for GPUs, which needs an extra."""
    with needs('device="cuda"', "gpu"):
        from purse.engine import gpu
    return gpu


def make_job(
    policy: str | ModuleType,
    world: str | World,
    budget: Any,
    *,
    seed: int = 0,
    stop: str = "exit",
    plays: int = 1,
    horizon: int | None = None,
    cost_min: Any = None,
    cost_max: Any = None,
    caps: Any = None,
    marks: int = 0,
) -> cpu.Job:
    """Check everything, apply the defaults and put together what the engine needs."""
    place = environments.make(world, budget)
    problem = problem_of(
        place, budget, plays=plays, horizon=horizon, cost_min=cost_min, cost_max=cost_max, caps=caps
    )
    module, params = make_policy(policy, problem)
    last_round = min(problem.horizon or NEVER, place.n_rounds or NEVER)
    game = make_game(module, problem, stop, seed, last_round)
    name = policy if isinstance(policy, str) else module.NAME
    return cpu.Job(
        name,
        module,
        params,
        problem,
        place,
        game,
        make_marks(check.integer("marks", marks, low=0, high=10_000), problem, last_round),
    )


def yardsticks(world: World, budget: Any, *, seed: int = 0, stop: str = "exit") -> list[cpu.Job]:
    """Each arm alone. Alone means that under `retry` no other arm steps in: the game ends, as under
    `exit`.
    """
    rule = "exit" if stop == "retry" else stop
    return [
        make_job(f"fixed:arm={arm}", world, budget, seed=seed, stop=rule)
        for arm in range(world.n_arms)
    ]


def make_game(
    policy: ModuleType, problem: Problem, stop: str, seed: int, last_round: int = NEVER
) -> Game:
    """What all paths of a problem have in common."""
    rule = STOP_RULES.index(check.choice("stop", stop, STOP_RULES))
    seed = check.integer("seed", seed, low=0, high=SEEDS)
    # a round may take time in proportion to K
    beat = 1 << min(16, max(0, 20 - problem.n_arms.bit_length()))
    initial = sweep_rounds(policy, problem.n_arms, problem.plays)
    return Game(
        problem.budget,
        problem.cost_max,
        problem.share,
        rule,
        initial,
        last_round,
        problem.horizon is not None,
        beat,
        seed,
    )


def make_policy(policy: str | ModuleType, problem: Problem) -> tuple[ModuleType, Any]:
    """The policy's module and its parameters for this problem, from a name with options."""
    name, options = spec.parse(policy) if isinstance(policy, str) else (policy, dict[str, Any]())
    module = policies.load(name)
    spec.check_options(module.NAME, module.params, options, given=("problem",))
    if problem.caps is not None and not getattr(module, "CAPS", False):
        raise InvalidInput(
            f"{module.NAME} does not keep to caps; leave them out or choose a policy that does"
        )
    return module, module.params(problem, **options)


def problem_of(
    world: World,
    budget: Any,
    *,
    plays: int,
    horizon: int | None,
    cost_min: Any,
    cost_max: Any,
    caps: Any,
) -> Problem:
    """What a player of this world is told; bounds on costs may be declared wider than they are."""
    n_arms, n_resources = world.n_arms, world.n_resources
    low = (
        world.cost_min
        if cost_min is None
        else amount.cost_array("cost_min", cost_min, n_arms, n_resources)
    )
    high = (
        world.cost_max
        if cost_max is None
        else amount.cost_array("cost_max", cost_max, n_arms, n_resources)
    )
    if (low > world.cost_min).any():
        raise invalid("cost_min", cost_min, "must not exceed what the world's arms may cost")
    if (high < world.cost_max).any():
        raise invalid("cost_max", cost_max, "must not be less than what the world's arms may cost")
    return Problem(
        n_arms,
        amount.budget_array(budget, n_resources),
        low,
        high,
        plays=check.integer("plays", plays, low=1, high=n_arms),
        horizon=world.horizon if horizon is None else check.integer("horizon", horizon, low=1),
        costs=world.costs,
        caps=None if caps is None else cap_array(caps, n_arms),
        reward_means=world.reward_means,
        cost_means=world.cost_means,
    )


def make_marks(count: int, problem: Problem, last_round: int) -> Marks:
    """Log-spaced rounds up to the most that there can be, and equal fractions of the budget."""
    most = (
        last_round
        if problem.horizon is not None
        else min(last_round, int(problem.budget.max() // problem.cost_min.max(axis=1).min()))
    )
    rounds = (
        np.unique(np.rint(np.geomspace(1, max(1, most), count)).astype(np.int64))
        if count
        else np.zeros(0, np.int64)
    )
    floors = [
        [units - units * part // count for units in problem.budget.tolist()]
        for part in range(1, count + 1)
    ]
    return Marks(rounds, np.array(floors, np.int64).reshape(count, problem.n_resources))


def trajectory(world: World, marks: Floats, record: Record) -> Trajectory:
    """A record in the user's unit."""
    return Trajectory(
        marks,
        record.rounds,
        world.in_units_of_user(record.gain, record.pulls),
        record.spent / amount.UNIT,
        record.pulls,
    )
