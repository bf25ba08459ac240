"""An i.i.d. world whose first rounds an adversary has changed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from purse.base import validation
from purse.errors import InvalidInput
from purse.types import World
from purse.worlds._tables import (
    FOREVER,
    MOST_ROUNDS,
    bernoulli_atoms,
    costs_per_arm,
    make_world,
    per_arm,
)

EXAMPLE = "corrupted:rewards=[.9,.6,.4],costs=[.8,.3,.25],rounds=100,fake_rewards=[.1,.1,.9]"


def corrupted(rewards: ArrayLike, costs: Any, rounds: int, fake_rewards: ArrayLike) -> World:
    """Return a world in which arm i pays 1 with a false probability in the first `rounds` rounds.

    The probability is `fake_rewards[i]` in these rounds and `rewards[i]` after them. The cost is
    always `costs[i]`. All three have one entry per arm.

    >>> fake = [0.1, 0.9]
    >>> world = corrupted(rewards=[0.9, 0.1], costs=[0.5, 0.5], rounds=20, fake_rewards=fake)
    >>> world.tables.last.tolist()[0]
    20
    """
    true, fake = per_arm("rewards", rewards), per_arm("fake_rewards", fake_rewards)
    if len(true) != len(fake):
        raise InvalidInput(f"fake_rewards has {len(fake)} arms, and rewards has {len(true)}")
    units = costs_per_arm(costs, len(true))
    return make_world(
        "corrupted",
        *bernoulli_atoms(np.stack([fake, true]), np.stack([units, units])),
        last=[validation.integer("rounds", rounds, low=1, high=MOST_ROUNDS), FOREVER],
    )
