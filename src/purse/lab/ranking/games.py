"""A case as jobs: its worlds, what is declared to players, and who plays alone.

Declared bounds on costs, of each resource:

    own      the least and the most that each arm may cost
    common   for all arms the least and the most that any arm may cost
    wide     a third of the least, and three times the most, that each arm may cost

Where bounds are not the arms' own, constant costs are not told either.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.engine.job import Job, make_job, rule_alone
from purse.lab.ranking.suite import Case
from purse.types import Floats, World

BOUNDS = ("own", "common", "wide")
TOO_WIDE = 3


def worlds_of(case: Case) -> list[World]:
    """Return the world of the case, or all those that its adversary chooses from."""
    return [worlds.make(text, case.budget) for text in case.adversary or (case.world,)]


def declared_bounds(case: Case, world: World) -> tuple[Floats, Floats]:
    """Return the least and the largest costs that players are told, each (K, d)."""
    least, most = world.cost_min, world.cost_max
    if validation.choice("bounds", case.bounds, BOUNDS) == "common":
        least = np.broadcast_to(least.min(axis=0), least.shape)
        most = np.broadcast_to(most.max(axis=0), most.shape)
    elif case.bounds == "wide":
        least, most = least // TOO_WIDE, most * TOO_WIDE
    return least / amounts.UNIT, most / amounts.UNIT


def make_case_job(policy: str, case: Case, world: World, seed: int) -> Job:
    """Return the job of a policy on a world of the case.

    Raise `InvalidInput` when the policy cannot play it.
    """
    least, most = declared_bounds(case, world)
    return make_job(
        policy,
        world if case.bounds == "own" else replace(world, costs=None),
        case.budget,
        seed=seed,
        stop=case.stop,
        horizon=case.horizon,
        cost_min=least,
        cost_max=most,
        delay=case.delay,
    )


def make_alone_jobs(case: Case, world: World, seed: int) -> list[Job]:
    """Return a job for each arm alone, with its own bounds and reports that come at once."""
    alone = case._replace(bounds="own", stop=rule_alone(case.stop), delay=0)
    return [make_case_job(f"fixed:arm={arm}", alone, world, seed) for arm in range(world.n_arms)]


def find_cheapest(case: Case, world: World, gains: Floats) -> int:
    """Return the arm whose pull takes the smallest part of a budget, by means where there are any.

    gains   of each arm alone, shape (K,); of arms that cost the same, the best is taken
    """
    costs = world.cost_means
    if costs is None:
        costs = (world.cost_min + world.cost_max) / (2 * amounts.UNIT)
    parts = (costs / np.array(case.budget)).max(axis=1)
    return int(np.where(parts <= parts.min() * (1 + 1e-9), gains, -1.0).argmax())
