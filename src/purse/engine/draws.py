"""The answers of a world: the draws and the contexts of a path as tables, the same numbers that the
loop meets.
"""

from typing import Any

import numpy as np

from purse.compiler.jit import bind
from purse.errors import invalid
from purse.kernels.random import WORLD, stream
from purse.types import Floats, Ints, World
from purse.worlds._draw import draw as shared_draw
from purse.worlds._draw import view as shared_view

draw: Any = None  # bound by `purse.compiler.jit.bind`
view: Any = None


def _fill(tables: Any, seed: int, path: int, first: int, rewards: Floats, costs: Ints) -> None:
    """Write the draws of rounds first, first + 1, ... of one path."""
    key = stream(seed, path, WORLD)
    for i in range(rewards.shape[0]):
        for arm in range(rewards.shape[1]):
            rewards[i, arm] = draw(key, tables, first + i, arm, costs[i, arm])


def draws(
    world: World, n_rounds: int, *, seed: int = 0, path: int = 0, first: int = 1
) -> tuple[Floats, Ints]:
    """Return rewards (T, K) and costs (T, K, d), in units, of every arm.

    The rounds are first .. first + n_rounds - 1.
    """
    _check_end(world, n_rounds, first)
    rewards, costs = (
        np.zeros((n_rounds, world.n_arms)),
        np.zeros((n_rounds, world.n_arms, world.n_resources), np.int64),
    )
    bind(_fill, draw=world.draw or shared_draw)(world.tables, seed, path, first, rewards, costs)
    return rewards, costs


def _fill_contexts(tables: Any, seed: int, path: int, first: int, out: Floats) -> None:
    """Write the contexts of rounds first, first + 1, ... of one path."""
    key = stream(seed, path, WORLD)
    for i in range(out.shape[0]):
        view(key, tables, first + i, out[i])


def contexts(
    world: World, n_rounds: int, *, seed: int = 0, path: int = 0, first: int = 1
) -> Floats:
    """Return contexts (T, A, n) of rounds first .. first + n_rounds - 1; gaps of a view are NaN.

    A is 1, or K if each arm has a context of its own. The last of the n numbers is 1.
    """
    _check_end(world, n_rounds, first)
    rows = world.n_arms if world.per_arm else 1
    out = np.full((n_rounds, rows, world.n_features + 1), np.nan)
    out[:, :, -1] = 1
    if world.n_features > 0:
        bind(_fill_contexts, view=world.view or shared_view)(world.tables, seed, path, first, out)
    return out


def _check_end(world: World, n_rounds: int, first: int) -> None:
    if world.n_rounds is not None and first + n_rounds - 1 > world.n_rounds:
        raise invalid("n_rounds", n_rounds, f"{world.name} ends after round {world.n_rounds}")
