r"""What could be had on recorded rounds by who sees their contexts.

    best linear policy   ridge regressions of reward and cost on the context, one for each arm,
                         fitted on all rounds; in each round the arm with the largest predicted
                         reward - price * cost, or none where all are negative, at the price at
                         which the true costs meet the budget; of two neighbouring prices a mixture
    LP with contexts     for each context that occurs a mixture of arms, by the means over the
                         rounds with this context: what one can expect who knows these means.
                         Where every round has a context of its own it is the hindsight optimum

Both keep to the budget on average only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from purse.base import amounts
from purse.offline.hindsight import hindsight
from purse.types import Floats, Ints

RIDGE = 1.0
HALVINGS = 60  # of the interval that holds the price


class Had(NamedTuple):
    """What a reference comes to."""

    name: str
    gain: float
    spent: float
    pulls: float


def context_optima(
    contexts: Floats, rewards: Floats, units: Ints, budget: float, horizon: int
) -> Iterator[Had]:
    """The references that see contexts, for `horizon` rounds drawn from the N recorded ones.

    contexts   (N, A, n), the last number is 1
    rewards    (N, K) in the user's unit
    units      (N, K) costs
    """
    share = horizon / len(rewards)
    for name, found in (
        ("best linear policy", best_linear(contexts, rewards, units, budget / share)),
        ("LP with contexts", lp_with_contexts(contexts, rewards, units, budget / share)),
    ):
        yield Had(name, *(share * value for value in found))


def lp_with_contexts(
    contexts: Floats, rewards: Floats, units: Ints, budget: float
) -> tuple[float, float, float]:
    """Gain, what is spent and pulls of the mixtures by context."""
    flat = contexts.reshape(len(contexts), -1)
    _, group = np.unique(flat, axis=0, return_inverse=True)
    sizes = np.bincount(group.ravel())[:, None]
    means = []
    for values in (rewards, units):
        sums = np.zeros((len(sizes), values.shape[1]))
        np.add.at(sums, group.ravel(), values)
        means.append((sums / sizes)[group.ravel()])
    return hindsight(means[0], means[1], budget)


def best_linear(
    contexts: Floats, rewards: Floats, units: Ints, budget: float
) -> tuple[float, float, float]:
    """Gain, what is spent and pulls of the best linear policy, over all rounds once."""
    costs, rounds = units / amounts.UNIT, np.arange(len(rewards))
    predicted = [fitted(contexts, values) for values in (rewards, costs)]

    def play(price: float) -> Floats:
        scores = predicted[0] - price * predicted[1]
        arms, pulled = scores.argmax(axis=1), scores.max(axis=1) > 0
        sums = (values[rounds, arms][pulled].sum() for values in (rewards, costs))
        return np.array([*sums, pulled.sum()])

    low, dear = 0.0, play(0.0)
    if dear[1] <= budget:
        return float(dear[0]), float(dear[1]), float(dear[2])
    high, cheap = 1.0, play(1.0)
    while cheap[1] > budget and high < amounts.UNIT:
        high, cheap = 2 * high, play(2 * high)
    if cheap[1] > budget:
        return 0.0, 0.0, 0.0  # what looks free is not
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        found = play(middle)
        if found[1] <= budget:
            high, cheap = middle, found
        else:
            low, dear = middle, found
    part = (budget - cheap[1]) / (dear[1] - cheap[1])
    gain, spent, pulls = part * dear + (1 - part) * cheap
    return float(gain), float(spent), float(pulls)


def fitted(contexts: Floats, values: Floats) -> Floats:
    """(N, K) Predictions of the ridge regression of each arm's values on its contexts; the
    constant is not shrunk.
    """
    out = np.empty_like(values)
    for arm in range(values.shape[1]):
        x = contexts[:, min(arm, contexts.shape[1] - 1)]
        shrunk = RIDGE * np.diag([*np.ones(x.shape[1] - 1), 0.0])
        out[:, arm] = x @ np.linalg.solve(x.T @ x + shrunk, x.T @ values[:, arm])
    return out
