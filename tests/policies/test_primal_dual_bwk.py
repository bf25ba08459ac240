import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import primal_dual_bwk
from purse.testing import check_policy
from purse.types import Floats, Problem
from tests.support.knapsack_learners import three_arms, two_budgets, two_resources
from tests.support.policies import follows, passes, tell_all
from tests.support.soak import SOAK, scale

ROUNDS = scale(400, 2000)


class Plain:
    """The formula written out for any number of resources, time included where there is a
    horizon.
    """

    def __init__(
        self, n_arms: int, c_rad: float, budgets: list[float], horizon: int | None = None
    ) -> None:
        self.c_rad, self.n_arms = c_rad, n_arms
        self.budgets = [*budgets, float(horizon)] if horizon else budgets
        self.horizon, self.budget = horizon, min(self.budgets)
        self.prices = np.ones(len(self.budgets))
        self.eps = math.sqrt(math.log(len(self.budgets)) / self.budget)
        self.pulls, self.rewards = np.zeros((2, n_arms))
        self.costs = np.zeros((n_arms, len(budgets)))

    def rad(self, mean: float, n: float) -> float:
        return math.sqrt(self.c_rad * mean / n) + self.c_rad / n

    def bounds(self, arm: int) -> tuple[float, Floats]:
        n = float(self.pulls[arm])
        upper, lower = 1.0, np.zeros(len(self.budgets))
        if n:
            reward = float(self.rewards[arm]) / n
            upper = min(1.0, reward + self.rad(reward, n))
            for j in range(self.costs.shape[1]):
                cost = float(self.costs[arm, j]) * self.budget / self.budgets[j] / n
                lower[j] = max(0.0, cost - self.rad(cost, n))
        if self.horizon:
            lower[-1] = self.budget / self.horizon
        return upper, lower

    def probabilities(self, t: int) -> Floats:
        if t <= self.n_arms:
            return np.eye(self.n_arms)[t - 1]
        scores = []
        for i in range(self.n_arms):
            upper, lower = self.bounds(i)
            scores.append(
                upper / float(self.prices @ lower) if self.prices @ lower > 0 else math.inf
            )
        best = np.isclose(scores, max(scores), rtol=1e-12, atol=0)
        return best / best.sum()

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: Any) -> None:
        if t > self.n_arms:
            self.prices *= (1 + self.eps) ** self.bounds(arm)[1]
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost


def test_rounds_by_hand() -> None:
    live = purse.Policy("primal-dual-bwk:c_rad=0.01", n_arms=2, budget=100, cost_min=0.1, seed=0)
    assert tell_all(live, (1, 0.49), (0.25, 0.25)) == [0, 1]
    # with one pull rad(x) = sqrt(0.01 x) + 0.01: arm 0 has 1 / (0.49 - 0.08) = 2.44, arm 1 has
    # (0.25 + 0.06) / (0.25 - 0.06) = 1.63
    assert live.probabilities().tolist() == [1, 0]
    assert tell_all(live, (0, 1)) == [0]
    # arm 0: u = 0.5 + sqrt(0.01 * 0.5 / 2) + 0.005 = 0.555, l = 0.745 - sqrt(0.01 * 0.745 / 2) -
    # 0.005 = 0.679, 0.817 in all
    assert live.state.upper[0] == pytest.approx(0.555)
    assert live.state.lower[0] == pytest.approx([0.67897], abs=1e-5)
    assert live.probabilities().tolist() == [0, 1]
    assert tell_all(live, (0.25, 0.25)) == [1]
    # arm 1: (0.25 + sqrt(0.00125) + 0.005) / (0.25 - sqrt(0.00125) - 0.005) = 0.29036 / 0.20964 =
    # 1.385
    assert live.state.scores == pytest.approx([0.81742, 1.38499], abs=1e-5)
    assert tell_all(live, (0.25, 0.25)) == [1]


@pytest.mark.parametrize(("out", "horizon"), [(30, None), (1, 20_000), (30, 4000)])
def test_follows_the_formula(out: int, horizon: int | None) -> None:
    plain, told = Plain(3, 0.1, [6000], horizon), {"budget": 6000, "horizon": horizon}
    follows("primal-dual-bwk:c_rad=0.1", plain, three_arms(), ROUNDS, out=out, **told)


@pytest.mark.parametrize(("out", "horizon"), [(20, None), (1, 8000)])
def test_follows_the_formula_with_two_resources(out: int, horizon: int | None) -> None:
    plain = Plain(3, 0.1, [3000, 2000], horizon)
    told = {"budget": [3000, 4000], "n_resources": 2, "horizon": horizon}
    live = follows("primal-dual-bwk:c_rad=0.1", plain, two_resources(), ROUNDS, out=out, **told)
    assert plain.pulls.all()
    assert live.state.prices == pytest.approx(plain.prices / plain.prices.max(), rel=1e-9)


def test_the_radius_of_theory_counts_time_as_a_resource() -> None:
    for changes, expected in (
        ({}, 3 * 100),
        ({"horizon": 80}, 2 * 3 * 80),
        ({"n_resources": 4}, 4 * 3 * 100),
    ):
        problem = Problem.of(n_arms=3, budget=50, cost_min=0.5, **changes)
        assert primal_dual_bwk.params(problem, c_rad="theory").c_rad == pytest.approx(
            math.log(expected)
        )
        assert primal_dual_bwk.params(problem).c_rad == 1


def test_budgets_are_rescaled_to_the_scarcest() -> None:
    known = primal_dual_bwk.params(two_budgets([50, 200], 80))
    assert known.factors.tolist() == [1, 0.5]
    assert known.pace == 50 / 80
    assert known.rise == pytest.approx(math.log(1 + math.sqrt(math.log(3) / 50)))
    scarce = primal_dual_bwk.params(Problem.of(n_arms=3, budget=200, cost_min=0.5, horizon=80))
    assert (scarce.pace, scarce.factors.tolist()) == (1, [0.4])


def test_prices_stay_finite_where_one_resource_is_hardly_used() -> None:
    world = worlds.function("atoms")(
        probabilities=[[1], [1]], rewards=[[1], [0.5]], costs=[[[1, 0]], [[0.5, 1]]]
    )
    passes("primal-dual-bwk:c_rad=0.5", world)
    run = purse.simulate("primal-dual-bwk:c_rad=0.5", world, [1e6, 1e6], n_paths=1)
    assert run.rounds[0] >= 1e6


@pytest.mark.parametrize(
    ("horizon", "c_rad"), [(200, 0.1), *([(None, 1), (None, 0.1)] if SOAK else [])]
)
def test_passes_the_checks_with_two_resources(horizon: int | None, c_rad: float) -> None:
    policy = f"primal-dual-bwk:c_rad={c_rad}"
    check_policy(policy, two_resources(), horizon=horizon, quick=not SOAK)
