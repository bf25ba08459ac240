"""The linear policy that was fitted to the true means of each context, and has the right price."""

from __future__ import annotations

from typing import Any

import numpy as np

from purse.base import validation
from purse.errors import InvalidInput
from purse.lab.theory.context_table import ContextTable, check_positive, read
from purse.lab.theory.rows import best_ratio
from purse.types import Bools, Floats, Ints, World

STEPS = 100  # of a bisection: then no float lies between its ends


def play_linear(
    source: str | World | ContextTable, budget: Any, *, horizon: int | None, ridge: float = 1.0
) -> tuple[float, float, float]:
    """Return what the best linear policy gains, what it spends, and how many rounds have a pull."""
    table, budgets = read(source, budget, horizon)
    if len(budgets) > 1:
        raise InvalidInput(
            f"the best linear policy is for one resource, and here are {len(budgets)}"
        )
    rewards, costs = table.rewards, table.costs[:, :, 0]
    near, total = validation.number("ridge", ridge, above=0), float(budgets[0])
    r, c = fit(table.features, rewards, near), fit(table.features, costs, near)

    def outcome(arms: Ints, played: Bools) -> Floats:
        """Gain, costs and pulls over the rows."""
        rows = np.flatnonzero(played)
        sums = rewards[rows, arms[rows]].sum(), costs[rows, arms[rows]].sum(), len(rows)
        return np.array(sums, np.float64)

    if table.rounds is None:
        check_positive(table.costs)
        sums = outcome(best_ratio(r, c)[1], np.ones(len(r), np.bool_))
        return read_sums(sums * total / sums[1])
    times = table.rounds / len(rewards)

    def at_price(price: float) -> Floats:
        score = r - price * c
        return outcome(score.argmax(axis=1), score.max(axis=1) > 0)

    found = at_price(0.0)
    if found[1] > total / times:
        low, high = 0.0, float(np.divide(r, c, out=np.zeros_like(r), where=c > 0).max())
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if at_price(middle)[1] <= total / times else (middle, high)
        found, more = at_price(high), at_price(low)
        if more[1] > found[1]:
            share = (total / times - found[1]) / (more[1] - found[1])
            found = found + min(1.0, max(0.0, share)) * (more - found)
    return read_sums(times * found)


def read_sums(sums: Floats) -> tuple[float, float, float]:
    """Return an array of gain, costs and pulls as numbers."""
    gain, spent, pulls = sums.tolist()
    return gain, spent, pulls


def fit(features: Floats, means: Floats, ridge: float) -> Floats:
    """Return the ridge regression of each arm's means on its contexts, both (N, K).

    What is fitted stays between the least and the most of each arm.
    """
    found = np.empty_like(means)
    for i in range(means.shape[1]):
        x = features[:, min(i, features.shape[1] - 1)]
        found[:, i] = x @ np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ means[:, i])
    return np.clip(found, means.min(axis=0), means.max(axis=0))
