"""Rewards of 0 or 1, and a cost that is either the least or the most possible."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.types import World
from purse.worlds._tables import costs_between, make_world, per_arm

EXAMPLE = "two_point:rewards=[.9,.3],costs=[.6,.3],cost_min=.2"


def two_point(rewards: ArrayLike, costs: ArrayLike, cost_min: Any, cost_max: Any = 1) -> World:
    """Return a world in which a cost is `cost_min` or `cost_max`, with mean `costs[i]` for arm i.

    Arm i pays 1 with probability `rewards[i]`, independently of its cost. Rewards and costs have
    shape (K,).

    >>> two_point(rewards=[0.5], costs=[0.55], cost_min=0.1).efficiencies.round(3)
    array([0.909])
    """
    reward_means = per_arm("rewards", rewards)
    n_arms = len(reward_means)
    dear, low, high = costs_between(costs, n_arms, cost_min, cost_max)
    pays, takes = (np.stack([p, 1 - p], axis=1) for p in (reward_means, dear))
    probabilities = (pays[:, :, None] * takes[:, None, :]).reshape(1, n_arms, 4)
    atom_costs = np.array([high[0, 0], low[0, 0]] * 2)
    return make_world(
        "two_point",
        probabilities,
        np.broadcast_to([1.0, 1.0, 0.0, 0.0], probabilities.shape),
        np.broadcast_to(atom_costs[:, None], (*probabilities.shape, 1)),
    )
