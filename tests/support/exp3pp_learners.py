"""EXP3++ and its versions written out: all bounds from scratch in every round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from purse.types import Floats
from tests.support.exp3_learners import Plain, softmax


class PlainExp3PlusPlus(Plain):
    """The rule as its paper has it, and with `scale`, which is c_min, Algorithm 2 as
    docs/readings.md reads it.
    """

    def __init__(
        self,
        n_arms: int,
        scale: float | None = None,
        *,
        alpha: float = 3.0,
        beta: float | None = None,
        lam: float | None = None,
        epsilon: str = "lemma",
        mixing: str = "all",
        width: str = "printed",
    ) -> None:
        super().__init__(n_arms, scale)
        self.c_min = scale or 1.0
        self.alpha, self.beta, self.lam = alpha, beta or 256 / self.c_min**2, lam or self.c_min
        self.epsilon, self.mixing, self.width = epsilon, mixing, width
        self.pulls, self.rewards, self.costs = (np.zeros(n_arms) for _ in range(3))
        self.rounds_with_a_gap = 0

    def scores(self) -> Floats:
        return -0.5 * self.sums

    def bounds(self, i: int, radius: float) -> tuple[float, float]:
        """What arm i is worth by its means, and the half-width of the interval about it."""
        reward, cost = self.rewards[i] / self.pulls[i], self.costs[i] / self.pulls[i]
        if self.scale is None:
            return reward, radius
        if self.width == "direct":
            return reward / cost, (1 + 1 / self.lam) * radius / cost
        room = self.lam - radius
        return reward / cost, (1 + 1 / self.lam) * radius / room if room > 0 else math.inf

    def rates(self, t: int, cap: float) -> Floats:
        high, low = np.full(self.n_arms, 1 / self.c_min), np.zeros(self.n_arms)
        for i in np.flatnonzero(self.pulls):
            log = self.alpha * math.log(t) + math.log(self.n_arms)
            mean, width = self.bounds(i, math.sqrt(log / (2 * self.pulls[i])))
            high[i], low[i] = min(high[i], mean + width), max(0.0, mean - width)
        gaps = np.maximum(0, low.max() - high)
        each = [self.beta * math.log(t) / (t * gap**2) if gap > 0 else cap for gap in gaps]
        return np.minimum(cap, each)

    def probabilities(self, t: int) -> Floats:
        k = self.n_arms
        if t <= k:
            return np.eye(k)[t - 1]
        root = math.sqrt(math.log(k) / (t * k))
        factor = {"lemma": 1, "printed": math.sqrt(k), "cmin": self.c_min}[self.epsilon]
        cap = min(1 / (2 * k), 0.5 * factor * root)
        p, eps = softmax(root * self.scores()), self.rates(t, cap)
        self.rounds_with_a_gap += bool((eps < cap).any())
        if self.mixing == "all":
            return (1 - eps.sum()) * p + eps
        mixed = (1 - (eps.sum() - eps)) * p + eps
        return mixed / mixed.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost
        if t > self.n_arms:
            self.estimate(arm, probability, reward, cost)

    def estimate(self, arm: int, probability: float, reward: float, cost: float) -> None:
        self.sums[arm] += (1 - self.gain(reward, cost)) / probability


class PlainPrice(PlainExp3PlusPlus):
    """Algorithm D7: every score with today's price."""

    def __init__(
        self, n_arms: int, c_min: float, *, alpha: float = 3.0, beta: float | None = None
    ) -> None:
        super().__init__(n_arms, c_min, alpha=alpha, beta=beta, width="direct")
        self.cost_sums = np.zeros(n_arms)

    def scores(self) -> Floats:
        theta = self.rewards.sum() / self.costs.sum() if self.costs.any() else 0.0
        return (self.sums - theta * self.cost_sums) / (1 + theta)

    def estimate(self, arm: int, probability: float, reward: float, cost: float) -> None:
        self.sums[arm] += reward / probability
        self.cost_sums[arm] += cost / probability


def written(name: str, options: dict[str, Any]) -> str:
    """A policy with options as users write it."""
    return f"{name}:" + ",".join(f"{option}={value}" for option, value in options.items())
