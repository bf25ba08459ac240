from __future__ import annotations

import pytest

import purse
from purse import worlds
from purse.types import Floats
from tests.support.index_rules import edges
from tests.support.knapsack_learners import three_arms
from tests.support.policies import EXACT, frequency_surprise, index_deviation, make_live, tell_all


def plain(t: int, i: int, pulls: Floats, rewards: Floats, costs: Floats) -> float:
    return rewards[i] / costs[i]


def test_rounds_by_hand() -> None:
    live = purse.Policy("b-greedy:alpha=0.5", n_arms=2, budget=100, cost_min=0.5, seed=3)
    assert tell_all(live, (1, 0.5), (0, 1)) == [0, 1]
    # t = 3: eps = 0.5 * 2 / 3, ratios (2, 0): p_1 = eps / 2 = 1/6
    assert live.probabilities() == pytest.approx([5 / 6, 1 / 6], abs=1e-15)
    assert tell_all(live, (0, 1)) == [0]
    # t = 4: eps = 1/4, ratios (1 / 1.5, 0): p_1 = 1/8
    assert live.probabilities() == pytest.approx([7 / 8, 1 / 8], abs=1e-15)
    assert tell_all(live, (0, 1)) == [0]
    # t = 5: eps = 1/5, ratios (1 / 2.5, 0): p_1 = 1/10, and this time it comes
    assert live.probabilities() == pytest.approx([9 / 10, 1 / 10], abs=1e-15)
    assert tell_all(live, (1, 1)) == [1]
    # t = 6: eps = 1/6, ratios (1 / 2.5, 1 / 2): p_0 = 1/12
    assert live.probabilities() == pytest.approx([1 / 12, 11 / 12], abs=1e-15)


def test_equal_ratios_share_and_the_report_that_is_missing_comes_first() -> None:
    live = purse.Policy("b-greedy", n_arms=3, budget=100, cost_min=0.5, seed=0)
    first, second, third = live.ask(), live.ask(), live.ask()
    live.tell(first, 1, 1)
    # t = 4: eps = 3/4, 1/4 of the chances for each arm; the rest, 1/4, goes to the two arms without
    # a report
    assert live.probabilities() == pytest.approx([2 / 8, 3 / 8, 3 / 8], abs=1e-15)
    live.tell(second, 0.5, 0.5)
    assert live.probabilities() == pytest.approx([1 / 4, 1 / 4, 1 / 2], abs=1e-15)
    live.tell(third, 0, 1)
    # ratios (1, 1, 0)
    assert live.probabilities() == pytest.approx([3 / 8, 3 / 8, 2 / 8], abs=1e-15)


@pytest.mark.parametrize("alpha", [0, 1, 10])
def test_follows_the_formula(alpha: float) -> None:
    def explore(t: int, n_arms: int) -> float:
        return min(1.0, alpha * n_arms / t)

    assert index_deviation(f"b-greedy:alpha={alpha}", plain, explore=explore) < EXACT


@pytest.mark.parametrize("alpha", [1, 50])
def test_arms_come_as_often_as_their_probabilities_say(alpha: float) -> None:
    live = make_live(three_arms(), f"b-greedy:alpha={alpha}")
    tell_all(live, *[(0.5, 0.5)] * 3)
    assert frequency_surprise(live, three_arms(), 5000) < 4


def test_ties_of_the_greedy_part_are_broken_at_random() -> None:
    world = worlds.function("bernoulli")([1, 1, 1], [0.5, 0.5, 0.5])
    run = purse.simulate("b-greedy:alpha=0", world, budget=1500, n_paths=4)
    n = run.pulls.sum()
    assert n == 12_000
    assert (abs(run.pulls.sum(axis=0) - n / 3) < 4 * (n * (1 / 3) * (2 / 3)) ** 0.5).all()


def test_without_exploration_some_paths_never_come_back() -> None:
    world = worlds.function("bernoulli")([0.5, 0.4], [0.5, 0.5])
    run = purse.simulate("b-greedy:alpha=0", world, budget=500, n_paths=50)
    assert ((run.pulls == 1).any(axis=1)).any()
    assert (purse.simulate("b-greedy:alpha=4", world, budget=500, n_paths=50).pulls > 1).all()


def test_edges_and_refusals() -> None:
    edges("b-greedy", (2.0,), "alpha=-1", "alpha=x", allowed="must be a number at least 0")
