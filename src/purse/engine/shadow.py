"""What every arm would have been worth in the rounds that a policy played: sums over the same draws."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from purse import amount
from purse.engine.cpu import usable_cores
from purse.environments.draw import draw as shared_draw
from purse.jit import bind
from purse.random import WORLD, stream
from purse.types import Floats, Ints, World

draw: Any = None  # bound by `purse.jit.bind`
BLOCK = 4  # paths that a thread takes at a time


def add_up(tables: Any, seed: int, first: int, rounds: Ints, cost: Ints, sums: Floats) -> None:
    """Add each arm's reward per unit of cost over the rounds 1 .. rounds[p] of the paths first, first + 1, ..."""
    for path in range(rounds.shape[0]):
        key = stream(seed, first + path, WORLD)
        for t in range(1, rounds[path] + 1):
            for arm in range(sums.shape[1]):
                reward = draw(key, tables, t, arm, cost)
                sums[path, arm] += reward / cost[0]


def shadows(world: World, rounds: Ints, *, seed: int, n_workers: int | None = None) -> Floats:
    """(P, K) For each path p and arm i the sum of r_t(i) / c_t(i) over the rounds t = 1 .. rounds[p]; for one resource."""
    compiled = bind(add_up, draw=world.draw or shared_draw)
    sums = np.zeros((len(rounds), world.n_arms))

    def work(start: int) -> None:
        rows = slice(start, start + BLOCK)
        compiled(world.tables, seed, start, rounds[rows], np.zeros(1, np.int64), sums[rows])

    compiled(world.tables, seed, 0, rounds[:0], np.zeros(1, np.int64), sums[:0])  # compiles here, and not in each thread
    with ThreadPoolExecutor(n_workers or usable_cores()) as pool:
        list(pool.map(work, range(0, len(rounds), BLOCK)))
    return sums * amount.UNIT
