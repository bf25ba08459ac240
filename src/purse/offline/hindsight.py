"""The optimum of one who knows all rows.

It is the linear relaxation of the multiple-choice knapsack, solved row by row: the corners of each
row's upper hull from (0, 0) are steps of (cost, reward), and the budget buys steps in the order of
reward per cost, the last one in part.
"""

from __future__ import annotations

import numpy as np

from purse.base import amounts
from purse.types import Floats, Ints


def hindsight(rewards: Floats, units: Ints | Floats, budget: float) -> tuple[float, float, float]:
    """The linear optimum of one who knows all rows (T, K): gain, what it spends, and how many
    rounds have a pull.
    """
    at_cost = np.zeros(len(rewards))
    at_reward = np.where(units == 0, rewards, 0).max(axis=1, initial=0.0)
    free, steps = at_reward.copy(), [np.zeros((4, 0))]
    while True:
        more_cost, more_reward = units - at_cost[:, None], rewards - at_reward[:, None]
        better = (more_cost > 0) & (more_reward > 0)
        slopes = np.divide(more_reward, more_cost, out=np.zeros_like(rewards), where=better)
        rows = np.flatnonzero(slopes.max(axis=1) > 0)
        if len(rows) == 0:
            break
        arms = slopes[rows].argmax(axis=1)
        first = (at_cost[rows] == 0) & (at_reward[rows] == 0)
        steps.append(
            np.stack([slopes[rows, arms], more_cost[rows, arms], more_reward[rows, arms], first])
        )
        at_cost[rows], at_reward[rows] = units[rows, arms], rewards[rows, arms]
    every = np.concatenate(steps, axis=1)
    _, costs, gains, firsts = every[:, np.argsort(-every[0], kind="stable")]
    # the budget buys the first steps, and one of them in part
    parts = np.clip((budget * amounts.UNIT - np.cumsum(costs) + costs) / costs, 0, 1)
    gain, pulls = float(free.sum() + parts @ gains), float((free > 0).sum() + parts @ firsts)
    return gain, float(parts @ costs) / amounts.UNIT, pulls
