from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.job import make_policy
from purse.types import Floats, Problem, World
from tests.support.policies import (
    EXACT,
    frequency_surprise,
    largest_deviation,
    make_live,
    plain_rates,
    tell_all,
)

Rates = Callable[..., Floats]


class PlainPrice:
    """Algorithm D7: every score with today's price, every bound in every round."""

    def __init__(
        self,
        rates: Rates,
        n_arms: int,
        c_min: float,
        *,
        alpha: float = 3.0,
        beta: float | None = None,
    ) -> None:
        self.rates, self.n_arms = rates, n_arms
        self.bounds = {
            "c_min": c_min,
            "lam": c_min,
            "alpha": alpha,
            "beta": beta or 256 / c_min**2,
            "direct": True,
        }
        self.reward_estimates, self.cost_estimates, self.pulls, self.rewards, self.costs = (
            np.zeros(n_arms) for _ in range(5)
        )
        self.rounds_with_a_gap = 0

    def probabilities(self, t: int) -> Floats:
        k = self.n_arms
        if t <= k:
            return np.eye(k)[t - 1]
        theta = self.rewards.sum() / self.costs.sum() if self.costs.sum() else 0.0
        scores = (self.reward_estimates - theta * self.cost_estimates) / (1 + theta)
        root = math.sqrt(math.log(k) / (t * k))
        weights = np.array([math.exp(root * (score - scores.max())) for score in scores])
        cap = min(1 / (2 * k), 0.5 * root)
        eps = self.rates(t, cap, self.pulls, self.rewards, self.costs, **self.bounds)
        self.rounds_with_a_gap += bool((eps < cap).any())
        return (1 - eps.sum()) * weights / weights.sum() + eps

    def learn(self, t: int, arm: int, probability: float, reward: float, cost: float) -> None:
        self.pulls[arm] += 1
        self.rewards[arm] += reward
        self.costs[arm] += cost
        if t > self.n_arms:
            self.reward_estimates[arm] += reward / probability
            self.cost_estimates[arm] += cost / probability


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.5, **changes})


def world_of(n_arms: int, cost_min: float = 0.2) -> World:
    return worlds.function("two_point")(
        np.linspace(0.95, 0.1, n_arms),
        np.linspace(cost_min + 0.05, 0.95, n_arms),
        cost_min=cost_min,
    )


def test_initial_pulls_are_the_arms_in_order_and_certain() -> None:
    live = purse.Policy("exp3++.price", n_arms=4, budget=100, cost_min=0.5)
    for i in range(4):
        assert live.probabilities().tolist() == np.eye(4)[i].tolist()
        assert tell_all(live, (1, 0.5)) == [i]


def test_three_rounds_by_hand() -> None:
    live = purse.Policy("exp3++.price", n_arms=2, budget=100, cost_min=0.5, seed=0)
    tell_all(live, (1, 0.5), (0, 1))
    assert live.probabilities() == pytest.approx([0.5, 0.5], abs=1e-15)

    assert tell_all(live, (0.5, 0.8)) == [0]
    theta = (1 + 0 + 0.5) / (0.5 + 1 + 0.8)
    score0 = (0.5 / 0.5 - theta * 0.8 / 0.5) / (1 + theta)
    root = math.sqrt(math.log(2) / (4 * 2))
    eps = 0.5 * root
    p0 = (1 - 2 * eps) * math.exp(root * score0) / (math.exp(root * score0) + 1) + eps
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)
    q = 1 - p0

    assert tell_all(live, (1, 0.6)) == [1]
    theta = (1 + 0 + 0.5 + 1) / (0.5 + 1 + 0.8 + 0.6)
    score0 = (0.5 / 0.5 - theta * 0.8 / 0.5) / (1 + theta)
    score1 = (1 / q - theta * 0.6 / q) / (1 + theta)
    root = math.sqrt(math.log(2) / (5 * 2))
    eps = 0.5 * root
    p0 = (1 - 2 * eps) * math.exp(root * score0) / (
        math.exp(root * score0) + math.exp(root * score1)
    ) + eps
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)
    q0 = p0

    assert tell_all(live, (0, 1)) == [0]
    theta = (1 + 0 + 0.5 + 1 + 0) / (0.5 + 1 + 0.8 + 0.6 + 1)
    score0 = (0.5 / 0.5 + 0 - theta * (0.8 / 0.5 + 1 / q0)) / (1 + theta)
    score1 = (1 / q - theta * 0.6 / q) / (1 + theta)
    root = math.sqrt(math.log(2) / (6 * 2))
    eps = 0.5 * root
    p0 = (1 - 2 * eps) * math.exp(root * score0) / (
        math.exp(root * score0) + math.exp(root * score1)
    ) + eps
    assert live.probabilities() == pytest.approx([p0, 1 - p0], abs=1e-15)


