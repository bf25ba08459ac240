"""A log with contexts as a world of logged rounds, and what paths in it were credited."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from purse.compiler.jit import bind
from purse.engine.cpu import BLOCK_PATHS
from purse.engine.run import Run
from purse.kernels.regression import Regression, add_report, new_regression
from purse.lab.data.log import Log
from purse.lab.replay.bootstrap import redraw
from purse.lab.replay.logged_rounds import COUNT, DRAWS, PLAYED, LoggedRounds, draw, view
from purse.types import Floats, Ints, World
from purse.worlds._tables import context_rows

RIDGE = 1.0


class Credited(NamedTuple):
    """The outcome of the paths of a block: P paths, K arms, n rows."""

    gain: Floats  # (P,) in the user's unit
    weight: Floats  # (P,) S times rounds per row that was drawn, 1 on average
    visits: Ints  # (n,)
    wanted: Ints  # (K,)
    lost: bool  # whether a path found no row for its choice


@dataclass(frozen=True, eq=False)
class ContextWorld:
    """A log with contexts, its rows sorted by arm; `counts` are as in `_ModelWorld`."""

    log: Log
    first: Ints  # (K + 1,)
    arm: Ints  # (n,)
    weight: Floats  # (n,) 1/p, and of an arm that was not always allowed the more
    features: Floats  # (n, A, numbers of a context)
    rewards: Floats  # (n,) from 0 to 1
    costs: Ints  # (n, d)
    values: Floats  # (n,) rewards in the user's unit
    order: Ints  # (n,) the rows of the log, and arms never logged after them

    def once(self) -> Ints:
        """(n,) Every row counts once."""
        return (self.weight > 0).astype(np.int64)

    def redrawn(self, rng: np.random.Generator) -> Ints:
        """(n,) How often each row counts in a log that is drawn again."""
        extra = np.zeros(len(self.weight) - len(self.log), np.int64)
        return np.concatenate([redraw(self.log, rng), extra])[self.order]

    def world(self, counts: Ints) -> World:
        """Return the world that answers with these rows, a new one for each thread."""
        log, n_arms, weights = self.log, len(self.log.arms), counts * self.weight
        with np.errstate(divide="ignore"):
            chance = np.where(self.weight > 0, 1 / self.weight, 1.0)
        tables = LoggedRounds(
            np.cumsum(weights),
            self.first,
            float(weights.sum() / counts.sum()),
            self.arm,
            chance,
            self.features,
            self.rewards,
            self.costs,
            self.values,
            np.zeros(1, np.int64),
            np.full(1, -1),
            np.zeros((BLOCK_PATHS, PLAYED + 1)),
            np.zeros(len(self.arm), np.int64),
            np.zeros(n_arms, np.int64),
            np.zeros(1, np.int64),
        )
        return log.as_world(tables, draw, view=view)

    def credited(self, world: World, run: Run) -> Credited:
        """Return the credits of the paths of a run in this world."""
        credited = world.tables.credits[: run.n_paths]
        return Credited(
            credited[:, PLAYED],
            _weights_of(world.tables.scale, credited[:, COUNT], credited[:, DRAWS]),
            world.tables.visits,
            world.tables.wanted_first,
            bool(world.tables.lost[0]),
        )


def make_context_world(log: Log) -> ContextWorld:
    """Return the world of a log that has contexts."""
    assert log.contexts is not None
    arm, reward, cost = log.filled()
    extra = len(arm) - len(log)
    # an arm that was not always allowed stands for the rounds in which it was not, too
    scaled = log.weight * (len(log) / log.chances)[log.arm]
    weight = np.concatenate([scaled, np.zeros(extra)])
    rows = np.concatenate([np.arange(len(log)), np.zeros(extra, np.int64)])
    contexts = context_rows(log.contexts.inputs, len(log), len(log.arms))[rows]
    rewards = np.concatenate([log.reward, np.zeros(extra)])
    order = np.argsort(arm, kind="stable")
    return ContextWorld(
        log,
        np.concatenate([[0], np.cumsum(np.bincount(arm, minlength=len(log.arms)))]),
        arm[order],
        weight[order],
        np.ascontiguousarray(contexts[order]),
        reward[order],
        cost[order],
        rewards[order],
        order,
    )


def _weights_of(scale: float, rounds: Floats, draws: Floats) -> Floats:
    """(P,) S times rounds per row that was drawn; 1 for a single round, which tells nothing.

    Both are less one, since the last row that is drawn always takes place: so it has no bias.
    """
    return np.where(rounds > 1, scale * (rounds - 1) / np.maximum(draws - 1, 1), 1.0)


def effective_rows(visits: Ints) -> float:
    """Return how many rows that are visited equally often tell as much: (sum v)^2 / sum v^2 with v
    the expected visits; v (v - 1) takes off what chance adds to v^2.

    >>> effective_rows(np.array([50, 50, 0]))
    2.0
    """
    total, pairs = float(visits.sum()), float((visits * (visits - 1)).sum())
    if pairs == 0:
        return float((visits > 0).sum())
    return min(total * (total - 1) / pairs, float((visits > 0).sum()))


def _learn_rows(
    learnt: Regression, contexts: Floats, arm: Ints, values: Floats, counts: Ints, z: Floats
) -> None:
    """Add each row as many reports as it counts; `z` is room to work in, (numbers,)."""
    for t in range(arm.shape[0]):
        x = contexts[t, min(arm[t], contexts.shape[1] - 1)]
        for _ in range(counts[t]):
            add_report(learnt, arm[t], x, z, values[t, 0], values[t, 1:])


def regression_of(
    contexts: Floats, arm: Ints, values: Floats, counts: Ints, n_arms: int, ridge: float = RIDGE
) -> Regression:
    """Fit a regression of rewards and costs to the rows.

    contexts   (n, A, numbers of a context), the last number is 1
    values     (n, 1 + d) reward from 0 to 1, and costs in largest costs
    counts     (n,) how often each row counts
    """
    learnt = new_regression(n_arms, values.shape[1], contexts.shape[2], ridge)
    bind(_learn_rows)(learnt, contexts, arm, values, counts, np.zeros(contexts.shape[2]))
    return learnt
