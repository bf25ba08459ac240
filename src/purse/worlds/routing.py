"""Routing of prompts to models that differ in quality and price, with a limit on money."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import validation
from purse.types import World
from purse.worlds._tables import costs_per_arm, make_world, per_arm

EXAMPLE = "routing:quality=[.55,.75,.9],prices=[.02,.1,.6],prompts=4000"
LENGTHS = (0.5, 0.75, 1.0, 1.25, 1.5)  # of an answer, relative to its mean, equally likely
POOR = 0.3  # what an answer that is not good is worth


def routing(quality: ArrayLike, prices: Any, prompts: int) -> World:
    """Return a world in which arm i sends the next prompt to model i.

    The answer is worth 1 with probability `quality[i]`, else 0.3. Its price is `prices[i]` times
    its relative length, which is 0.5, 0.75, 1, 1.25 or 1.5, equally likely. The budget is money,
    and `prompts` is the horizon. With money alone the cheapest model would be best. The limit on
    prompts makes better models worth their price, and the optimum mixes two models.

    >>> routing(quality=[0.5, 0.9], prices=[0.1, 0.5], prompts=100).horizon
    100
    """
    odds = per_arm("quality", quality)
    money = costs_per_arm(prices, len(odds))[:, 0]
    good = np.repeat(np.stack([odds, 1 - odds], axis=1), len(LENGTHS), axis=1) / len(LENGTHS)
    rewards = np.broadcast_to(np.repeat([1.0, POOR], len(LENGTHS)), good.shape)
    costs = np.rint(money[:, None] * np.tile(LENGTHS, 2)).astype(np.int64)
    return make_world(
        "routing",
        good[None],
        rewards[None],
        costs[None, :, :, None],
        horizon=validation.integer("prompts", prompts, low=1),
    )
