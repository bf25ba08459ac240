from __future__ import annotations

import math

import pytest

import purse
from purse import worlds
from purse.testing import check_policy
from purse.types import Floats
from tests.policies.test_exp3pp_prices import PlainPrices
from tests.support.policies import EXACT, largest_deviation, make_live, refuses, tell_all

RATE = 0.7


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


def test_rounds_by_hand() -> None:
    live = purse.Policy("exp3++.ada-prices", n_arms=2, budget=10, cost_min=0.5, horizon=20, seed=0)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    assert live.probabilities().tolist() == [0.5, 0.5]
    (arm,) = tell_all(live, (1, 0.5))
    # the report of t = 3 finds S = (1.5, 1), kappa = 0.2633, v = (0.5329, 0.4671), theta = 1 /
    # 1.2664 = 0.7896; g = (1 - 0.7896 (0.5329 0.5 + 0.4671 0.5)) / 1.7896 = 0.3382, V = 0.1144
    assert live.state.worth[0] == pytest.approx(0.1144, abs=1e-4)
    # t = 4: score = 0.4070 as in exp3++.prices; eta = 0.7 sqrt(ln 2 / 2 / 1.1144) = 0.3904,
    # p = 1 / (1 + exp(-0.1589)) = 0.5396; eps = 0.2944 sqrt(1.1144 / 5) / 2 = 0.0695
    # p~ = (1 - 0.1390) 0.5396 + 0.0695 = 0.5341
    assert live.probabilities()[arm] == pytest.approx(0.5341, abs=1e-4)


@pytest.mark.parametrize(
    ("text", "budget", "horizon"),
    [
        ("two_point:rewards=[.9,.6,.3],costs=[.6,.4,.9],cost_min=.2", [400.0], None),
        ("bernoulli:rewards=[.9,.6,.3],costs=[[.6,.2],[.4,.5],[.9,.1]]", [300.0, 200.0], 900),
    ],
)
@pytest.mark.parametrize("out", [1, 20])
def test_follows_the_formula(text: str, budget: list[float], horizon: int | None, out: int) -> None:
    world, told = worlds.make(text, budget), {"n_resources": len(budget), "horizon": horizon}
    live = make_live(world, "exp3++.ada-prices", budget=budget, **told)
    plain = PlainAdaPrices(3, live.problem.budget * live.problem.unit_scale, horizon)
    assert largest_deviation(live, plain, world, 250, out=out) < EXACT


def test_it_learns_from_small_rewards() -> None:
    ads = "ad_slots:clicks=[.1,.05,.2],values=[.6,1,.2],prices=[.5,.9,.1],views=4000"
    gains = [
        purse.simulate(policy, ads, [60, 2400], n_paths=10).gain
        for policy in ("exp3++.ada-prices", "exp3++.prices")
    ]
    assert gains[0].mean() > 1.1 * gains[1].mean()


def test_passes_the_checks_with_free_pulls_and_refuses() -> None:
    world = worlds.pricing(prices=[2, 4], chances=[0.9, 0.5], customers=150)
    check_policy("exp3++.ada-prices", world, quick=True)
    refuses("exp3++.ada-prices", "rate=0", "rate=x", fields=("plays",))
