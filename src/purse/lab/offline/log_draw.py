"""The compiled draw of a log, from the world that its weights estimate or from its rows.

Both have one draw, because a policy is compiled again for each draw that it meets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold
from purse.kernels.random import U, at, bits, shuffled, uniform
from purse.types import Floats, Ints, Words
from purse.worlds._draw import Tables, draw_any


class Queues(NamedTuple):
    """The rows of each arm as data. Paths write into it, so that a thread needs its own."""

    first: Ints  # (K + 1,) where the rows of each arm begin
    joins: Floats  # (n,) the probability that a row joins
    rewards: Floats  # (n,) from 0 to 1
    costs: Ints  # (n, d) units
    path: Words  # (1,) the key of the path that plays
    taken: Ints  # (K,) how many rows of each arm it has looked at
    most: Ints  # (K,) the largest of these over all paths


class LogTables(NamedTuple):
    """What answers: one of the two; the other has no rows."""

    atoms: Tables
    queues: Queues


def of_atoms(atoms: Tables) -> LogTables:
    """Return the tables of an estimated world as those of a log."""
    ints, floats = np.zeros(0, np.int64), np.zeros(0)
    unused = np.zeros((0, atoms.costs.shape[3]), np.int64)
    none = Queues(ints, floats, floats, unused, np.zeros(0, np.uint64), ints, ints)
    return LogTables(atoms, none)


def of_queues(queues: Queues) -> LogTables:
    """Return the rows of a log as its tables."""
    shape = (0, 0, 0)
    costs = np.zeros((*shape, queues.costs.shape[1]), np.int64)
    words, floats = np.zeros(shape, np.uint64), np.zeros(shape)
    none = Tables(np.zeros(0, np.int64), 0, False, False, False, words, floats, costs, floats)
    return LogTables(none, queues)


@cold
def draw(key: U, tables: LogTables, t: int, arm: int, cost: Ints) -> float:
    """Write the arm's cost in round t, and return its reward."""
    if tables.queues.first.shape[0] == 0:
        return draw_any(key, tables.atoms, t, arm, cost)
    return take_row(key, tables.queues, arm, cost)


@cold
def take_row(key: U, queues: Queues, arm: int, cost: Ints) -> float:
    """Write what the arm's next row costs, and return its reward. A queue that ran out starts again
    with all rows, which `most` tells.
    """
    if queues.path[0] != key:
        queues.path[0] = key
        for i in range(queues.taken.shape[0]):
            queues.taken[i] = 0
    first = queues.first[arm]
    size = queues.first[arm + 1] - first
    joined = False
    row = first
    while not joined:
        place = queues.taken[arm]
        row = first + shuffled(bits(key, arm), place % size, size)
        joined = place >= size or uniform(at(key, place + 1), arm) < queues.joins[row]
        queues.taken[arm] = place + 1
    queues.most[arm] = max(queues.most[arm], queues.taken[arm])
    for m in range(cost.shape[0]):
        cost[m] = queues.costs[row, m]
    return queues.rewards[row]
