"""The compiled draw of all shipped worlds, from phases x arms x atoms."""

from typing import NamedTuple

from purse.compiler.kernel import cold, kernel
from purse.kernels.random import U, at, bits, shuffled, uniform
from purse.types import Floats, Ints, Words

ROW = 1 << 19  # the index of the random number that draws a row; arms have the first ones


class Tables(NamedTuple):
    """A world as data. H phases, K arms, A atoms, d resources."""

    last: Ints  # (H,) the last round of each phase
    period: int  # the number of rounds after which the phases start again; 0: never
    shuffle: bool  # rounds come in a random order, another one on each path
    sample: bool  # the phase of each round is drawn, each is equally likely
    simple: bool  # one phase, two atoms per arm, which differ in reward only, and one resource
    below: Words  # (H, K, A - 1) the first a with 53 random bits < below[a] is drawn, else the last
    rewards: Floats  # (H, K, A)
    costs: Ints  # (H, K, A, d) units
    features: Floats  # (H, 1 or K, n) the context of each phase; n = F + 1, the last is 1


@kernel
def draw(key: U, tables: Tables, t: int, arm: int, cost: Ints) -> float:
    """Write the arm's cost in round t, and return its reward.

    `key` is the world's stream of random numbers on this path. Simple worlds take a short way
    through the same tables: inlined in the loop, it saves a tenth of a round.
    """
    return (
        draw_simply(key, tables, t, arm, cost)
        if tables.simple
        else draw_any(key, tables, t, arm, cost)
    )


@kernel
def draw_simply(key: U, tables: Tables, t: int, arm: int, cost: Ints) -> float:
    """Write the cost and return the reward in a simple world."""
    which = U(arm)
    cost[0] = tables.costs[0, which, 0, 0]
    return tables.rewards[0, which, U(bits(at(key, t), arm) >> U(11) >= tables.below[0, which, 0])]


@cold
def draw_any(key: U, tables: Tables, t: int, arm: int, cost: Ints) -> float:
    """Write the cost and return the reward, for any number of phases, atoms and resources."""
    phase = phase_of(key, tables, t)
    atom = 0
    size = tables.rewards.shape[2]
    word = bits(at(key, t), arm) >> U(11)
    while size > 1:  # halves without branches: the answer is as random as the word
        half = size >> 1
        atom += half * (word >= tables.below[phase, arm, atom + half - 1])
        size -= half
    for m in range(cost.shape[0]):
        cost[m] = tables.costs[phase, arm, atom, m]
    return tables.rewards[phase, arm, atom]


@kernel
def phase_of(key: U, tables: Tables, t: int) -> int:
    """Return the first phase whose last round is not before t."""
    n_phases = tables.last.shape[0]
    if tables.sample:
        return int(uniform(at(key, t), ROW) * n_phases)
    if tables.shuffle:
        t = shuffled(key, (t - 1) % n_phases, n_phases) + 1
    elif tables.period > 0:
        t = (t - 1) % tables.period + 1
    if t <= n_phases and tables.last[t - 1] == t:
        return t - 1  # phases of one round each, the rows of a table
    low = 0
    high = n_phases - 1
    while low < high:
        middle = (low + high) >> 1
        if t <= tables.last[middle]:
            high = middle
        else:
            low = middle + 1
    return low


@cold
def view(key: U, tables: Tables, t: int, context: Floats) -> None:
    """Write the context of round t."""
    phase = phase_of(key, tables, t)
    for i in range(context.shape[0]):
        for k in range(context.shape[1]):
            context[i, k] = tables.features[phase, i, k]