@pytest.mark.parametrize("n_arms", [3, 10])
def test_plain_formula_at_the_defaults(n_arms: int) -> None:
    world = world_of(n_arms)
    assert (
        largest_deviation(
            make_live(world, "exp3++.price"), PlainPrice(plain_rates, n_arms, 0.2), world, 10_000
        )
        < EXACT
    )


@pytest.mark.parametrize(("alpha", "n_rounds"), [(3, 20_000), (0.2, 10_000)])
def test_plain_formula_where_gaps_bind(alpha: float, n_rounds: int) -> None:
    world = world_of(3)
    plain = PlainPrice(plain_rates, 3, 0.2, alpha=alpha, beta=0.01)
    assert (
        largest_deviation(
            make_live(world, f"exp3++.price:beta=0.01,alpha={alpha}"), plain, world, n_rounds
        )
        < EXACT
    )
    assert plain.rounds_with_a_gap > 2000


@pytest.mark.parametrize("beta", [0.01, None])
def test_plain_formula_with_late_reports(beta: float | None) -> None:
    world = world_of(3)
    live = make_live(world, f"exp3++.price:beta={beta or 'theory'}")
    assert (
        largest_deviation(live, PlainPrice(plain_rates, 3, 0.2, beta=beta), world, 10_000, out=200)
        < EXACT
    )


def test_plain_formula_with_costs_above_one() -> None:
    world = worlds.function("two_point")([0.9, 0.5, 0.2], [3, 2, 1.5], cost_min=1, cost_max=5)
    live = make_live(world, "exp3++.price:beta=0.01")
    assert largest_deviation(live, PlainPrice(plain_rates, 3, 0.2, beta=0.01), world, 5000) < EXACT


@pytest.mark.parametrize("options", ["", ":beta=0.01"])
def test_arms_come_as_often_as_their_probabilities_say(options: str) -> None:
    world = world_of(5)
    assert frequency_surprise(make_live(world, f"exp3++.price{options}"), world, 5000) < 4


def test_finds_the_arm_that_a_budget_buys_most_of_where_the_mean_ratio_misleads() -> None:
    world = worlds.function("misleading_ratio")()
    ours = purse.simulate("exp3++.price", world, budget=10_000, n_paths=20)
    paper = purse.simulate("exp3++.bwk", world, budget=10_000, n_paths=20)
    assert (ours.pulls[:, 1] > ours.pulls[:, 0]).all()
    assert (paper.pulls[:, 0] > paper.pulls[:, 1]).all()
    assert ours.gain.min() > paper.gain.max()


@pytest.mark.parametrize("options", ["", ":beta=0.01"])
def test_one_arm(options: str) -> None:
    live = purse.Policy(f"exp3++.price{options}", n_arms=1, budget=10, cost_min=0.5)
    assert tell_all(live, (1, 0.5), (0, 1), (1, 0.5), (0.5, 0.5)) == [0, 0, 0, 0]
    assert live.probabilities().tolist() == [1.0]


def test_all_reports_missing_leaves_all_arms_equal() -> None:
    live = purse.Policy("exp3++.price:beta=0.01", n_arms=4, budget=100, cost_min=0.5)
    for _ in range(50):
        live.ask()
    assert live.probabilities() == pytest.approx([0.25] * 4)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("beta=-1", r"beta=-1: must be a number above 0"),
        ("beta=x", r"beta='x': must be 'theory' or a positive number"),
        ("alpha=0", r"alpha=0: must be a number above 0"),
        ("aplha=1", r"unknown option of exp3\+\+.price 'aplha'; did you mean 'alpha'\?"),
    ],
)
def test_options_are_checked(option: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=message):
        purse.Policy(f"exp3++.price:{option}", n_arms=2, budget=100, cost_min=0.5)


def test_refuses_several_plays_and_resources_in_one_line() -> None:
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3\+\+.price plays problems with plays=1, and this one has plays=2$",
    ):
        make_policy("exp3++.price", problem(plays=2))
    with pytest.raises(
        purse.InvalidInput,
        match=r"^exp3\+\+.price plays problems with n_resources=1, and this one has n_resources=2$",
    ):
        make_policy("exp3++.price", problem(n_resources=2))
