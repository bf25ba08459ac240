import math

import numpy as np
import pytest

from purse import worlds
from purse.policies import sao
from purse.types import Floats, Problem
from tests.support.exp3_learners import PlainExp3P
from tests.support.policies import follows, plays_two_resources
from tests.support.soak import SOAK, scale


class PlainSao:
    """Algorithm 1 as it is written, then EXP3.P."""

    def __init__(self, n_arms: int, rounds: int, beta: float) -> None:
        self.k, self.rounds, self.log, self.n = n_arms, rounds, math.log(beta), 0
        self.delta = min(1.0, n_arms / beta)
        self.estimates, self.sums, self.pulls = np.zeros(n_arms), np.zeros(n_arms), np.zeros(n_arms)
        self.p, self.q = np.full(n_arms, 1 / n_arms), np.zeros(n_arms)
        self.tau = [math.inf] * n_arms
        self.active, self.switched = list(range(n_arms)), 0
        self.why = ""

    def width(self, x: float) -> float:
        return (
            math.sqrt(4 * self.k * self.log / x + 5 * (self.k * self.log / x) ** 2)
            if x
            else math.inf
        )

    def probabilities(self, t: int) -> Floats:
        return self.p

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        if self.switched:
            self.later.learn(t, arm, probability, reward, cost)
            self.p = self.later.probabilities(t)
            return
        self.n += 1
        self.estimates[arm] += reward / probability
        self.sums[arm] += reward
        self.pulls[arm] += 1
        for i in range(self.k):
            if self.suspicious(i):
                self.switch()
                return
        left = {
            i: self.q[i] * self.tau[i] / (self.n + 1) for i in range(self.k) if i not in self.active
        }
        self.p = np.array(
            [left.get(i, (1 - sum(left.values())) / len(self.active)) for i in range(self.k)]
        )

    def suspicious(self, i: int) -> bool:
        n, k, log = self.n, self.k, self.log
        weighted = self.estimates / n
        behind = max(weighted[j] for j in self.active) - weighted[i]
        if i in self.active and behind > 6 * self.width(n):
            self.active.remove(i)
            self.tau[i], self.q[i] = n, self.p[i]
        star = min(self.tau[i], n)
        if self.pulls[i]:
            later = (n - star) / (self.q[i] * self.tau[i] * n) if i not in self.active else 0.0
            radius = math.sqrt(4 * (k * star / n**2 + later) * log + 5 * (k * log / star) ** 2)
            if (
                abs(weighted[i] - self.sums[i] / self.pulls[i])
                > math.sqrt(2 * log / self.pulls[i]) + radius
            ):
                self.why = "means"
        if i not in self.active and behind > 10 * self.width(self.tau[i] - 1):
            self.why = "far"
        if i not in self.active and behind <= 2 * self.width(self.tau[i]):
            self.why = "near"
        return bool(self.why)

    def switch(self) -> None:
        """Play EXP3.P for the rounds that are left."""
        self.switched, self.p = self.n, np.full(self.k, 1 / self.k)
        self.later = PlainExp3P(self.k, max(1, self.rounds - self.n), self.delta)


@pytest.mark.parametrize(
    ("beta", "out", "stops", "switches"),
    [
        *([(30, 1, True, False), (1.5, 1, True, False)] if SOAK else []),
        (1.5, 30, True, False),
        (1.02, 1, False, True),
        (1e12, 1, False, False),
    ],
)
def test_follows_the_formula(beta: float, out: int, stops: bool, switches: bool) -> None:
    world = worlds.function("two_point")([0.95, 0.5, 0.05], [0.6, 0.4, 0.9], cost_min=0.2)
    plain = PlainSao(3, 10_000, beta)
    follows(f"sao:beta={beta}", plain, world, scale(1000, 3000), out=out, budget=2000)
    assert (len(plain.active) < 3) == stops
    assert bool(plain.switched) == switches


@pytest.mark.parametrize("out", [1, *([30] if SOAK else [])])
@pytest.mark.parametrize(
    ("beta", "rounds", "before", "after", "why"),
    [
        (10, 2000, [0.95, 0.1, 0.05], [0.05, 0.1, 0.95], "near"),
        (1.2, 300, [0.9, 0.5], [0.9, 0], "far"),
        (1.5, 1000, [0.95, 0.1, 0.05], [0.05, 0.1, 0.95], "means"),
    ],
)
def test_follows_the_formula_where_the_rewards_change(
    beta: float, rounds: int, before: list[float], after: list[float], why: str, out: int
) -> None:
    world = worlds.function("switching")(
        segments=[rounds, 10**6], rewards=[before, after], costs=[0.5] * len(before)
    )
    plain = PlainSao(len(before), 5000, beta)
    follows(f"sao:beta={beta}", plain, world, 4500, out=out, budget=2500)
    assert plain.active == [0]
    assert plain.switched > rounds
    assert out > 1 or plain.why == why


def test_a_switch_near_the_end_plays_uniformly() -> None:
    world = worlds.function("bernoulli")([1, 0, 0], [0.5, 0.5, 0.5])
    plain = PlainSao(3, 10, 1.01)
    live = follows("sao:beta=1.01", plain, world, 9, budget=5)
    assert plain.switched
    assert live.probabilities().tolist() == [1 / 3] * 3


def test_the_theorys_beta() -> None:
    for horizon, delta, rounds in ((None, 0.05, 200), (None, 0.5, 200), (50, 0.05, 50)):
        problem = Problem.of(n_arms=2, budget=100, cost_min=0.5, horizon=horizon)
        known, log_beta = sao.params(problem, delta=delta), math.log(10 * 2 * rounds**3 / delta)
        assert known.log_beta == pytest.approx(log_beta)
        assert known.later.beta == pytest.approx(math.sqrt(log_beta / (2 * rounds)))
        assert sao.params(problem, beta=2).log_beta == math.log(2)
    assert sao.params(problem) == known


def test_plays_several_resources() -> None:
    plays_two_resources("sao")
