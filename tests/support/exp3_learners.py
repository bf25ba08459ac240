"""The rules of the EXP3 and Tsallis families written out, and what their tests share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import purse
from purse import worlds
from purse.types import Floats, Problem, World
from tests.support.policies import frequency_surprise, make_live, tell_all
from tests.support.soak import scale


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


def random_edges(policy: str, **told: Any) -> None:
    """One arm is certain; arms come as often as their probabilities say; without any report all
    arms are equal.
    """
    alone = purse.Policy(policy, n_arms=1, budget=20, cost_min=0.5)
    assert tell_all(alone, *[(1, 0.5), (0, 1), (1, 0.5), (0.5, 0.5)] * 6) == [0] * 24
    assert alone.probabilities().tolist() == [1.0]
    world = world_of(5)
    assert frequency_surprise(make_live(world, policy, **told), world, scale(600, 4000)) < 4
    waiting = purse.Policy(policy, n_arms=4, budget=100, cost_min=0.5)
    for _ in range(50):
        waiting.ask()
    assert waiting.probabilities() == pytest.approx([0.25] * 4)


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


def finds_efficiency(policy: str, blind: str) -> None:
    """A policy finds the efficient arm where a blind one finds the arm that pays most."""
    world = worlds.function("bernoulli")([0.9, 0.7], [0.9, 0.3])
    ours, other = (purse.simulate(name, world, 2000, n_paths=10) for name in (policy, blind))
    assert (ours.pulls[:, 1] > 2 * ours.pulls[:, 0]).all()
    assert (other.pulls[:, 0] > 2 * other.pulls[:, 1]).all()


def table_regrets(policy: str) -> Floats:
    """What each of 20 paths loses against the best of three arms; chance alone loses some 6700."""
    rewards = 1.0 * (np.random.default_rng(0).random((20_000, 3)) < [0.3, 0.8, 0.3])
    world = worlds.function("table")(rewards, [1, 1, 1])
    run = purse.simulate(policy, world, 20_000, n_paths=20)
    assert (run.rounds == 20_000).all()
    return rewards[:, 1].sum() - run.gain


def table_shortfalls(policy: str) -> Floats:
    """By how much the efficiency of each of 20 paths falls short of the better of two arms in the
    same rounds, at most 10^5; chance alone loses some 12,000.
    """
    rewards = 1.0 * (np.random.default_rng(0).random((100_000, 2)) < [0.5, 0.9])
    costs = np.array([0.8, 1.0])
    run = purse.simulate(policy, worlds.function("table")(rewards, costs), 80_000, n_paths=20)
    assert run.efficiency is not None
    each: Floats = np.cumsum(rewards / costs, axis=0)[run.rounds - 1]
    return each.max(axis=1) - run.efficiency


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
        super().__init__(n_arms, 1.05 * math.sqrt(n_arms * math.log(n_arms) / rounds), scale)
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
