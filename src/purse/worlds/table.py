"""Recorded rounds: the reward and the cost of every arm, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.errors import InvalidInput
from purse.types import World
from purse.worlds._tables import costs_like, make_world, reals

EXAMPLE = "table:rewards=[[1,0],[0,1],[.5,.5]],costs=[[.5,.2],[.1,.1],[.3,.4]],shuffle=True"


def table(rewards: ArrayLike, costs: Any, shuffle: bool = False) -> World:
    """Return a world in which arm i pays `rewards[t-1][i]` and costs `costs[t-1][i]` in round t.

        rewards   from 0 to 1, shape (T, K)
        costs     amounts, shape (T, K), or (K,) for all rounds; a third axis has one entry per
                  resource
        shuffle   True: each path has its own random order of the rows

    After the last row the world ends.

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
