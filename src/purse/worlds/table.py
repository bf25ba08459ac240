"""Recorded rounds: what every arm returned and cost, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.errors import InvalidInput
from purse.types import World
from purse.worlds._tables import costs_like, make_world, reals

EXAMPLE = "table:rewards=[[1,0],[0,1],[.5,.5]],costs=[[.5,.2],[.1,.1],[.3,.4]],shuffle=True"


def table(rewards: ArrayLike, costs: Any, shuffle: bool = False) -> World:
    """In round t arm i pays `rewards[t-1][i]` and costs `costs[t-1][i]`; after the last row the
    world ends.

    Arrays of shape (T, K); costs of shape (K,) hold for all rounds, and a third axis is one entry
    per resource. With `shuffle` each path meets the rows in a random order of its own.

    >>> table(rewards=[[1, 0], [0, 1]], costs=[0.5, 0.2]).n_rounds
    2
    """
    values = reals("rewards", rewards, 2)
    if not isinstance(shuffle, bool):
        raise InvalidInput(f"shuffle={shuffle!r}: must be True or False")
    n_rounds, n_arms = values.shape
    return make_world(
        "table",
        np.ones((n_rounds, n_arms, 1)),
        values[:, :, None],
        costs_like(costs, values, repeat=True)[:, :, None],
        last=np.arange(1, n_rounds + 1),
        shuffle=shuffle,
        n_rounds=n_rounds,
    )
