"""Repeated second-price auctions: how much to bid, with a limit on money and on auctions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import amounts, validation
from purse.errors import InvalidInput, invalid
from purse.types import Ints, World
from purse.worlds._tables import check_range, make_world, reals

EXAMPLE = (
    "auction:bids=[.1,.2,.4,.8],rivals=[.05,.15,.3,.6],chances=[.2,.3,.3,.2],"
    "conversion=.3,auctions=4000"
)


def auction(bids: Any, rivals: Any, chances: ArrayLike, conversion: float, auctions: int) -> World:
    """Return a world in which arm i bids `bids[i]` in the next of `auctions` second-price auctions.

    The highest rival bid is `rivals[a]` with probability `chances[a]`. A bid that is at least as
    high wins, and costs the rival bid. A win pays 1 with probability `conversion`, else 0. A bid
    that loses pays nothing and costs nothing, so only policies that need no least cost can play.

        bids         positive amounts, shape (K,)
        rivals       amounts, at least 0, shape (A,)
        chances      from 0 to 1 with sum 1, shape (A,)
        conversion   from 0 to 1
        auctions     the horizon

    With F the distribution of rival bids, arm i has mean reward conversion F(bids[i]) and mean cost
    E[rival; rival <= bids[i]]. A higher bid wins more auctions, and the dearer ones of them. So
    little money asks for low bids in many auctions, much money for high ones.

    >>> options = {"rivals": [0.1, 0.4], "chances": [0.5, 0.5], "conversion": 0.2, "auctions": 100}
    >>> world = auction(bids=[0.2, 0.5], **options)
    >>> world.reward_means.tolist(), world.cost_means.ravel().tolist()
    ([0.1, 0.2], [0.05, 0.25])
    """
    levels, prices = one_amount_each("bids", bids), one_amount_each("rivals", rivals)
    if (levels <= 0).any():
        raise invalid("bids", bids, "must be positive")
    if (prices < 0).any():
        raise invalid("rivals", rivals, "must not be negative")
    odds = check_range("chances", reals("chances", chances, 1))
    if len(odds) != len(prices):
        raise InvalidInput(f"chances has {len(odds)} entries, and rivals has {len(prices)}")
    if abs(odds.sum() - 1) > 1e-9:
        raise invalid("chances", chances, f"must sum to 1, and not to {odds.sum():g}")
    if levels.max() < prices[prices > 0].min(initial=amounts.LARGEST):
        raise invalid("bids", bids, "must have a bid that can win at a positive price")
    pays = validation.number("conversion", conversion, low=0, high=1)
    wins = prices <= levels[:, None]
    won, lost = np.where(wins, odds, 0.0), np.where(wins, 0.0, odds).sum(axis=1, keepdims=True)
    probabilities = np.concatenate([pays * won, (1 - pays) * won, lost], axis=1)
    rewards = np.repeat([1.0, 0.0], [len(prices), len(prices) + 1])
    costs = np.concatenate([prices, prices, [0]])
    return make_world(
        "auction",
        probabilities[None],
        np.broadcast_to(rewards, (1, *probabilities.shape)),
        np.broadcast_to(costs[:, None], (1, *probabilities.shape, 1)),
        horizon=validation.integer("auctions", auctions, low=1),
    )


def one_amount_each(field: str, values: Any) -> Ints:
    """Return a list of amounts in units."""
    units = amounts.unit_array(field, values)
    if units.ndim != 1 or units.size == 0:
        raise invalid(field, values, "must have 1 dimension and at least one entry")
    return units
