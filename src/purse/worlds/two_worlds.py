"""Two worlds that no player can tell apart in time: the counterexample to Theorems 1 and 4."""

import numpy as np

from purse.base import amounts, validation
from purse.types import World
from purse.worlds._tables import FOREVER, MOST_ROUNDS, make_world, positive_units

EXAMPLE = "two_worlds:cost_min=0.1,world=2"
HOPELESS = (
    "this world has a twin (`two_worlds` with `world=1` or `world=2`) that shows the same until "
    "it is too late to react, and in at least one of the two every player loses a fixed share of "
    "the budget"
)


def two_worlds(budget: float, cost_min: float = 0.1, world: int = 1) -> World:
    """Return one of two worlds that show the same first B rounds and need different choices there.

    Arm 0 costs 1 and arm 1 costs c = `cost_min`. In rounds 1 .. B arm 0 pays r1 = min(1, (1 -
    c)/(2c)), and arm 1 pays nothing. After that nothing pays in world 1, and arm 1 pays 1 in world
    2.

    A player cannot spend the budget before round B, so both worlds show the same B rounds. Let x be
    the fraction of them spent on arm 0. The regret against the best fixed arm is at least r1 (1 -
    x) B in world 1 and x B ((1 - c)/c - r1) in world 2. The larger of the two is at least kappa(c)
    B for every player, up to one reward if B/c is not whole. Here kappa(c) is (1 - 2c)/(1 - c)
    for c <= 1/3 and (1 - c)/(4c) above. So no regret of order sqrt(B) is possible, in contradiction
    to Theorems 1 and 4.

    >>> two_worlds(budget=100, world=2).costs.ravel() / 1e9
    array([1. , 0.1])
    """
    rounds = validation.integer("budget", budget, low=1, high=MOST_ROUNDS)
    units = positive_units("cost_min", cost_min, high=1)
    cost = units / amounts.UNIT
    last_pay = 1.0 if validation.integer("world", world, low=1, high=2) == 2 else 0.0
    first_pay = min(1.0, (1 - cost) / (2 * cost))
    rewards = np.array([[first_pay, 0.0], [0.0, last_pay]])[:, :, None]
    costs = np.broadcast_to(np.array([amounts.UNIT, units])[None, :, None, None], (2, 2, 1, 1))
    return make_world("two_worlds", np.ones_like(rewards), rewards, costs, last=[rounds, FOREVER])
