"""What a world would answer: the draws of a path as tables, the same numbers that the loop
meets.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from purse.compiler.jit import bind
from purse.errors import invalid
from purse.kernels.random import WORLD, stream
from purse.types import Floats, Ints, World
from purse.worlds._draw import draw as shared_draw

draw: Any = None  # bound by `purse.compiler.jit.bind`


def fill(tables: Any, seed: int, path: int, first: int, rewards: Floats, costs: Ints) -> None:
    """Write the draws of rounds first, first + 1, ... of one path."""
    key = stream(seed, path, WORLD)
    for i in range(rewards.shape[0]):
        for arm in range(rewards.shape[1]):
            rewards[i, arm] = draw(key, tables, first + i, arm, costs[i, arm])


def draws(
    world: World, n_rounds: int, *, seed: int = 0, path: int = 0, first: int = 1
) -> tuple[Floats, Ints]:
    """Rewards (T, K) and costs (T, K, d) in units of every arm in rounds first .. first + n_rounds
    - 1.
    """
    if world.n_rounds is not None and first + n_rounds - 1 > world.n_rounds:
        raise invalid("n_rounds", n_rounds, f"{world.name} ends after round {world.n_rounds}")
    rewards, costs = (
        np.zeros((n_rounds, world.n_arms)),
        np.zeros((n_rounds, world.n_arms, world.n_resources), np.int64),
    )
    bind(fill, draw=world.draw or shared_draw)(world.tables, seed, path, first, rewards, costs)
    return rewards, costs
