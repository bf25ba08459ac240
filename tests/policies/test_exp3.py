from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.kernels.horizon import rounds_of
from purse.policies import exp3
from purse.testing import check_policy
from purse.types import Floats, Problem, World
from tests.support.policies import EXACT, frequency_surprise, largest_deviation, make_live, tell_all


class PlainExp3:
    """The rule with log-weights; the softmax is recomputed from them in every round."""

    def __init__(self, n_arms: int, gamma: float) -> None:
        self.n_arms, self.gamma, self.log_weights = n_arms, gamma, np.zeros(n_arms)

    def probabilities(self, t: int) -> Floats:
        weights = np.exp(self.log_weights - self.log_weights.max())
        return (1 - self.gamma) * weights / weights.sum() + self.gamma / self.n_arms

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.log_weights[arm] += self.gamma / self.n_arms * reward / probability


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.3, n_arms), np.linspace(0.35, 0.9, n_arms), cost_min=0.2
    )


def test_rounds_by_hand() -> None:
    live = purse.Policy("exp3", n_arms=2, budget=100, cost_min=0.5, seed=0)
    g = math.sqrt(2 * math.log(2) / ((math.e - 1) * 200))  # T = 100 / 0.5 = 200, gamma = 0.0635134
    assert live.probabilities().tolist() == [0.5, 0.5]

    assert tell_all(live, (1, 0.5)) == [1]
    log1 = g / 2 * 1 / 0.5  # 0.0635134
    p0 = (1 - g) / (1 + math.exp(log1)) + g / 2  # 0.4851351
    assert p0 == pytest.approx(0.4851351, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0.5, 0.8)) == [0]
    log0 = g / 2 * 0.5 / p0  # 0.0327298; the cost of 0.8 does not count
    p0 = (1 - g) * math.exp(log0) / (math.exp(log0) + math.exp(log1)) + g / 2  # 0.4927934
    assert p0 == pytest.approx(0.4927934, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (0, 1)) == [0]  # a reward of 0 changes nothing
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)

    assert tell_all(live, (1, 1)) == [1]
    log1 += g / 2 / (1 - p0)  # 0.0635134 + 0.0626110
    p0 = (1 - g) * math.exp(log0) / (math.exp(log0) + math.exp(log1)) + g / 2  # 0.4781502
    assert p0 == pytest.approx(0.4781502, abs=1e-7)
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


@pytest.mark.parametrize(("n_arms", "gamma"), [(3, None), (10, None), (7, 0.5), (4, 1.0)])
@pytest.mark.parametrize("out", [1, 40])
def test_follows_the_formula(n_arms: int, gamma: float | None, out: int) -> None:
    world = world_of(n_arms)
    live = make_live(world, f"exp3:gamma={gamma}" if gamma else "exp3", budget=2000)
    # T = 2000 / 0.2
    plain = PlainExp3(
        n_arms, gamma or math.sqrt(n_arms * math.log(n_arms) / ((math.e - 1) * 10_000))
    )
    assert largest_deviation(live, plain, world, 2000, out=out) < EXACT


def test_rounds_are_the_horizon_or_what_the_budget_pays_for() -> None:
    def rounds(**changes: object) -> int:
        return rounds_of(problem(**changes), "exp3")

    assert rounds() == 200
    assert rounds(budget=10, cost_min=0.1) == 100  # floats give 99.99 or 100.01 as easily
    assert rounds(budget=10.05, cost_min=0.1) == 101
    assert rounds(budget=400, cost_min=2, cost_max=4) == 200
    assert rounds(horizon=30) == 30
    assert rounds(horizon=3000) == 3000
    # the second resource runs out first
    assert rounds(budget=[100, 60], cost_min=[[0.5, 1], [1, 0.5]], n_resources=2) == 120
    # and does not count where it may be left untouched
    assert rounds(budget=[100, 60], cost_min=[[0.5, 1], [1, 0]], n_resources=2) == 200


def test_refuses_where_no_number_of_rounds_is_known() -> None:
    told = {"budget": [100, 60], "cost_min": [[0.5, 0], [0, 0.5]], "n_resources": 2}
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3 needs to know how many rounds there are: pass horizon=\.\.\.",
    ):
        exp3.params(problem(**told))
    assert exp3.params(problem(**told, horizon=200)) == exp3.params(problem())
    assert exp3.params(problem(**told), gamma=0.25).gamma == 0.25


def test_gamma_as_numbers() -> None:
    assert exp3.params(problem()).gamma == pytest.approx(0.0635134, abs=1e-7)
    assert exp3.params(problem(budget=0.5)).gamma == pytest.approx(
        math.sqrt(2 * math.log(2) / (math.e - 1))
    )
    assert exp3.params(problem(n_arms=10, horizon=3)).gamma == 1
    assert exp3.params(problem(n_arms=1)).gamma == 0


def test_is_blind_to_costs() -> None:
    cheap, dear = (
        purse.Policy("exp3", n_arms=3, budget=1000, cost_min=0.5, seed=5) for _ in range(2)
    )
    rewards = np.random.default_rng(0).random(300)
    assert tell_all(cheap, *[(r, 0.5) for r in rewards]) == tell_all(
        dear, *[(r, 1.0) for r in rewards]
    )
    assert (cheap.probabilities() == dear.probabilities()).all()


def test_is_exp3_bwk_where_every_pull_costs_the_most() -> None:
    world = worlds.function("bernoulli")([0.9, 0.6, 0.3], [1, 1, 1])
    runs = [purse.simulate(policy, world, 1000, n_paths=5) for policy in ("exp3", "exp3.bwk")]
    assert (runs[0].pulls == runs[1].pulls).all()


def test_regret_over_a_fixed_number_of_rounds_is_within_the_bound() -> None:
    world = worlds.function("bernoulli")([0.5, 0.8, 0.5, 0.5], [1, 1, 1, 1])
    run = purse.simulate("exp3", world, 10_000, n_paths=50)
    # expected regret is at most 2 sqrt((e - 1) 10^4 4 ln 4) = 617; learning nothing loses 2250
    error = 5 * run.gain.std(ddof=1) / math.sqrt(50)
    assert 8000 - run.gain.mean() < 617 + error


def test_arms_come_as_often_as_their_probabilities_say() -> None:
    world = world_of(5)
    assert frequency_surprise(make_live(world, "exp3:gamma=0.3"), world, 3000) < 4


def test_plays_several_resources() -> None:
    check_policy("exp3", worlds.function("bernoulli")([0.9, 0.4], [[0.5, 1], [1, 0.5]]))


def test_one_arm() -> None:
    live = purse.Policy("exp3", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5)) == [0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


@pytest.mark.parametrize("gamma", [2, -0.1, "x", True])
def test_refuses_a_gamma_that_is_none(gamma: object) -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^gamma=.*: must be a number at least 0 and at most 1"
    ):
        purse.Policy(f"exp3:gamma={gamma}", n_arms=2, budget=10, cost_min=0.5)


def test_refuses_several_plays() -> None:
    with pytest.raises(
        purse.InvalidInput, match=r"^exp3 plays problems with plays=1, and this one has plays=2$"
    ):
        make_policy("exp3", problem(plays=2))
