"""Games that need no simulation: of a policy that does not learn, with a number of rounds that is
known beforehand.

Such a policy pulls arm i with the same probability p_i in each of its T rounds, so that it gains
T sum_i p_i mu_i on average and spends T sum_i p_i c_i, whatever the outcomes are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.engine.job import Job
from purse.types import Floats


class CertainGame(NamedTuple):
    """The course of such a game."""

    pulls: Floats  # (K,) of each arm, on average

    @property
    def rounds(self) -> float:
        """How many there are."""
        return float(self.pulls.sum())

    @property
    def mean_pulls(self) -> Floats:
        """(K,) The same, as of games that are played."""
        return self.pulls


def certain_game(job: Job) -> CertainGame | None:
    """Return the game of a job; None: its policy learns, or outcomes decide when it ends."""
    chances = _fixed_chances(job)
    rounds = None if chances is None else _certain_rounds(job, chances)
    return None if chances is None or rounds is None else CertainGame(rounds * chances)


def _fixed_chances(job: Job) -> Floats | None:
    """(K,) The probabilities of the arms, if they are the same in every round."""
    n_arms, name = job.problem.n_arms, getattr(job.policy, "NAME", None)
    if job.world.outages is not None or name not in ("fixed", "uniform"):
        return None
    if name == "uniform":
        return np.full(n_arms, 1 / n_arms)
    return np.eye(n_arms)[job.params.arms[0]]


def _certain_rounds(job: Job, chances: Floats) -> int | None:
    """Return how many pulls every game has: all rounds of the horizon if these can be paid for
    certain, or as many as can be paid if every pull costs the same.
    """
    problem = job.problem
    dearest, horizon = problem.cost_max[chances > 0].max(axis=0), problem.horizon
    if horizon is not None and (dearest.astype(float) * horizon <= problem.budget).all():
        return horizon
    # another arm may step in at the end
    played = chances >= 0 if problem.stop in ("retry", "fit") else chances > 0
    bounds = np.concatenate([problem.cost_min[played], problem.cost_max[played]])
    if (bounds != dearest).any():
        return None
    paid = [int(left // cost) for left, cost in zip(problem.budget, dearest, strict=True) if cost]
    return min([*paid, *([] if horizon is None else [horizon])])
