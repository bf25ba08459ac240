"""Dynamic pricing: sell a stock to customers one by one, and learn which price brings most."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import amounts, validation
from purse.errors import InvalidInput, invalid
from purse.types import World
from purse.worlds._tables import make_world, per_arm, reals

EXAMPLE = "pricing:prices=[2,4,6,8],chances=[.8,.6,.4,.15],customers=4000"


def pricing(prices: ArrayLike, chances: ArrayLike, customers: int) -> World:
    """Return a world in which arm i offers one piece at `prices[i]` to the next customer.

    The customer buys with probability `chances[i]`. A sale takes 1 from the budget, which is the
    stock, and pays the price divided by the highest price. Without a sale the pull costs nothing,
    so only policies that need no least cost can play. `customers` is the horizon, and a round may
    be skipped. Prices are positive; prices and chances have one entry per arm.

    >>> world = pricing(prices=[2, 4], chances=[0.9, 0.5], customers=100)
    >>> world.horizon, world.reward_means.tolist(), world.cost_means.ravel().tolist()
    (100, [0.45, 0.5], [0.9, 0.5])
    """
    values: Any = reals("prices", prices, 1)
    if (values <= 0).any():
        raise invalid("prices", prices, "must be positive")
    odds = per_arm("chances", chances)
    if len(values) != len(odds):
        raise InvalidInput(f"chances has {len(odds)} entries, and prices has {len(values)}")
    probabilities = np.stack([odds, 1 - odds], axis=1)[None]
    rewards = np.stack([values / values.max(), np.zeros(len(values))], axis=1)[None]
    costs = np.broadcast_to(np.array([amounts.UNIT, 0])[:, None], (1, len(values), 2, 1))
    return make_world(
        "pricing",
        probabilities,
        rewards,
        costs,
        horizon=validation.integer("customers", customers, low=1),
    )
