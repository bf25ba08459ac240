"""Recorded rounds: the reward and the cost of every arm, round by round."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import validation
from purse.errors import InvalidInput, invalid
from purse.features import Waves
from purse.kernels.fourier import mapped
from purse.types import World
from purse.worlds._tables import costs_like, make_world, reals

EXAMPLE = "table:rewards=[[1,0],[0,1],[.5,.5]],costs=[[.5,.2],[.1,.1],[.3,.4]],shuffle=True"


def table(
    rewards: ArrayLike,
    costs: Any,
    shuffle: bool = False,
    features: ArrayLike | None = None,
    sample: bool = False,
    horizon: int | None = None,
    map: str | None = None,
) -> World:
    """Return a world in which arm i pays `rewards[t-1][i]` and costs `costs[t-1][i]` in round t.

        rewards    from 0 to 1, shape (T, K)
        costs      amounts, shape (T, K), or (K,) for all rounds; a third axis has one entry per
                   resource
        shuffle    True: each path has its own random order of the rows
        features   the context of each row, shape (T, F), or (T, K, F) with one of each arm
        sample     True: each round draws a row, all equally likely, so that rows come again
        horizon    the number of rounds that a player knows there are; None: no limit
        map        random cosines to add to the features, such as "fourier:48"; the features then
                   best lie between -1 and 1; None: none

    After the last row the world ends. With `sample` it does not end.

    >>> table(rewards=[[1, 0], [0, 1]], costs=[0.5, 0.2]).n_rounds
    2
    """
    values = reals("rewards", rewards, 2)
    for field, chosen in (("shuffle", shuffle), ("sample", sample)):
        if not isinstance(chosen, bool):
            raise invalid(field, chosen, "must be True or False")
    if shuffle and sample:
        raise InvalidInput("shuffle and sample: a table has one of them")
    n_rows, n_arms = values.shape
    end = None if sample else n_rows
    waves = Waves.of(map)
    contexts = None if features is None else reals("features", features)
    if waves is not None:
        if contexts is None:
            raise invalid("map", map, "needs features")
        contexts = mapped(contexts, waves)
    return make_world(
        "table",
        np.ones((n_rows, n_arms, 1)),
        values[:, :, None],
        costs_like(costs, values, repeat=True)[:, :, None],
        last=np.arange(1, n_rows + 1),
        shuffle=shuffle,
        sample=sample,
        features=contexts,
        n_rounds=end,
        horizon=None
        if horizon is None
        else validation.integer("horizon", horizon, low=1, high=end),
    )
