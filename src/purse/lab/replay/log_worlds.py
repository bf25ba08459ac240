r"""The worlds that a log tells of, for policies without contexts; docs/replay.md derives them.

**Estimated.** The rows of an arm with their weights are its distribution of (reward, cost). With
N_i pulls of a policy in that world, G^ its gain and mu^_i the mean rewards there, the methods
differ in the mean reward that they give to an arm: G = G^ + sum_i N_i (mu_i - mu^_i),

    ips     mu_i = sum_{i_t = i} w_t r_t / n                   n rows in all
    snips   mu_i = sum_{i_t = i} w_t r_t / sum_{i_t = i} w_t = mu^_i
    dr      mu_i = m_i + sum_{i_t = i} w_t (r_t - m_i) / n     m_i: the plain mean of the arm's rows

**Replay.** The policy plays the logged rounds themselves, each at most once a path. Each arm has a
queue of its rows, which a row joins with probability min_s p_s / p_t over the arm's rows s. Each
path draws its own order of the rows and its own choice of those that join.

Both worlds have one draw, because a policy is compiled again for each draw that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from purse.base import amounts
from purse.compiler.kernel import cold
from purse.kernels.random import U, at, bits, shuffled, uniform
from purse.lab.data.log import Log
from purse.lab.data.question import METHODS
from purse.types import Floats, Ints, Words, World
from purse.worlds._draw import Tables, draw_any
from purse.worlds._tables import make_world, thresholds

WEIGHTED = METHODS[1:]  # the methods that play in the estimated world


@dataclass(frozen=True, eq=False)
class ModelWorld:
    """A log as a world; `counts` says how often each row of the log counts."""

    log: Log
    world: World
    # (n + arms never logged,) where the row's reward and cost stand in the world's tables, flat
    atom: Ints
    size: int  # A, the most atoms of an arm

    def once(self) -> Ints:
        """(n,) Every row counts once."""
        return np.ones(len(self.log), np.int64)

    def redrawn(self, rng: np.random.Generator) -> Ints:
        """(n,) As many rows drawn again, with replacement, in which each logged arm occurs."""
        n = len(self.log)
        while True:
            counts = np.bincount(rng.integers(n, size=n), minlength=n)
            if (self.log.sums(counts)[self.log.rows > 0] > 0).all():
                return counts

    def reweighted(self, counts: Ints) -> World:
        """Return the same arms, atoms and bounds with the probabilities of these rows."""
        probabilities = _shares(self.log, self.atom, self.size, counts)
        atoms = self.world.tables._replace(below=thresholds(probabilities[None]))
        return replace(self.world, tables=_of_atoms(atoms), draw=draw)

    def means(self, method: str, counts: Ints) -> Floats:
        """(K,) The mean reward of each arm by a method, in the user's unit; 0 if never logged."""
        log = self.log
        weights = counts * log.weight
        total, weighted = log.sums(weights), log.sums(weights * log.reward)
        rounds = log.chances * (counts.sum() / len(log))
        if method == "ips":
            return ratio(weighted, rounds)
        if method == "snips":
            return ratio(weighted, total)
        model = ratio(log.sums(counts * log.reward), log.sums(counts))
        return model + ratio(weighted - model * total, rounds)

    def costs(self, counts: Ints) -> Floats:
        """(K,) The mean cost of each arm, of the first resource; 0 if never logged."""
        weights = counts * self.log.weight
        spent = self.log.sums(weights * self.log.cost[:, 0]) / amounts.UNIT
        return ratio(spent, self.log.sums(weights))


def make_model(log: Log) -> ModelWorld:
    """Return the world of a log. It has no true means: a log does not tell them."""
    arm, reward, cost = log.filled()
    # bits, so that cost stays exact
    atoms, of_row = np.unique(
        np.column_stack([arm, cost, reward.view(np.int64)]), axis=0, return_inverse=True
    )
    owner = atoms[:, 0]
    first = np.searchsorted(owner, np.arange(len(log.arms)))
    place = np.arange(len(atoms)) - first[owner]
    size = int(place.max()) + 1
    rewards, costs = np.zeros((len(log.arms), size)), np.repeat(log.cost_max[:, None], size, axis=1)
    rewards[owner, place] = np.ascontiguousarray(atoms[:, -1]).view(np.float64)
    costs[owner, place] = atoms[:, 1:-1]
    flat = (owner * size + place)[of_row.ravel()]
    probabilities = _shares(log, flat, size, np.ones(len(log), np.int64))
    whole = make_world(
        log.name, probabilities[None], rewards[None], costs[None], horizon=log.horizon
    )
    world = log.as_world(whole.tables, whole.draw, **log.features)
    return ModelWorld(log, world, flat, size)


