"""Replay: the policy plays the logged rounds themselves, each at most once a path.

Each arm has a queue of its rows, and a pull takes the next of them (queue replay; Mandel, Liu,
Brunskill and Popovic 2016, after Li, Chu, Langford and Wang 2011). A row joins with probability
min_s p_s / p_t over the arm's rows s: then which rounds joined does not depend on what the logging
policy looked at, and a queue is an i.i.d. sample of what its arm does. So, as long as no queue runs
out, the path has the law of a path in the true world. Each path has its own order of the rows and
its own choice of who joins; the mean over them is as unbiased and varies less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from purse.lab.offline.log import Log
from purse.lab.offline.log_draw import Queues, draw, of_queues
from purse.types import Floats, Ints, World


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
        low, high = log.cost_min, log.cost_max
        queues = self.joins[rows], self.rewards[rows], self.costs[rows]
        return World(
            log.name,
            of_queues(Queues(self.first, *queues, *counters)),
            low,
            high,
            costs=low if (low == high).all() else None,
            horizon=log.horizon,
            draw=draw,
            arms=log.arms,
            outages=log.outages,
            reward_range=log.reward_range,
        )

    def ran_out(self, world: World) -> Ints:
        """Return the arms that some path in this world needed more rows of than there are."""
        return np.flatnonzero(world.tables.queues.most > np.diff(self.first))


def replay(log: Log) -> QueueReplay:
    """Return the queues of a log."""
    arm, reward, cost = log.filled()
    heaviest = np.ones(len(log.arms))
    np.maximum.at(heaviest, log.arm, log.weight)
    joins = np.concatenate([log.weight / heaviest[log.arm], np.ones(len(arm) - len(log))])
    order = np.argsort(arm, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(arm, minlength=len(log.arms)))])
    return QueueReplay(log, first, joins[order], reward[order], cost[order])
