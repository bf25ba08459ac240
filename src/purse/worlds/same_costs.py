"""Equal costs that change from round to round make the sum of efficiencies prefer the wrong arm."""

import numpy as np

from purse.base import amounts
from purse.types import World
from purse.worlds._tables import make_world

EXAMPLE = "same_costs"


def same_costs() -> World:
    """Return a world in which both arms cost the same in each round, and efficiency misleads.

    In odd rounds both arms cost 1; arm 0 pays 1 and arm 1 pays 0. In even rounds both cost 0.1; arm
    0 pays 0 and arm 1 pays 0.5. Every player plays the same number of rounds. Arm 0 gains 0.909 B
    and arm 1 gains 0.4545 B. Yet the efficiencies of arm 1 sum to 5 in two rounds, and those of arm
    0 to 1. So a bound on efficiency says nothing about reward, even if costs are equal.

    >>> same_costs().tables.period
    2
    """
    rewards = np.array([[1.0, 0.0], [0.0, 0.5]])[:, :, None]
    costs = np.broadcast_to(
        np.array([amounts.UNIT, amounts.UNIT // 10])[:, None, None, None], (2, 2, 1, 1)
    )
    return make_world("same_costs", np.ones_like(rewards), rewards, costs, last=[1, 2], period=2)