def _shares(log: Log, atom: Ints, size: int, counts: Ints) -> Floats:
    """(K, A) The probability of each atom of each arm, from the weights of its rows."""
    weights = np.concatenate([counts * log.weight, np.ones(len(atom) - len(log))])
    table = np.bincount(atom, weights, minlength=len(log.arms) * size).reshape(len(log.arms), size)
    chances: Floats = table / table.sum(axis=1, keepdims=True)
    return chances


def ratio(above: Floats, below: Floats) -> Floats:
    """(K,) The quotient above / below, or 0 if `below` is 0."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)


@dataclass(frozen=True, eq=False)
class QueueReplay:
    """A log, its rows sorted by arm."""

    log: Log
    first: Ints  # (K + 1,)
    joins: Floats  # (n,)
    rewards: Floats  # (n,)
    costs: Ints  # (n, d)

    @property
    def ess(self) -> Floats:
        """(K,) How many rows join each queue on average; 0 for arms that were never logged."""
        return np.where(self.log.rows > 0, np.add.reduceat(self.joins, self.first[:-1]), 0.0)

    def once(self) -> Ints:
        """(n,) Every row, once."""
        return np.arange(len(self.joins))

    def redrawn(self, rng: np.random.Generator) -> Ints:
        """(n,) Of each arm as many rows drawn again, with replacement."""
        sizes = np.diff(self.first)
        return np.repeat(self.first[:-1], sizes) + rng.integers(np.repeat(sizes, sizes))

    def world(self, rows: Ints) -> World:
        """Return what answers with these rows. A new one for each thread."""
        log, n_arms = self.log, len(self.log.arms)
        counters = np.zeros(1, np.uint64), np.zeros(n_arms, np.int64), np.zeros(n_arms, np.int64)
        queues = self.joins[rows], self.rewards[rows], self.costs[rows]
        return log.as_world(_of_queues(_Queues(self.first, *queues, *counters)), draw)

    def ran_out(self, world: World) -> Ints:
        """Return the arms that some path in this world needed more rows of than there are."""
        return np.flatnonzero(world.tables.queues.most > np.diff(self.first))


def make_queues(log: Log) -> QueueReplay:
    """Return the queues of a log."""
    arm, reward, cost = log.filled()
    heaviest = np.ones(len(log.arms))
    np.maximum.at(heaviest, log.arm, log.weight)
    joins = np.concatenate([log.weight / heaviest[log.arm], np.ones(len(arm) - len(log))])
    order = np.argsort(arm, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(arm, minlength=len(log.arms)))])
    return QueueReplay(log, first, joins[order], reward[order], cost[order])


class _Queues(NamedTuple):
    """The rows of each arm as data. Paths write into it, so that a thread needs its own."""

    first: Ints  # (K + 1,) where the rows of each arm begin
    joins: Floats  # (n,) the probability that a row joins
    rewards: Floats  # (n,) from 0 to 1
    costs: Ints  # (n, d) units
    path: Words  # (1,) the key of the path that plays
    taken: Ints  # (K,) how many rows of each arm it has looked at
    most: Ints  # (K,) the largest of these over all paths


class _LogTables(NamedTuple):
    """The tables that answer: one of the two; the other has no rows."""

    atoms: Tables
    queues: _Queues


def _of_atoms(atoms: Tables) -> _LogTables:
    """Return the tables of an estimated world as those of a log."""
    ints, floats = np.zeros(0, np.int64), np.zeros(0)
    unused = np.zeros((0, atoms.costs.shape[3]), np.int64)
    none = _Queues(ints, floats, floats, unused, np.zeros(0, np.uint64), ints, ints)
    return _LogTables(atoms, none)


def _of_queues(queues: _Queues) -> _LogTables:
    """Return the rows of a log as its tables."""
    shape = (0, 0, 0)
    costs = np.zeros((*shape, queues.costs.shape[1]), np.int64)
    words, floats = np.zeros(shape, np.uint64), np.zeros(shape)
    none = Tables(np.zeros(0, np.int64), 0, False, False, False, words, floats, costs, floats)
    return _LogTables(none, queues)


@cold
def draw(key: U, tables: _LogTables, t: int, arm: int, cost: Ints) -> float:
    """Write the arm's cost in round t, and return its reward."""
    if tables.queues.first.shape[0] == 0:
        return draw_any(key, tables.atoms, t, arm, cost)
    return _take_row(key, tables.queues, arm, cost)


@cold
def _take_row(key: U, queues: _Queues, arm: int, cost: Ints) -> float:
    """Write what the arm's next row costs, and return its reward; an empty queue starts again."""
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
