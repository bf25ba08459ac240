"""A world of one's own, with a draw of its own: rewards are certain, prices are uniform between two
bounds.

Try it: purse compare exp3.bwk exp3++.price -w
"examples/noisy_prices.py:rewards=[.5,.6],low=[.1,.5],high=[1,.6]" -b 1000
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from purse.base.amounts import unit_array
from purse.compiler.kernel import kernel
from purse.kernels.random import U, at, uniform
from purse.lab import World
from purse.types import Floats, Ints


class NoisyPricesTables(NamedTuple):
    rewards: Floats  # (K,)
    low: Ints  # (K, 1) units of 1e-9
    high: Ints  # (K, 1)


@kernel
def draw(key: U, tables: NoisyPricesTables, t: int, arm: int, cost: Ints) -> float:
    width = tables.high[arm, 0] - tables.low[arm, 0]
    cost[0] = tables.low[arm, 0] + int(uniform(at(key, t), arm) * width)
    return tables.rewards[arm]


def noisy_prices(rewards: Sequence[float], low: Sequence[float], high: Sequence[float]) -> World:
    """Arm i always pays `rewards[i]`; its cost is uniform between `low[i]` and `high[i]`, and
    another one in each round.
    """
    values, least, most = (
        np.array(rewards, float),
        unit_array("low", low)[:, None],
        unit_array("high", high)[:, None],
    )
    return World(
        name="noisy_prices",
        tables=NoisyPricesTables(values, least, most),
        cost_min=least,
        cost_max=most,
        reward_means=values,
        cost_means=(least + most) / 2e9,
        draw=draw,
    )
