from __future__ import annotations

from fractions import Fraction
from itertools import product
from operator import mul
from random import Random
from typing import Any

import pytest

from purse.lab.theory.knapsack import bounded, dynamic_optimum, exact, greedy, parts
from purse.worlds.bernoulli import bernoulli
from tests.lab.theory.knapsacks import (
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


def test_greedy_takes_the_first_of_two_arms_that_are_equal_in_decimals() -> None:
    assert greedy(rewards=[0.75, 0.5], costs=[0.75, 0.5], budget=1) == 0.75
    assert greedy(rewards=[0.5, 0.75], costs=[0.5, 0.75], budget=1) == 1
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


# the bounded knapsack, with money in hundredths


def capped_knapsack(seed: int) -> tuple[list[int], list[int], list[int], int]:
    """Rewards, costs, caps and a budget, for one to four arms."""
    random = Random(seed)
    n_arms, step = random.randint(1, 4), random.choice([1, 5, 10])
    rewards = [random.randint(0, 16) for _ in range(n_arms)]
    costs = [step * random.randint(1, 100 // step) for _ in range(n_arms)]
    caps = [random.choice([0, 1, 2, 3, 5, 6, 10**9]) for _ in range(n_arms)]
    return rewards, costs, caps, random.randint(1, 400)


def capped_numbers(
    rewards: list[int], costs: list[int], caps: list[int], budget: int
) -> tuple[list[float], list[float], list[int], float]:
    """The same as a user would give it."""
    return [reward / 16 for reward in rewards], [cost / 100 for cost in costs], caps, budget / 100


def best_counts(rewards: list[int], costs: list[int], caps: list[int], budget: int) -> Fraction:
    """Every choice of counts but the last arm's, which then is as large as it can be."""
    *some, last = [
        range(min(cap, budget // cost) + 1) for cap, cost in zip(caps, costs, strict=True)
    ]
    best = Fraction(0)
    for counts in product(*some):
        left = budget - sum(map(mul, counts, costs))
        if left >= 0:
            final = min(left // costs[-1], last[-1])
            best = max(best, Fraction(sum(map(mul, counts, rewards)) + final * rewards[-1], 16))
    return best


def test_bounded_is_the_best_of_all_counts_that_the_caps_allow() -> None:
    for seed in SEEDS:
        given = capped_knapsack(seed)
        rewards, costs, caps, budget = capped_numbers(*given)
        best, free = bounded(rewards, costs, caps, budget), exact(rewards, costs, budget)
        assert best == best_counts(*given)
        assert best <= bounded(rewards, costs, [cap + 1 for cap in caps], budget) <= free
        assert bounded(rewards, costs, 10**9, budget) == free


@pytest.mark.parametrize("caps", [0, [0, 0]])
def test_caps_of_nothing_buy_nothing(caps: Any) -> None:
    assert bounded([1, 0.5], [0.5, 0.2], caps, 10) == 0


def test_bounded_by_hand() -> None:
    # arm 0 pays most per unit, but only once; five times arm 1 would cost 1.25: four fit beside it
    assert bounded(rewards=[1, 0.375], costs=[0.5, 0.25], caps=[1, 5], budget=1.5) == 1 + 4 * 0.375
    # without the pull of arm 0 one more of arm 1 fits: 2 * 0.75 beats 1 + 0
    assert bounded(rewards=[1, 0.75], costs=[1, 0.8], caps=[1, 2], budget=1.6) == 1.5
    assert bounded(rewards=[1, 0.75], costs=[1, 0.8], caps=[1, 1], budget=1.6) == 1


def test_caps_may_be_one_number_and_amounts_texts() -> None:
    assert bounded([1, 1], ["0.1", "0.3"], 3, "1.2") == 6
    assert bounded([1, 1], ["0.1", "0.3"], [3, 3], "1.2") == 6
    assert bounded([1], ["0.1"], 10**30, "0.3") == 3


@pytest.mark.parametrize("most", [5, 100])
@pytest.mark.parametrize("cap", [0, 1, 2, 3, 4, 5, 6, 7, 8, 30, 31, 32, 99, 100, 101])
def test_bundles_make_every_count_up_to_the_cap_and_no_other(cap: int, most: int) -> None:
    if cap >= most:
        assert parts(cap, most) == [0]
        return
    sums = {0}
    for count in parts(cap, most):
        sums |= {count + some for some in sums}
    assert sums == set(range(cap + 1))
    assert len(parts(cap, most)) == cap.bit_length()


def test_an_arm_that_the_budget_cannot_buy_has_no_bundles() -> None:
    assert parts(5, 0) == parts(0, 0) == []
    assert bounded([1, 1], [0.5, 2], [1, 1], 1) == 1


def test_large_knapsacks_by_their_greedy_optimum() -> None:
    # the two better arms use up their caps, and the third what is left, to the last unit
    assert (
        bounded([0.5, 0.25, 0.125], [0.25, 0.25, 0.25], [1000, 20_000, 10**9], 10_000)
        == 500 + 5000 + 19_000 / 8
    )
