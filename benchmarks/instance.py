"""What everything is measured on: one world for each K, one budget, and the best of a few
measurements.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import purse
from purse.types import Floats
from purse.worlds._contexts import contextual_world

SIZES = (3, 10, 100, 1_000)
USUAL = 10  # the K of what is measured at one K only
BUDGET = 3_000
# what a policy is told of the costs; plain/game.h tells the same
TOLD: dict[str, Any] = {"cost_min": 0.2, "cost_max": 1}
NEED_HORIZON = ("semi-bwk",)
REPEATS = 3
SECONDS = 0.1  # that a measurement takes, about
# how much runs out: a resource; a resource and a horizon; two resources and a horizon
LIMITS = (1, 2, 3)
ROWS = 1024  # contexts, if there are any


def world(n_arms: int, limits: int = 1, features: int = 0) -> purse.lab.World:
    """Return the same instance as in plain/game.h: what pays more costs less, so that the last arm
    is the best; with several limits it costs more, so that arms have to be mixed. With features,
    means and costs depend on a context, too.
    """
    grid = np.arange(n_arms) / (n_arms - 1)
    if features:
        return context_world(grid, features)
    costs = np.stack([0.2 + 0.7 * grid**2, 0.2 + 2.8 * grid * (1 - grid)], axis=1)
    return purse.worlds.bernoulli(
        rewards=0.1 + 0.72 * grid,
        costs=0.9 - 0.54 * grid if limits == 1 else costs[:, : limits - 1],
    )


def context_world(grid: Floats, features: int) -> purse.lab.World:
    """Return the instance with contexts, as in plain/game.h: a lattice of rows, of which each round
    draws one.
    """
    numbers = np.arange(ROWS)[:, None] * [pow(5, f, ROWS) for f in range(features)] % ROWS
    x, arms = (2 * numbers + 1) / ROWS - 1, np.arange(len(grid))
    shift = np.where(arms % 2, -0.15, 0.15) * x[:, arms % features]
    return contextual_world(
        "lattice",
        x,
        0.15 + 0.62 * grid + shift,
        0.25 + 0.6 * grid**2 + 0.05 * x[:, (arms + 1) % features],
        factors=[1.0],
        horizon=None,
    )


def policy_terms(policy: str, budget: float) -> dict[str, Any]:
    """Return the bounds on costs with one resource, and the horizon if the policy needs one."""
    needs = policy in NEED_HORIZON
    return {**TOLD, "horizon": horizon_of(budget)} if needs else TOLD


def horizon_of(budget: float) -> int:
    """Return the horizon, if there is one."""
    return int(2 * budget)


def terms(limits: int, budget: float) -> dict[str, Any]:
    """Budget, horizon and bounds on costs, as in plain/game.h."""
    horizon = None if limits == 1 else horizon_of(budget)
    return {"budget": [budget] * max(1, limits - 1), "horizon": horizon, **TOLD}


def best(measure: Callable[[], float]) -> float:
    """Return the largest of a few rates: what the code can do when nothing else runs."""
    return max(measure() for _ in range(REPEATS))


def timed(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds that a call takes, of processor time unless another clock is given: other
    work on the machine does not count.
    """
    start = clock()
    call()
    return clock() - start


def enough(seconds_of: Callable[[int], float]) -> int:
    """Return how many times something has to be done to take `SECONDS`; `seconds_of` does it
    that often.
    """
    seconds_of(1)  # loads what has to be loaded
    count, spent = 1, seconds_of(1)
    while spent < SECONDS / 4:
        count *= 4
        spent = seconds_of(count)
    return max(1, round(count * SECONDS / spent))


def say(line: str) -> None:
    """Print a line on how far it is."""
    print(line, flush=True)
