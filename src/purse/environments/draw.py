"""The one compiled draw that all shipped worlds share: phases x arms x atoms of (probability, reward, cost)."""

from __future__ import annotations

from typing import NamedTuple

from purse.jit import cold, kernel
from purse.random import U, at, bits, shuffled
from purse.types import Floats, Ints, Words


class Tables(NamedTuple):
    """A world as data. H phases, K arms, A atoms, d resources."""

    last: Ints  # (H,) the last round of each phase
    period: int  # after so many rounds the phases start again; 0: never
    fixed_costs: bool  # all atoms of an arm cost the same
    shuffle: bool  # rounds come in a random order, another one on each path
    below: Words  # (H, K, A - 1) the first a with 53 random bits < below[a] is drawn, else the last
    rewards: Floats  # (H, K, A)
    costs: Ints  # (H, K, A, d) units


@kernel
def draw(key: U, tables: Tables, t: int, arm: int, cost: Ints) -> float:
    """Writes what the arm costs in round t and returns its reward; `key` is the world's stream on this path."""
    phase = U(0)
    n_phases = tables.last.shape[0]
    if n_phases > 1:
        phase = U(phase_of(key, tables, t, n_phases))
    which = U(arm)
    atom = U(0)
    size = U(tables.rewards.shape[2])
    if size > U(1):
        word = bits(at(key, t), arm) >> U(11)
        while size > U(1):
            half = size >> U(1)
            atom += half * U(word >= tables.below[phase, which, atom + half - U(1)])
            size -= half
    cost[0] = tables.costs[phase, which, 0, 0]
    if not tables.fixed_costs:
        cost[0] = tables.costs[phase, which, atom, 0]
    if cost.shape[0] > 1:
        for m in range(1, cost.shape[0]):
            cost[m] = tables.costs[phase, which, atom, m]
    return tables.rewards[phase, which, atom]


@cold
def phase_of(key: U, tables: Tables, t: int, n_phases: int) -> int:
    """The first phase whose last round is not before t."""
    if tables.shuffle:
        t = shuffled(key, (t - 1) % n_phases, n_phases) + 1
    elif tables.period > 0:
        t = (t - 1) % tables.period + 1
    low = 0
    high = n_phases - 1
    while low < high:
        middle = (low + high) >> 1
        if t <= tables.last[middle]:
            high = middle
        else:
            low = middle + 1
    return low
