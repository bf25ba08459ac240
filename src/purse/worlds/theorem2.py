"""Arms of equal cost that are too alike to be told apart in time: the instance of Theorem 2."""

import math
from dataclasses import replace

import numpy as np

from purse.base import amounts, validation
from purse.errors import invalid
from purse.types import World
from purse.worlds._tables import positive_units
from purse.worlds.bernoulli import bernoulli

EXAMPLE = "theorem2:n_arms=5,cost_min=0.5"


def theorem2(
    n_arms: int, budget: float, cost_min: float, scale: float = 0.25, best: int = 0
) -> World:
    """Return a world in which all arms cost c = `cost_min` and one arm is slightly better.

    Every arm pays 1 with probability 1/2, and arm `best` with 1/2 + `scale` sqrt(K c / B). Every
    player plays T = floor(B/c) rounds, and so loses at most `scale` sqrt(K B / c). The mean loss
    over the choices of `best` is at least a constant times that. The paper's scale is 1, for which
    its argument proves nothing.

    >>> theorem2(n_arms=4, budget=100, cost_min=0.25).reward_means
    array([0.525, 0.5  , 0.5  , 0.5  ])
    """
    count = validation.integer("n_arms", n_arms, low=1, high=10**7)
    cost = positive_units("cost_min", cost_min) / amounts.UNIT
    gap = validation.number("scale", scale, low=0, high=1e3) * math.sqrt(
        count * cost / validation.number("budget", budget, above=0)
    )
    if gap > 0.5:
        raise invalid(
            "budget",
            budget,
            f"must be at least 4 scale² K c = {4 * scale**2 * count * cost:g}, so that "
            "the best arm's mean is at most 1",
        )
    means = np.full(count, 0.5)
    means[validation.integer("best", best, low=0, high=count - 1)] += gap
    return replace(bernoulli(means, np.full(count, cost)), name="theorem2")
