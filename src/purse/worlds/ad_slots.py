"""Advertisements: money and impressions are limited, and ads differ in clicks, value and price."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import amounts, validation
from purse.errors import InvalidInput
from purse.types import World
from purse.worlds._tables import costs_per_arm, make_world, per_arm

EXAMPLE = "ad_slots:clicks=[.1,.05,.2],values=[.6,1,.2],prices=[.5,.9,.1],views=5000"


def ad_slots(clicks: ArrayLike, values: ArrayLike, prices: Any, views: int) -> World:
    """Return a world in which arm i shows ad i to the next of `views` visitors.

    A visitor clicks with probability `clicks[i]`. A click pays `values[i]` and costs `prices[i]` of
    the first resource, money. Showing an ad takes 1 of the second resource, impressions.

        clicks, values   from 0 to 1, shape (K,)
        prices           amounts of money, shape (K,)
        views            the horizon

    The budget has two entries: money, and impressions, at most as many as views.

    >>> world = ad_slots(clicks=[0.1, 0.5], values=[1, 0.2], prices=[0.5, 0.1], views=100)
    >>> world.n_resources, world.horizon, world.cost_means.round(3).tolist()
    (2, 100, [[0.05, 1.0], [0.05, 1.0]])
    """
    odds, pays = per_arm("clicks", clicks), per_arm("values", values)
    if len(odds) != len(pays):
        raise InvalidInput(f"values has {len(pays)} arms, and clicks has {len(odds)}")
    money = costs_per_arm(prices, len(odds))[:, 0]
    probabilities = np.stack([odds, 1 - odds], axis=1)[None]
    rewards = np.stack([pays, np.zeros(len(odds))], axis=1)[None]
    costs = np.full((1, len(odds), 2, 2), amounts.UNIT)
    costs[0, :, 0, 0] = money
    costs[0, :, 1, 0] = 0
    return make_world(
        "ad_slots", probabilities, rewards, costs, horizon=validation.integer("views", views, low=1)
    )
