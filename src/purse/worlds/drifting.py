"""Rewards of 0 or 1 whose means move slowly from one set of values to the next."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import validation
from purse.errors import invalid
from purse.types import World
from purse.worlds._tables import (
    MOST_ROUNDS,
    bernoulli_atoms,
    check_range,
    costs_like,
    make_world,
    reals,
)

EXAMPLE = "drifting:rounds=1000,rewards=[[.9,.5,.1],[.1,.5,.9]],costs=[.5,.4,.5]"
MOST_STEPS = 1_000  # between two sets of values


def drifting(rounds: int, rewards: ArrayLike, costs: Any) -> World:
    """Return a world in which mean rewards move in a straight line between the rows of `rewards`.

    The mean of arm i takes `rounds` rounds from `rewards[s][i]` to `rewards[s+1][i]`, and as many
    from the last row back to the first. Costs of shape (K,) are constant; costs of the shape of
    `rewards` move likewise. The means change in at most 1,000 equal steps between two rows.

    >>> world = drifting(rounds=4, rewards=[[0, 1], [1, 0]], costs=[0.5, 0.5])
    >>> world.tables.period, (world.tables.below[:, 0, 0] / 2**53).tolist()
    (8, [0.0, 0.25, 0.5, 0.75, 1.0, 0.75, 0.5, 0.25])
    """
    means = check_range("rewards", reals("rewards", rewards, 2))
    if len(means) < 2:
        raise invalid("rewards", rewards, "must have at least two rows, to move between")
    length = validation.integer("rounds", rounds, low=1, high=MOST_ROUNDS)
    prices = costs_like(costs, means, repeat=True)
    steps = min(length, MOST_STEPS)
    way = (np.arange(steps) / steps)[:, None]
    # (S, 1, ...) the rows, and those that follow; (S * steps, ...) all steps between them
    flat = prices.reshape(len(means), -1)
    start, end = means[:, None], np.roll(means, -1, axis=0)[:, None]
    low, high = flat[:, None], np.roll(flat, -1, axis=0)[:, None]
    path = ((1 - way) * start + way * end).reshape(-1, means.shape[1])
    units = (low + np.rint(way * (high - low)).astype(np.int64)).reshape(-1, *prices.shape[1:])
    ends = np.arange(len(means))[:, None] * length + np.arange(1, steps + 1) * length // steps
    return make_world(
        "drifting", *bernoulli_atoms(path, units), last=ends.ravel(), period=len(means) * length
    )
