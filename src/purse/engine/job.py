"""A job: everything that decides the numbers of a simulation, checked and put together."""

import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from purse import policies, worlds
from purse.base import amounts, spec, validation
from purse.engine.delay import NO_DELAY, Delay, parse_delay
from purse.engine.policy_contract import check_contract
from purse.engine.python_policy import PythonPolicy
from purse.engine.rules import FIT, NEVER, Game, initial_rounds
from purse.engine.workspace import CheckpointPlan
from purse.errors import InvalidInput, invalid
from purse.types import STOP_RULES, Floats, Outages, Problem, World, cap_array
from purse.worlds._draw import draw as shared_draw
from purse.worlds._draw import view as shared_view

SEEDS = 2**63 - 1


class Job(NamedTuple):
    """Everything that decides the numbers of a simulation."""

    name: str  # how the policy was written
    policy: ModuleType
    params: Any
    problem: Problem
    world: World
    game: Game
    checkpoints: CheckpointPlan
    delay: Delay = NO_DELAY  # how late reports come
    in_python: bool = False  # whether plain Python plays it; it changes no number

    @property
    def masks(self) -> bool:
        """Whether arms may be masked: under rule `fit`, or in a world with outages."""
        return self.game.rule == FIT or len(self.game.up) > 0

    @property
    def counts_masks(self) -> bool:
        """Whether masks are counted: the policy wants them, and arms may be down."""
        return len(self.game.up) > 0 and wants_masks(self.policy)

    def as_python(self) -> "Job":
        """Return the job as plain Python plays it, unless that computes other numbers."""
        return self._replace(in_python=not getattr(self.policy, "COMPILED", False))

    @property
    def of_class(self) -> bool:
        """Whether the policy is a class, whose code and state cannot be compared."""
        return isinstance(self.policy, PythonPolicy)

    @property
    def contexts(self) -> bool:
        """Whether the policy sees contexts, and the world has any."""
        return self.problem.n_features > 0 and sees_contexts(self.policy)


def sees_contexts(policy: ModuleType) -> bool:
    """Return whether a policy looks at contexts; others are blind."""
    return bool(getattr(policy, "CONTEXT", False))


def wants_masks(policy: ModuleType) -> bool:
    """Return whether a policy wants the masks of earlier rounds."""
    return bool(getattr(policy, "SEEN", False))


def plans_by_forecast(policy: ModuleType) -> bool:
    """Return whether a policy knows the horizon by `rounds_left` alone, which may change."""
    return bool(getattr(policy, "FORECAST", False))


def world_parts(job: Job) -> dict[str, Any]:
    """Return the kernels of a world: its draw, and its view if the policy sees contexts."""
    view = {"view": job.world.view or shared_view, "CONTEXTS": True} if job.contexts else {}
    return {"draw": job.world.draw or shared_draw, **view}


class _NoScratch(NamedTuple):
    """The scratch of a policy that needs none."""

    unused: Floats  # (0,)


def make_job(
    policy: str | ModuleType,
    world: str | World,
    budget: Any,
    *,
    seed: int = 0,
    checkpoints: int = 0,
    delay: Any = 0,
    **told: Any,
) -> Job:
    """Check everything, apply the defaults and put together what the engine needs.

    told   what the player is told, as `problem_of` takes it
    """
    game_world = worlds.make(world, budget)
    problem = problem_of(game_world, budget, **told)
    module, params = make_policy(policy, problem)
    last_round = min(problem.horizon or NEVER, game_world.n_rounds or NEVER)
    game = make_game(module, problem, seed, last_round, game_world.outages)
    name = policy if isinstance(policy, str) else module.NAME
    return Job(
        name,
        module,
        params,
        problem,
        game_world,
        game,
        _make_checkpoint_plan(
            validation.integer("checkpoints", checkpoints, low=0, high=10_000), problem, last_round
        ),
        parse_delay(delay),
        in_python=isinstance(module, PythonPolicy),
    )


def rule_alone(stop: str) -> str:
    """Return the stop rule for one arm alone: no other arm steps in when it cannot be paid."""
    return {"retry": "exit", "fit": "hold"}.get(stop, stop)


def single_arm_jobs(world: World, budget: Any, *, seed: int = 0, stop: str = "exit") -> list[Job]:
    """Return a job for each arm alone, see `rule_alone`."""
    rule = rule_alone(stop)
    return [
        make_job(f"fixed:arm={arm}", world, budget, seed=seed, stop=rule)
        for arm in range(world.n_arms)
    ]


