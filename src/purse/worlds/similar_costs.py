"""Arms whose random costs are too alike to be told apart in time: a bound for every player."""

import math

import numpy as np

from purse.base import amounts, validation
from purse.types import World
from purse.worlds._tables import make_world, positive_units

EXAMPLE = "similar_costs:n_arms=5,cost_min=0.1"


def similar_costs(n_arms: int, budget: float, cost_min: float, best: int = 0) -> World:
    """Return a world in which all arms pay 1 and one arm is dear slightly less often.

    A pull costs 1 with probability c = `cost_min`, at most 1/2, and else c; arm `best` costs 1 with
    probability c - x, x = min(c / 2, sqrt(c K / (32 n))), where n = floor(B / (4 c)) rounds are
    paid for by nearly everybody. From a budget of 64 and of K on, averaged over the choices of
    `best`, no player gains more than max_i e(i) B - sqrt(K B)/(165 c) + 0.8/c, where e is mean
    reward per mean cost.

    >>> similar_costs(n_arms=2, budget=1000, cost_min=0.1).cost_means.ravel().round(4)
    array([0.1886, 0.19  ])
    """
    count = validation.integer("n_arms", n_arms, low=2, high=10**6)
    units = positive_units("cost_min", cost_min, high=0.5)
    cost = units / amounts.UNIT
    chances = np.full(count, cost)
    gap = gap_of(count, validation.number("budget", budget, above=0), cost)
    chances[validation.integer("best", best, low=0, high=count - 1)] -= gap
    return make_world(
        "similar_costs",
        np.stack([chances, 1 - chances], axis=1)[None],
        np.ones((1, count, 2)),
        np.broadcast_to(np.array([amounts.UNIT, units])[:, None], (1, count, 2, 1)),
    )


def gap_of(n_arms: int, budget: float, cost_min: float) -> float:
    """Return how much less often the best arm is dear: x above."""
    rounds = max(1, math.floor(budget / (4 * cost_min)))
    return min(cost_min / 2, math.sqrt(cost_min * n_arms / (32 * rounds)))
