r"""The world that a log tells of: for each arm, the rewards and costs that were logged, as likely
as their weights say.

A policy without context meets of each arm i the distribution of (reward, cost) over all rounds,
F_i, and nothing else, so that its gain is a function of F_1 .. F_K. The weights estimate them, F^_i
= sum_{t: i_t = i} w_t delta(r_t, c_t) / sum_{t: i_t = i} w_t, and the policy is played in that
world. With N_i its pulls there, the methods differ in the mean reward that they give to an arm:

    G = G^ + sum_i N_i (mu_i - mu^_i)           G^ the gain and mu^_i the mean reward in the
    estimated world

    ips     mu_i = sum_{i_t = i} w_t r_t / n                                 unbiased; n rows in all
    snips   mu_i = sum_{i_t = i} w_t r_t / sum_{i_t = i} w_t = mu^_i         blind to how often the
            arm happened to be chosen
    dr      mu_i = m_i + sum_{i_t = i} w_t (r_t - m_i) / n                   with the model m_i, the
            plain mean of the arm's rows

References: D. Horvitz, D. Thompson, 1952 (ips); A. Swaminathan, T. Joachims, 2015 (snips); M.
Dudik, J. Langford, L. Li, 2011 (dr).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from purse.lab.offline.log import Log
from purse.lab.offline.log_draw import draw, of_atoms
from purse.types import Floats, Ints, World
from purse.worlds._tables import make_world, thresholds

METHODS = ("ips", "snips", "dr")


@dataclass(frozen=True, eq=False)
class ModelWorld:
    """A log as a world; `counts`, here and there, says how often each row of the log counts: once,
    or as often as it was drawn again.
    """

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
        """Return the same arms, atoms and declared bounds; probabilities from these rows. It is
        played as the log's rows are.
        """
        probabilities = shares(self.log, self.atom, self.size, counts)
        atoms = self.world.tables._replace(below=thresholds(probabilities[None]))
        return replace(self.world, tables=of_atoms(atoms), draw=draw)

    def means(self, method: str, counts: Ints) -> Floats:
        """(K,) The mean reward of each arm by one of the methods, in the user's unit; 0 for arms
        that were never logged.
        """
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

    def played_means(self) -> Floats:
        """(K,) The mean reward of each arm in the world of all rows, in the user's unit: rewards
        outside their declared range count as its ends.
        """
        log, (low, high) = self.log, self.log.reward_range
        inside = log.sums(log.weight * (low + (high - low) * log.inside))
        return ratio(inside, log.sums(log.weight))


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
    probabilities = shares(log, flat, size, np.ones(len(log), np.int64))
    made = make_world(
        log.name, probabilities[None], rewards[None], costs[None], horizon=log.horizon
    )
    declared = replace(
        made,
        cost_min=log.cost_min,
        cost_max=log.cost_max,
        costs=log.cost_min if (log.cost_min == log.cost_max).all() else None,
        outages=log.outages,
        reward_means=None,
        cost_means=None,
        arms=log.arms,
        reward_range=log.reward_range,
        n_features=0 if log.contexts is None else log.contexts.features.n_columns,
        per_arm=log.contexts is not None and log.contexts.features.per_arm,
    )
    return ModelWorld(log, declared, flat, size)


def shares(log: Log, atom: Ints, size: int, counts: Ints) -> Floats:
    """(K, A) The probability of each atom of each arm, from the weights of its rows."""
    weights = np.concatenate([counts * log.weight, np.ones(len(atom) - len(log))])
    table = np.bincount(atom, weights, minlength=len(log.arms) * size).reshape(len(log.arms), size)
    chances: Floats = table / table.sum(axis=1, keepdims=True)
    return chances


def ratio(above: Floats, below: Floats) -> Floats:
    """(K,) above / below, and 0 where that is 0."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below > 0)
