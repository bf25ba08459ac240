"""The rules of the EXP3 and Tsallis families written out, and what their tests share."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import purse
from purse import worlds
from purse.types import Floats, Problem, World
from tests.support.policies import tell_all


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def two_arms(policy: str, *, seed: int = 0) -> purse.Policy:
    return purse.Policy(policy, n_arms=2, budget=100, cost_min=0.5, seed=seed)


def world_of(n_arms: int, cost_min: float = 0.2, *, unit: float = 1) -> World:
    """The dearest arms pay the least; `unit` is the largest cost."""
    return worlds.function("two_point")(
        np.linspace(0.95, 0.1, n_arms),
        np.linspace(cost_min + 0.05, 0.95, n_arms) * unit,
        cost_min=cost_min * unit,
        cost_max=unit,
    )


def play(live: purse.Policy, *rounds: tuple[tuple[float, float], int, float]) -> None:
    """Play rounds by hand: the report, the arm that it is about, and the probability of arm 0 in
    the next round, to seven digits.
    """
    for report, arm, p0 in rounds:
        assert tell_all(live, report) == [arm]
        assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-7)


def blind_to_costs(policy: str) -> None:
    """Neither the costs that are told nor their bounds change what a policy does."""
    cheap, dear = (
        purse.Policy(policy, n_arms=3, budget=1000, cost_min=low, horizon=2000, seed=5)
        for low in (0.5, 0.1)
    )
    rewards = np.random.default_rng(0).random(300)
    assert tell_all(cheap, *[(r, 0.5) for r in rewards]) == tell_all(
        dear, *[(r, 1.0) for r in rewards]
    )
    assert (cheap.probabilities() == dear.probabilities()).all()


def same_pulls(one: str, other: str, *, cost: float = 1) -> None:
    """Two policies are the same where every pull costs the same."""
    world = worlds.function("bernoulli")([0.9, 0.6, 0.3], [cost] * 3)
    runs = [purse.simulate(policy, world, 1000 * cost, n_paths=5) for policy in (one, other)]
    assert (runs[0].pulls == runs[1].pulls).all()


def softmax(scores: Floats) -> Floats:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


class Plain:
    """A sum for each arm; `scale` other than None is c_min of the version that looks at costs."""

    def __init__(self, n_arms: int, scale: float | None = None) -> None:
        self.n_arms, self.scale, self.sums = n_arms, scale, np.zeros(n_arms)

    def gain(self, reward: float, cost: float) -> float:
        return reward if self.scale is None else self.scale * reward / cost


class PlainExp3(Plain):
    """Sums of estimated gains; the softmax is recomputed from them in every round."""

    def __init__(self, n_arms: int, gamma: float, scale: float | None = None) -> None:
        super().__init__(n_arms, scale)
        self.gamma, self.eta = gamma, gamma / n_arms

    def probabilities(self, t: int) -> Floats:
        return (1 - self.gamma) * softmax(self.eta * self.sums) + self.gamma / self.n_arms

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.sums[arm] += self.gain(reward, cost) / probability


class PlainExp3P(PlainExp3):
    """The sums of all arms grow, by what makes them upper bounds."""

    def __init__(
        self, n_arms: int, rounds: int, delta: float = 0.05, scale: float | None = None
    ) -> None:
        gamma = 1.05 * math.sqrt(n_arms * math.log(n_arms) / rounds)
        super().__init__(n_arms, gamma if gamma <= 0.5 else 1.0, scale)
        self.eta = 0.95 * math.sqrt(math.log(n_arms) / (n_arms * rounds))
        self.beta = math.sqrt(math.log(n_arms / delta) / (n_arms * rounds))

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        chances = self.probabilities(t)
        chances[arm] = probability
        drawn = np.arange(self.n_arms) == arm
        self.sums += (self.gain(reward, cost) * drawn + self.beta) / chances


class PlainExp3Ix(Plain):
    """Sums of losses, whose estimates are a little too low."""

    def __init__(
        self, n_arms: int, rate: Callable[[int], float], scale: float | None = None
    ) -> None:
        super().__init__(n_arms, scale)
        self.rate = rate

    def probabilities(self, t: int) -> Floats:
        return softmax(-self.rate(t) * self.sums)

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.sums[arm] += (1 - self.gain(reward, cost)) / (probability + self.rate(t) / 2)


def ix_rates(n_arms: int, rounds: int) -> dict[str, Callable[[int], float]]:
    """The learning rates of EXP3-IX under each option `eta`."""
    return {
        "rounds": lambda t: math.sqrt(2 * math.log(n_arms) / (n_arms * rounds)),
        "anytime": lambda t: math.sqrt(math.log(n_arms) / (n_arms * t)),
        "0.4": lambda t: 0.4,
    }


class PlainTsallis(Plain):
    """Sums of losses; `below` counts the weights for which the reduced variance takes no base."""

    def __init__(self, n_arms: int, estimator: str, scale: float | None = None) -> None:
        super().__init__(n_arms, scale)
        self.reduced, self.below = estimator == "rv", 0

    def eta(self, t: int) -> float:
        return (4 if self.reduced else 2) / math.sqrt(t)

    def probabilities(self, t: int) -> Floats:
        return tsallis_weights(self.eta(t), self.sums)

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        weights = self.probabilities(t)
        weights[arm] = probability
        base = np.where((weights >= self.eta(t) ** 2) & self.reduced, 0.5, 0.0)
        self.below += int((base == 0).sum())
        drawn = np.arange(self.n_arms) == arm
        self.sums += drawn * (1 - self.gain(reward, cost) - base) / weights + base


def tsallis_weights(eta: float, losses: Floats) -> Floats:
    """The normaliser by bisection and secants, between where one arm alone weighs 1 and where all
    that weigh as much as the best sum to 1.
    """
    above = losses - losses.min()
    ends = 2 / eta * (1 - 1e-12), 2 / eta * math.sqrt(len(above)) * (1 + 1e-12)
    x = brentq(lambda x: (4 / (eta * (above + x)) ** 2).sum() - 1, *ends, xtol=1e-14)
    weights = 4 / (eta * (above + x)) ** 2
    return weights / weights.sum()


class PlainExp3PlusPlus(Plain):
    """The rule as its paper has it, and with `scale`, which is c_min, Algorithm 2 as
    docs/theory/what-is-true.md reads it.
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
