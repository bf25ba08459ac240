from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.bernoulli import bernoulli
from purse.worlds.theorem2 import theorem2
from tests.support.worlds import same_tables

POLICIES = [
    "fixed:arm=0",
    "fixed:arm=2",
    "uniform",
    "exp3.bwk",
    "exp3++.bwk",
    "exp3++.price",
    "oracle",
]


@pytest.mark.parametrize(
    ("options", "means"),
    [
        ({"n_arms": 4, "budget": 100, "cost_min": 0.25}, [0.525, 0.5, 0.5, 0.5]),
        (
            {"n_arms": 4, "budget": 100, "cost_min": 0.25, "scale": 1, "best": 3},
            [0.5, 0.5, 0.5, 0.6],
        ),
        ({"n_arms": 2, "budget": 800, "cost_min": 1, "scale": 4, "best": 1}, [0.5, 0.7]),
        ({"n_arms": 1, "budget": 0.25, "cost_min": 1}, [1]),
        ({"n_arms": 3, "budget": 1e9, "cost_min": 2, "scale": 0}, [0.5, 0.5, 0.5]),
    ],
    ids=str,
)
def test_means(options: dict[str, Any], means: list[float]) -> None:
    world = theorem2(**options)
    assert world.reward_means is not None
    assert world.cost_means is not None
    np.testing.assert_allclose(world.reward_means, means, rtol=1e-15)
    assert world.cost_means.tolist() == [[options["cost_min"]]] * len(means)


def test_is_a_bernoulli_world_with_equal_fixed_costs() -> None:
    world = theorem2(n_arms=4, budget=100, cost_min=0.25, best=2)
    assert same_tables(world, bernoulli([0.5, 0.5, 0.525, 0.5], [0.25] * 4))


def test_draws_are_coins_and_one_of_them_is_better() -> None:
    n, means = 40_000, np.array([0.5, 0.75, 0.5])
    rewards, units = draws(
        theorem2(n_arms=3, budget=3, cost_min=0.25, scale=0.5, best=1), n, seed=6
    )
    assert set(np.unique(rewards)) == {0, 1}
    assert (np.abs(rewards.mean(axis=0) - means) < 4 * np.sqrt(means * (1 - means) / n)).all()
    assert (units == 250_000_000).all()


@pytest.mark.parametrize("place", [1, 10**15])
def test_draws_of_the_best_arm_alone_depend_on_which_is_best(place: int) -> None:
    (first, _), (second, _) = (
        draws(theorem2(n_arms=3, budget=3, cost_min=0.25, scale=0.5, best=best), 200, first=place)
        for best in (0, 1)
    )
    assert (first[:, 2] == second[:, 2]).all()
    assert (first[:, 0] >= second[:, 0]).all()
    assert (first[:, 1] <= second[:, 1]).all()


@pytest.mark.parametrize(
    ("budget", "cost", "rounds"),
    [
        (1_000, 0.5, 2_000),
        (1_000, 0.3, 3_333),
        (1_000.5, 0.25, 4_002),
        (1_000, 1, 1_000),
        (999.9, 7, 142),
    ],
)
def test_there_are_as_many_rounds_for_everyone(budget: float, cost: float, rounds: int) -> None:
    world = theorem2(n_arms=3, budget=budget, cost_min=cost)
    for policy in POLICIES:
        run = purse.simulate(policy, world, budget, n_paths=10, seed=5)
        assert (run.rounds == rounds).all(), policy
        assert (run.pulls.sum(axis=1) == rounds).all(), policy


def test_a_wrong_arm_loses_what_the_docstring_says_and_nobody_loses_more() -> None:
    budget, cost, arms, paths = 1_000, 0.5, 3, 400
    world, most = (
        theorem2(n_arms=arms, budget=budget, cost_min=cost, best=1),
        0.25 * np.sqrt(arms * budget / cost),
    )
    best, wrong, mixed = (
        purse.simulate(policy, world, budget, n_paths=paths, seed=7).gain
        for policy in ("fixed:arm=1", "fixed:arm=0", "uniform")
    )
    for regret, expected in ((best - wrong, most), (best - mixed, most * 2 / 3)):
        assert abs(regret.mean() - expected) < 4 * regret.std(ddof=1) / np.sqrt(paths)


@pytest.mark.parametrize("scale", [0.1, 0.25, 0.3, 0.5, 1])
def test_the_least_budget_makes_the_best_arm_certain(scale: float) -> None:
    for arms in (1, 3, 7, 50):
        for cost in (0.1, 0.3, 1):
            least = 4 * scale**2 * arms * cost
            means = theorem2(n_arms=arms, budget=least, cost_min=cost, scale=scale).reward_means
            assert means is not None
            np.testing.assert_allclose(means[0], 1, rtol=1e-12)
            with pytest.raises(
                purse.InvalidInput,
                match=re.escape(
                    f"must be at least 4 scale² K c = {least:g}, so that the best arm's "
                    "mean is at most 1"
                ),
            ):
                theorem2(n_arms=arms, budget=least * 0.999, cost_min=cost, scale=scale)
