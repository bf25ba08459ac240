"""Large costs: late in the game one arm takes all that is left. The instance of Theorem 5."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from purse.base import amounts, validation
from purse.types import World
from purse.worlds._tables import FOREVER, make_world

EXAMPLE = "theorem5:alpha=0.5"
NEAR = 1e-12  # relative; in floats 1024 ** 0.9 is not 512


class Stakes(NamedTuple):
    """The rounds and amounts of the world `theorem5`."""

    quiet_rounds: int  # t* = floor(B - B^alpha): nothing pays before round t* + 1
    large_cost: int  # B^alpha, in units
    late_rounds: int  # floor(B - t*): what the good arm gains, and what the wrong choice loses


def stakes(budget: float, alpha: float) -> Stakes:
    """Return the rounds and amounts of the instance.

    B^alpha is rounded to a whole number if it is one up to rounding errors.

    >>> stakes(1024, 0.9)
    Stakes(quiet_rounds=512, large_cost=512000000000, late_rounds=512)
    """
    whole = validation.number("budget", budget, low=1)
    power = whole ** validation.number("alpha", alpha, low=0, high=1)
    power = round(power) if abs(power - round(power)) <= NEAR * power else power
    units = amounts.to_units("budget", whole)
    large = min(units, amounts.to_units("budget", power))
    quiet = (units - large) // amounts.UNIT
    return Stakes(quiet, large, (units - quiet * amounts.UNIT) // amounts.UNIT)


def theorem5(budget: float, alpha: float = 0.5, best: int = 0) -> World:
    """Return a world of two arms, one of which takes all that is left in round t* + 1.

    In rounds 1 .. t* = floor(B - B^alpha) both arms pay 0 at cost 1. Then arm `best` pays 1 at cost
    1. The other arm pays 0 at cost B^alpha in round t* + 1, and 1 at cost 1 later.

    No player can tell the arms apart before round t* + 1, and the wrong choice there spends the
    whole budget. So the regret against the best fixed arm is 0 or floor(B - t*). Its mean over the
    two choices of `best` is half of that for every player. (Under the stop rule `hold` no player
    can hold B^alpha there, and only one reward is at stake.)

    >>> theorem5(budget=100, alpha=0.5, best=1).tables.last[:2]
    array([90, 91])
    """
    good = validation.integer("best", best, low=0, high=1)
    quiet, large, _ = stakes(budget, alpha)
    rewards = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    costs = np.full((3, 2), amounts.UNIT)
    rewards[1, 1 - good] = 0.0
    costs[1, 1 - good] = large
    phases = slice(0 if quiet else 1, 3)
    last = np.array([quiet, quiet + 1, FOREVER])[phases]
    world = make_world(
        "theorem5",
        np.ones((3, 2, 1))[phases],
        rewards[phases, :, None],
        costs[phases, :, None, None],
        last=last,
    )
    # else the most that an arm may cost would give it away
    return replace(world, costs=None, cost_max=np.full((2, 1), large))
