"""Policies that are classes, for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from purse.types import Floats, Now, Problem


class Greedy:
    """Takes the arm with the most reward per cost.

    In a tenth of the rounds it takes any arm.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.rng = rng
        self.rewards: Floats = np.ones(problem.n_arms)
        self.costs: Floats = np.ones(problem.n_arms)

    def choose(self, now: Now) -> Any:
        if self.rng.random() < 0.1:
            return self.rng.choice(np.flatnonzero(now.allowed))
        return np.argmax(np.where(now.allowed, self.rewards / self.costs, -1))

    def update(self, now: Now, arm: int, reward: float, cost: Any) -> None:
        self.rewards[arm] += reward
        self.costs[arm] += np.max(cost)