def make_game(
    policy: ModuleType,
    problem: Problem,
    seed: int,
    last_round: int = NEVER,
    outages: Outages | None = None,
) -> Game:
    """Put together what all paths of a problem have in common."""
    return Game(
        problem.budget,
        problem.cost_max,
        problem.unit_scale,
        STOP_RULES.index(problem.stop),
        initial_rounds(policy, problem.n_arms, problem.plays),
        last_round,
        math.inf if problem.horizon is None else float(problem.horizon),
        problem.horizon is not None,
        1 << min(16, max(0, 20 - problem.n_arms.bit_length())),  # a round may take O(K)
        validation.integer("seed", seed, low=0, high=SEEDS),
        np.zeros((0, problem.n_arms), np.bool_) if outages is None else outages.up,
        np.zeros(0, np.int64) if outages is None else outages.last,
    )


def find_policy(policy: str | ModuleType) -> tuple[ModuleType, dict[str, Any]]:
    """Return the policy's module, and the options after its name."""
    name, options = spec.parse(policy) if isinstance(policy, str) else (policy, dict[str, Any]())
    return policies.load(name), options


def make_policy(policy: str | ModuleType, problem: Problem) -> tuple[ModuleType, Any]:
    """Return the policy's module and its parameters for this problem, from a name with options."""
    module, options = find_policy(policy)
    spec.check_options(module.NAME, module.params, options, supplied=("problem",))
    if problem.forecast and not plans_by_forecast(module):
        raise InvalidInput(
            f"{module.NAME} cannot plan with a forecast of the rounds left; give a number of "
            "rounds or none as horizon, or choose a policy that can, such as replan"
        )
    if problem.caps is not None and not getattr(module, "CAPS", False):
        raise InvalidInput(
            f"{module.NAME} does not keep to caps; leave them out or choose a policy that does"
        )
    for field, limit in (("plays", "PLAYS"), ("n_resources", "RESOURCES")):
        problem.require(module.NAME, **{field: getattr(module, limit, getattr(problem, field))})
    params = module.params(problem, **options)
    # ours are held to it by the tests
    if not isinstance(module, PythonPolicy) and not module.__name__.startswith("purse."):
        check_contract(module, params, problem)
    return module, params


def scratch_of(policy: ModuleType, params: Any, problem: Problem) -> Any:
    """Allocate the policy's room to work in, for one thread."""
    make = getattr(policy, "scratch", None)
    return _NoScratch(np.zeros(0)) if make is None else make(params, problem)


def problem_of(
    world: World,
    budget: Any,
    *,
    plays: int = 1,
    horizon: int | None = None,
    cost_min: Any = None,
    cost_max: Any = None,
    caps: Any = None,
    stop: str = "exit",
) -> Problem:
    """Return the problem that this world poses; bounds on costs may be declared wider."""
    n_arms, n_resources = world.n_arms, world.n_resources
    low, high = (
        true if declared is None else amounts.cost_array(name, declared, n_arms, n_resources)
        for name, declared, true in (
            ("cost_min", cost_min, world.cost_min),
            ("cost_max", cost_max, world.cost_max),
        )
    )
    if (low > world.cost_min).any():
        raise invalid("cost_min", cost_min, "must not exceed what the world's arms may cost")
    if (high < world.cost_max).any():
        raise invalid("cost_max", cost_max, "must not be less than what the world's arms may cost")
    return Problem(
        n_arms,
        amounts.budget_array(budget, n_resources),
        low,
        high,
        plays=validation.integer("plays", plays, low=1, high=n_arms),
        horizon=world.horizon if horizon is None else validation.integer("horizon", horizon, low=1),
        costs=world.costs,
        caps=None if caps is None else cap_array(caps, n_arms),
        stop=validation.choice("stop", stop, STOP_RULES),
        n_features=world.n_features,
        per_arm=world.per_arm,
        reward_means=world.reward_means,
        cost_means=world.cost_means,
    )


def _make_checkpoint_plan(count: int, problem: Problem, last_round: int) -> CheckpointPlan:
    """Return log-spaced rounds, up to the most there can be, and equal parts of the budget."""
    limit = (
        last_round
        if problem.horizon is not None
        else min(last_round, int(problem.budget.max() // problem.cost_min.max(axis=1).min()))
    )
    rounds = (
        np.unique(np.rint(np.geomspace(1, max(1, limit), count)).astype(np.int64))
        if count
        else np.zeros(0, np.int64)
    )
    floors = [
        [units - units * part // count for units in problem.budget.tolist()]
        for part in range(1, count + 1)
    ]
    return CheckpointPlan(rounds, np.array(floors, np.int64).reshape(count, problem.n_resources))
