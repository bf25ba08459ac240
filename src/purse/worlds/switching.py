"""Rewards of 0 or 1 whose means, and fixed costs, change from segment to segment."""

from typing import Any

from numpy.typing import ArrayLike

from purse.types import World
from purse.worlds._tables import (
    bernoulli_atoms,
    check_range,
    costs_like,
    make_world,
    reals,
    segment_ends,
)

EXAMPLE = "switching:segments=[100,50],rewards=[[.9,.1],[.1,.9]],costs=[.5,.2]"


def switching(segments: ArrayLike, rewards: ArrayLike, costs: Any) -> World:
    """Return a world in which mean rewards and costs change from segment to segment.

    In segment s arm i pays 1 with probability `rewards[s][i]` at cost `costs[s][i]`. After the last
    segment the first comes again.

        segments   the rounds of each segment, or one number for all
        rewards    from 0 to 1, shape (S, K)
        costs      amounts, shape (S, K), or (K,) for all segments

    >>> rewards = [[0.9, 0.1], [0.1, 0.9]]
    >>> switching(segments=[100, 50], rewards=rewards, costs=[0.5, 0.5]).tables.period
    150
    """
    means = check_range("rewards", reals("rewards", rewards, 2))
    last = segment_ends(segments, len(means), f"rewards has {len(means)} segments")
    return make_world(
        "switching",
        *bernoulli_atoms(means, costs_like(costs, means, repeat=True)),
        last=last,
        period=int(last[-1]),
    )
