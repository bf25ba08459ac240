"""A world of one's own, from data: three suppliers, one of which is cheaper in the evening.

Try it: purse compare exp3++.price uniform -w examples/happy_hour.py:discount=0.7 -b 1000
"""

from __future__ import annotations

import numpy as np

import purse

HOURS = 24


def happy_hour(discount: float = 0.5) -> purse.lab.World:
    """Arm i pays 1 with a chance of its own at a price of its own; from 17 to 20 o'clock arm 1
    costs `discount` less. A round is an hour.
    """
    rewards = np.tile([0.8, 0.6, 0.4], (HOURS, 1))
    costs = np.tile([0.8, 0.5, 0.4], (HOURS, 1))
    costs[17:20, 1] *= 1 - discount
    return purse.worlds.switching(segments=[1] * HOURS, rewards=rewards, costs=costs)
