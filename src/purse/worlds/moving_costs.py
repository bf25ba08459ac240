"""Costs that move as they like while each arm's mean reward per cost stays what it is."""

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from purse.base import amounts
from purse.errors import InvalidInput, invalid
from purse.types import World
from purse.worlds._tables import costs_like, reals
from purse.worlds.switching import switching

EXAMPLE = "moving_costs:efficiencies=[.9,.5],segments=50,costs=[[.1,1],[1,.1],[.5,.5]]"


def moving_costs(efficiencies: ArrayLike, segments: ArrayLike, costs: Any) -> World:
    """Return a world in which costs change from segment to segment and efficiencies do not.

    In segment s arm i costs `costs[s][i]` and pays 1 with probability `efficiencies[i]` times
    `costs[s][i]`. After the last segment the first comes again. A price per unit of budget is then
    the same in all rounds, but rounds are not alike.

        efficiencies   mean reward per cost, shape (K,)
        segments       the rounds of each segment, or one number for all
        costs          amounts, shape (S, K); times its efficiency none is above 1

    >>> moving_costs([0.9, 0.5], segments=50, costs=[[0.1, 1], [1, 0.1]]).tables.rewards.shape
    (2, 2, 2)
    """
    ratios = reals("efficiencies", efficiencies, 1)
    prices = reals("costs", costs, 2)
    if prices.shape[1] != len(ratios):
        raise InvalidInput(f"costs has {prices.shape[1]} arms, and efficiencies has {len(ratios)}")
    units = costs_like(costs, prices, repeat=False)[:, :, 0]
    means = ratios * units / amounts.UNIT
    if (means > 1).any() or (ratios < 0).any():
        wrong = ratios[(means > 1).any(axis=0) | (ratios < 0)][0]
        raise invalid(
            "efficiencies", float(wrong), "must be at least 0, and times any cost at most 1"
        )
    return replace(switching(segments, means, costs), name="moving_costs")
