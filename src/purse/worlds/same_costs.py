"""Costs that are the same for all arms but change from round to round: the sum of efficiencies
prefers the wrong arm.
"""

from __future__ import annotations

import numpy as np

from purse.base import amounts
from purse.types import World
from purse.worlds._tables import make_world

EXAMPLE = "same_costs"


def same_costs() -> World:
    """In odd rounds both arms cost 1, and arm 0 pays 1, arm 1 nothing; in even rounds both cost
    0.1, and arm 0 pays nothing, arm 1 0.5.

    Every player plays the same number of rounds. Arm 0 gains 0.909 B and arm 1 0.4545 B, but arm
    1's efficiencies sum to more, 5 against 1 in two rounds: equal costs do not save a bound on
    efficiency from saying nothing about reward.

    >>> same_costs().tables.period
    2
    """
    rewards = np.array([[1.0, 0.0], [0.0, 0.5]])[:, :, None]
    costs = np.broadcast_to(
        np.array([amounts.UNIT, amounts.UNIT // 10])[:, None, None, None], (2, 2, 1, 1)
    )
    return make_world("same_costs", np.ones_like(rewards), rewards, costs, last=[1, 2], period=2)
