from __future__ import annotations

from random import Random

import pytest

from purse.lab.theory.knapsack import dynamic_optimum, exact, greedy
from purse.worlds.bernoulli import bernoulli
from tests.support.knapsacks import (
    SEEDS,
    alone,
    best_multiset,
    efficiency,
    numbers,
    pull_by_pull,
    some_knapsack,
)


def test_greedy_is_played_pull_by_pull_and_exact_is_the_best_of_all_multisets() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        rewards, costs, money = numbers(arms, budget)
        simple, most = greedy(rewards, costs, money), exact(rewards, costs, money)
        assert simple == pull_by_pull(arms, budget)
        assert most == best_multiset(arms, budget)
        single = [budget // cost * reward / 16 for reward, cost in arms]
        best = max(range(len(arms)), key=lambda i: efficiency(arms[i]))
        assert single[best] <= simple <= most
        assert max(single) <= most
        assert most <= simple + rewards[best] <= simple + max(rewards)
        assert most <= money * float(efficiency(arms[best])) * (1 + 1e-12)


def test_an_arm_alone_is_paid_for_as_often_as_its_cost_fits() -> None:
    for seed in SEEDS:
        arms, budget = some_knapsack(seed)
        rewards, costs, money = numbers(arms, budget)
        arm = seed % len(arms)
        assert alone(arm, bernoulli(rewards, costs), money)[1] == budget // arms[arm][1]


def test_a_fixed_arm_may_beat_greedy_by_less_than_one_reward() -> None:
    arms = {"rewards": [1, 0.75], "costs": [1, 0.8], "budget": 1.6}
    assert greedy(**arms) == 1  # the pull at cost 1 leaves 0.6, which buys nothing
    assert alone(1, "table:rewards=[[1,.75],[1,.75],[1,.75]],costs=[1,.8]", 1.6) == (1.5, 2)
    assert exact(**arms) == 1.5


def test_greedy_takes_the_first_of_two_arms_that_are_equally_efficient() -> None:
    assert greedy(rewards=[0.75, 0.5], costs=[0.75, 0.5], budget=1) == 0.75
    assert greedy(rewards=[0.5, 0.75], costs=[0.5, 0.75], budget=1) == 1


def test_greedy_takes_the_first_of_two_arms_that_are_equal_in_decimals() -> None:
    assert 0.175 / 350_000_000 != 0.05 / 100_000_000
    assert greedy(rewards=[0.175, 0.05], costs=[0.35, 0.1], budget=0.35) == 0.175
    assert greedy(rewards=[0.05, 0.175], costs=[0.1, 0.35], budget=0.35) == pytest.approx(0.15)
    for seed in SEEDS:
        random = Random(seed)
        tenths, *costs, budget = (random.randint(1, most) for most in (10, 99, 99, 300))
        first, second = costs
        rewards = [tenths * cost / 1000 for cost in costs]  # so many tenths of the cost
        spent = budget // first * first + budget % first // second * second
        found = greedy(rewards, [cost / 100 for cost in costs], budget / 100)
        assert found == pytest.approx(tenths * spent / 1000, rel=1e-12)


def test_greedy_tells_arms_apart_that_differ_in_the_ninth_digit() -> None:
    assert greedy(rewards=[0.5, 0.500000001], costs=[0.5, 0.5], budget=0.5) == 0.500000001
    assert greedy(rewards=[0, 0], costs=[0.5, 0.3], budget=3) == 0


def test_a_budget_of_1000_at_cost_a_tenth_buys_10000_pulls() -> None:
    world = "bernoulli:rewards=[1],costs=[.1]"
    assert greedy(rewards=[1], costs=[0.1], budget=1000) == 10_000
    assert exact(rewards=[1], costs=[0.1], budget=1000) == 10_000
    assert dynamic_optimum(world, 1000) == 10_000
    assert dynamic_optimum(world, 100, horizon=999) == 999
    assert dynamic_optimum(world, 100, horizon=1_001) == 1_000
    assert alone(0, world, 1000) == (10_000, 10_000)


def test_amounts_may_be_texts_and_finer_than_floats() -> None:
    assert greedy(rewards=[1, 1], costs=["0.3", "0.100000001"], budget="0.3") == 2
    assert (
        greedy(rewards=[1, 0.5], costs=["4000000000", "0.000000001"], budget="4000000000.000000001")
        == 2_000_000_000_000_000_000.5
    )
    assert exact(rewards=[1], costs=["0.1"], budget="0.299999999") == 2
    assert dynamic_optimum("bernoulli:rewards=[1],costs=[.1]", "0.3") == 3


def test_a_budget_below_every_cost_buys_nothing() -> None:
    changing = "switching:segments=1,rewards=[[1,0],[0,1]],costs=[.1,.3]"
    for budget in (1e-9, 0.05, 0.099999999):
        assert greedy(rewards=[1, 1], costs=[0.1, 0.3], budget=budget) == 0
        assert exact(rewards=[1, 1], costs=[0.1, 0.3], budget=budget) == 0
        assert dynamic_optimum("bernoulli:rewards=[1,1],costs=[.1,.3]", budget) == 0
        assert dynamic_optimum(changing, budget) == 0
