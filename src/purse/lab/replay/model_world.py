r"""The world that a log tells of, for policies without contexts; docs/replay.md derives it.

The rows of an arm with their weights are its distribution of (reward, cost). With N_i pulls of a
policy in that world, its expected gain there is E sum_i N_i mu_i with the self-normalised means

    mu_i = sum_{i_t = i} w_t r_t / sum_{i_t = i} w_t
"""

from dataclasses import dataclass, replace

import numpy as np

from purse.lab.data.log import Log
from purse.types import Floats, Ints, World
from purse.worlds._tables import make_world, thresholds


@dataclass(frozen=True, eq=False)
class _ModelWorld:
    """A log as a world; `counts` says how often each row of the log counts."""

    log: Log
    world: World
    # (n + arms never logged,) where the row's reward and cost stand in the world's tables, flat
    atom: Ints
    size: int  # A, the most atoms of an arm

    def reweighted(self, counts: Ints) -> World:
        """Return the same arms, atoms and bounds with the probabilities of these rows."""
        probabilities = _shares(self.log, self.atom, self.size, counts)
        tables = self.world.tables._replace(below=thresholds(probabilities[None]))
        return replace(self.world, tables=tables)


def make_model(log: Log) -> _ModelWorld:
    """Return the world of a log. It has no true means: a log does not tell them."""
    arm, reward, cost = log.filled()
    # bits, so that cost stays exact
    atoms, of_row = np.unique(
        np.column_stack([arm, cost, reward.view(np.int64)]), axis=0, return_inverse=True
    )
    owner = atoms[:, 0]
    first = np.searchsorted(owner, np.arange(len(log.arms)))
    number = np.arange(len(atoms)) - first[owner]  # of the atom, among those of its arm
    size = int(number.max()) + 1
    rewards, costs = np.zeros((len(log.arms), size)), np.repeat(log.cost_max[:, None], size, axis=1)
    rewards[owner, number] = np.ascontiguousarray(atoms[:, -1]).view(np.float64)
    costs[owner, number] = atoms[:, 1:-1]
    flat = (owner * size + number)[of_row.ravel()]
    probabilities = _shares(log, flat, size, np.ones(len(log), np.int64))
    whole = make_world(
        log.name, probabilities[None], rewards[None], costs[None], horizon=log.horizon
    )
    world = log.as_world(whole.tables, whole.draw)
    return _ModelWorld(log, world, flat, size)


def _shares(log: Log, atom: Ints, size: int, counts: Ints) -> Floats:
    """(K, A) The probability of each atom of each arm, from the weights of its rows."""
    weights = np.concatenate([counts * log.weight, np.ones(len(atom) - len(log))])
    table = np.bincount(atom, weights, minlength=len(log.arms) * size).reshape(len(log.arms), size)
    chances: Floats = table / table.sum(axis=1, keepdims=True)
    return chances
