"""Cases: instances on which policies are compared, and the jobs that play them.

Bounds on costs that are declared to players, for each resource:

    own      the least and the most that each arm may cost
    common   for all arms the least and the most that any arm may cost
    wide     a third of the least, and three times the most, that each arm may cost

Constant costs are told only with the arms' own bounds.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.engine.job import Job, make_job, rule_alone
from purse.types import Floats, World

BOUNDS = ("own", "common", "wide")
TOO_WIDE = 3


class Case(NamedTuple):
    """An instance: its situation, world and budget, and what else a player is told."""

    name: str
    situation: str
    world: str
    budget: float | tuple[float, ...]
    n_paths: int = 20
    bounds: str = "own"  # on costs, as they are declared
    horizon: int | None = None  # rounds; None: those of the world
    stop: str = "exit"  # the stop rule
    delay: int | str = 0  # rounds after which a report comes, or "geometric:MEAN"
    adversary: tuple[str, ...] = ()  # worlds of which an adversary takes the player's worst


def worlds_of(case: Case) -> list[World]:
    """Return the world of the case, or all those that its adversary chooses from."""
    return [worlds.make(text, case.budget) for text in case.adversary or (case.world,)]


def declared_bounds(case: Case, world: World) -> tuple[Floats, Floats]:
    """Return the least and the largest costs that players are told, each (K, d)."""
    low, high = world.cost_min, world.cost_max
    if validation.choice("bounds", case.bounds, BOUNDS) == "common":
        low = np.broadcast_to(low.min(axis=0), low.shape)
        high = np.broadcast_to(high.max(axis=0), high.shape)
    elif case.bounds == "wide":
        low, high = low // TOO_WIDE, high * TOO_WIDE
    return low / amounts.UNIT, high / amounts.UNIT


def make_case_job(policy: str, case: Case, world: World, seed: int) -> Job:
    """Return the job of a policy on a world; raise `InvalidInput` if it cannot play."""
    low, high = declared_bounds(case, world)
    return make_job(
        policy,
        world if case.bounds == "own" else replace(world, costs=None),
        case.budget,
        seed=seed,
        stop=case.stop,
        horizon=case.horizon,
        cost_min=low,
        cost_max=high,
        delay=case.delay,
    )


def make_alone_jobs(case: Case, world: World, seed: int) -> list[Job]:
    """Return a job for each arm alone, with its own bounds and reports that come at once."""
    alone = case._replace(bounds="own", stop=rule_alone(case.stop), delay=0)
    return [make_case_job(f"fixed:arm={arm}", alone, world, seed) for arm in range(world.n_arms)]


def find_cheapest(case: Case, world: World, gains: Floats) -> int:
    """Return the arm whose pull takes the smallest part of a budget.

    A pull counts with its mean cost or, if means change, with the middle of its bounds.

    gains   of each arm alone, shape (K,); of arms that cost the same, the best is taken
    """
    costs = world.cost_means
    if costs is None:
        costs = (world.cost_min + world.cost_max) / (2 * amounts.UNIT)
    parts = (costs / np.array(case.budget)).max(axis=1)
    return int(np.where(parts <= parts.min() * (1 + 1e-9), gains, -1.0).argmax())
