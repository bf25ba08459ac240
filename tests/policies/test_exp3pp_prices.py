import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.exp3_learners import softmax
from tests.support.policies import EXACT, largest_deviation, make_live, passes
from tests.support.soak import scale

RATE = 0.7


class PlainPrices:
    """The formula written out, everything from scratch in every round; a horizon is one more
    resource.
    """

    def __init__(self, n_arms: int, budgets: Floats, horizon: int | None) -> None:
        self.n_arms, self.ends = n_arms, horizon is not None
        self.budgets = np.append(budgets, horizon) if horizon is not None else budgets
        self.scale = self.budgets.min() / self.budgets
        self.reports: list[tuple[int, int, float, float, Floats]] = []

    def rates(self, t: int) -> tuple[float, float]:
        """eta and twice the exploration of an arm, before it is cut."""
        root = math.sqrt(math.log(self.n_arms) / (t * self.n_arms))
        return root, root

    def prices(self) -> tuple[Floats, float]:
        """v and theta."""
        spent = sum((self.scale * cost for *_, cost in self.reports), np.zeros(len(self.scale)))
        earned = sum(reward for *_, reward, _ in self.reports)
        v = softmax(math.sqrt(math.log(len(self.scale)) / self.budgets.min()) * spent)
        return v, float(earned / (v @ spent)) if spent.any() else 0.0

    def probabilities(self, t: int) -> Floats:
        if t <= self.n_arms:
            return np.eye(self.n_arms)[t - 1]
        rewards, costs = np.zeros(self.n_arms), np.zeros((self.n_arms, len(self.scale)))
        for asked, arm, chance, reward, cost in self.reports:
            if asked > self.n_arms:
                rewards[arm] += reward / chance
                costs[arm] += self.scale * cost / chance
        v, theta = self.prices()
        eta, explore = self.rates(t)
        eps = min(0.5 / self.n_arms, 0.5 * explore)
        p = softmax(eta * (rewards - theta * (costs @ v)) / (1 + theta))
        return (1 - self.n_arms * eps) * p + eps

    def learn(self, t: int, arm: int, chance: float, reward: float, cost: float | Floats) -> None:
        paid = np.append(cost, 1.0) if self.ends else np.atleast_1d(cost)
        self.reports.append((t, arm, chance, reward, paid))


class PlainAdaPrices(PlainPrices):
    """The same with V, the sum of squares of what rounds were worth, in the place of t."""

    worth = 0.0

    def rates(self, t: int) -> tuple[float, float]:
        part = math.log(self.n_arms) / self.n_arms
        eta = RATE * math.sqrt(part / (1 + self.worth))
        return eta, math.sqrt(part / t) * math.sqrt((1 + self.worth) / (1 + t))

    def learn(self, t: int, arm: int, chance: float, reward: float, cost: float | Floats) -> None:
        v, theta = self.prices()
        super().learn(t, arm, chance, reward, cost)
        if t > self.n_arms:
            paid = theta * float(v @ (self.scale * self.reports[-1][-1]))
            self.worth += ((reward - paid) / (1 + theta)) ** 2


@pytest.mark.parametrize(
    ("text", "budget", "horizon"),
    [
        ("two_point:rewards=[.9,.6,.3],costs=[.6,.4,.9],cost_min=.2", [400.0], None),
        ("two_point:rewards=[.9,.6,.3],costs=[.6,.4,.9],cost_min=.2", [400.0], 1500),
        ("bernoulli:rewards=[.9,.6,.3],costs=[[.6,.2],[.4,.5],[.9,.1]]", [300.0, 200.0], 900),
    ],
)
@pytest.mark.parametrize("out", [1, 20])
@pytest.mark.parametrize(
    ("policy", "plain"), [("exp3++.prices", PlainPrices), ("exp3++.ada-prices", PlainAdaPrices)]
)
def test_follows_the_formula(
    policy: str, plain: Any, text: str, budget: list[float], horizon: int | None, out: int
) -> None:
    world, told = worlds.make(text, budget), {"n_resources": len(budget), "horizon": horizon}
    live = make_live(world, policy, budget=budget, **told)
    learner = plain(3, live.problem.budget * live.problem.unit_scale, horizon)
    assert largest_deviation(live, learner, world, scale(150, 250), out=out) < EXACT


def test_with_one_resource_it_is_the_price_policy_while_no_gap_is_clear() -> None:
    world = worlds.misleading_ratio()
    one, many = (
        purse.simulate(policy, world, 500, n_paths=5)
        for policy in ("exp3++.price", "exp3++.prices")
    )
    assert one.pulls.tolist() == many.pulls.tolist()


def test_passes_the_checks_with_two_resources_and_free_pulls() -> None:
    two = worlds.bernoulli([0.9, 0.6, 0.3], [[0.6, 0.2], [0.4, 0.5], [0.9, 0.1]])
    free = worlds.pricing(prices=[2, 4], chances=[0.9, 0.5], customers=150)
    passes("exp3++.prices", two, horizon=120)
    for policy in ("exp3++.prices", "exp3++.ada-prices"):
        passes(policy, free)
