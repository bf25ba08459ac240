"""The LP optimum of recorded rounds by who sees their contexts."""

from __future__ import annotations

import numpy as np

from purse.lab.theory.fluid import hindsight
from purse.types import Floats, Ints


def lp_by_context(
    contexts: Floats, rewards: Floats, units: Ints, budget: float, horizon: int
) -> tuple[float, float, float]:
    """Return the gain, what is spent and the pulls of a mixture of arms for each context.

    contexts   of the N recorded rounds, shape (N, A, n)
    rewards    in the user's unit, shape (N, K)
    units      costs, shape (N, K)
    horizon    the rounds of the game, each drawn from the recorded ones

    Means are those over the rounds with the same context. Where every round has a context of its
    own it is the hindsight optimum. The budget is kept on average only.
    """
    flat = contexts.reshape(len(contexts), -1)
    _, group = np.unique(flat, axis=0, return_inverse=True)
    sizes = np.bincount(group.ravel())[:, None]
    means = []
    for values in (rewards, units):
        sums = np.zeros((len(sizes), values.shape[1]))
        np.add.at(sums, group.ravel(), values)
        means.append((sums / sizes)[group.ravel()])
    share = horizon / len(rewards)
    gain, spent, pulls = hindsight(means[0], means[1], budget / share)
    return share * gain, share * spent, share * pulls
