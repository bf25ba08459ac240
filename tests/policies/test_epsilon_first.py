from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse import worlds
from purse.policies import epsilon_first
from purse.types import Problem
from tests.support.known_costs import (
    COSTS,
    REWARDS,
    WORLD,
    PlainEpsilonFirst,
    live_for,
    one_arm,
    play_out,
)
from tests.support.policies import follows, tell_all


def test_rounds_by_hand() -> None:
    live = live_for("epsilon-first:epsilon=0.5", [0.4, 0.3, 0.9], 8)
    # 4 to explore with: two sweeps of 1.6 leave 0.8, which the third arm does not fit into
    rewards = [(1, 0.4), (0, 0.3), (1, 0.9), (0, 0.4), (1, 0.3), (1, 0.9)]
    assert tell_all(live, *rewards) == [0, 1, 2, 0, 1, 2]
    # t = 7: E = 2 arms fit into 0.8, number 6 mod 2 = 0 of them is arm 0; t = 8: E = 2 arms fit
    # into 0.4, number 7 mod 2 = 1 is arm 1; 0.1 stays
    assert live.probabilities().tolist() == [1, 0, 0]
    assert tell_all(live, (0, 0.4), (1, 0.3)) == [0, 1]
    # t = 9: r / c = ((1/3) / 0.4, (2/3) / 0.3, 1 / 0.9) = (0.83, 2.22, 1.11), and 8 - 3.9 = 4.1 is
    # left: 13 times arm 1 leave 0.2
    assert live.probabilities().tolist() == [0, 1, 0]
    assert tell_all(live, *[(0, 0.3)] * 12) == [1] * 12
    # t = 21: what exploitation brings is not learnt; 0.5 is left
    assert live.probabilities().tolist() == [0, 1, 0]
    assert tell_all(live, (0, 0.3)) == [1]
    assert live.probabilities().tolist() == [0, 0, 0]
    with pytest.raises(purse.AskRefused, match="has ended the game after 21 rounds"):
        live.ask()


def test_the_next_best_arm_comes_when_the_best_is_too_dear() -> None:
    live = live_for("epsilon-first:epsilon=0", [0.9, 0.3], 3.7)
    # one sweep of 1.2 leaves 2.5; r / c = (1 / 0.9, 0.2 / 0.3): arm 0 twice, then 0.7 is left,
    # which buys arm 1 twice
    reports = [(1, 0.9), (0.2, 0.3), (1, 0.9), (0, 0.9), (1, 0.3), (0, 0.3)]
    assert tell_all(live, *reports) == [0, 1, 0, 0, 1, 1]
    with pytest.raises(purse.AskRefused):
        live.ask()


def test_always_goes_on_learning() -> None:
    live = live_for("epsilon-first:epsilon=0,learn=always", [0.5, 0.5], 10)
    # means (1, 0.4), then 1/2, then 1/3 for arm 0
    assert tell_all(live, (1, 0.5), (0.4, 0.5), (0, 0.5), (0, 0.5), (1, 0.5)) == [0, 1, 0, 0, 1]


@pytest.mark.parametrize("out", [1, 30])
@pytest.mark.parametrize("epsilon", [0, 0.25, 1])
@pytest.mark.parametrize("learn", epsilon_first.LEARN)
def test_follows_the_rule(epsilon: float, learn: str, out: int) -> None:
    policy = f"epsilon-first:epsilon={epsilon},learn={learn}"
    plain = PlainEpsilonFirst(COSTS, 2000.01, epsilon=epsilon, frozen=learn == "first")
    follows(policy, plain, WORLD, 2000, out=out, budget=2000.01, costs=COSTS)


@pytest.mark.parametrize("budget", [0.2, 0.31, 1, 2.69, 2.7, 2.71, 50.33])
@pytest.mark.parametrize("epsilon", [0, 0.3, 1])
def test_follows_the_rule_until_nothing_can_be_paid_for(budget: float, epsilon: float) -> None:
    live = live_for(f"epsilon-first:epsilon={epsilon}", COSTS, budget, stop="exit")
    play_out(live, PlainEpsilonFirst(COSTS, budget, epsilon=epsilon), COSTS)


def test_sweeps_pull_all_arms_equally_often() -> None:
    run = purse.simulate("epsilon-first:epsilon=1", WORLD, 270, n_paths=3)
    assert run.pulls.tolist() == [[100] * 5] * 3


def test_epsilon_as_numbers() -> None:
    problem = Problem.of(n_arms=2, budget=1000, cost_min=0.5, cost_max=1, costs=[0.5, 1])
    # C = 1.5, ln(2 * 1000 / 0.5) = 8.294, epsilon^3 = 1.5 * 8.294 / 2000 = 0.00622, epsilon =
    # 0.1839
    assert epsilon_first.params(problem).explore == pytest.approx(183.93e9, rel=1e-4)
    assert epsilon_first.params(problem, epsilon=0.25).explore == 250 * 10**9
    assert epsilon_first.params(problem, epsilon=0).explore == 15 * 10**8
    assert epsilon_first.params(problem, epsilon=1).explore == 1000 * 10**9


def test_budget_and_costs_count_in_largest_costs() -> None:
    small, large = (
        Problem.of(n_arms=2, budget=1000 * k, cost_min=0.5 * k, cost_max=k, costs=[0.5 * k, k])
        for k in (1, 20)
    )
    assert epsilon_first.params(large).explore == pytest.approx(
        20 * epsilon_first.params(small).explore, rel=1e-10
    )


@pytest.mark.parametrize("budget", [1e-9, 0.2, 1])
def test_a_budget_below_one_sweep_is_all_for_exploration(budget: float) -> None:
    problem = Problem.of(n_arms=5, budget=budget, cost_min=COSTS, cost_max=COSTS, costs=COSTS)
    assert epsilon_first.params(problem).explore == problem.budget[0]


@pytest.mark.parametrize("budget", [100, 1000, 10_000])
def test_keeps_to_its_guarantee(budget: float) -> None:
    run = purse.simulate("epsilon-first", WORLD, budget, n_paths=50)
    b, low, total = budget / 0.9, 1 / 3, 3.0
    part = (total * math.log(5 * b / low) / (2 * b)) ** (1 / 3)
    regret = 1.4 * budget - run.gain
    assert regret.mean() + 4 * regret.std() / np.sqrt(50) < (3 * part * b + 1) / low + 1
    # that much exploration costs
    assert regret.mean() > part * budget * (1.4 - np.mean(REWARDS) / np.mean(COSTS)) * 0.9


def test_ties_are_broken_evenly() -> None:
    world = worlds.function("bernoulli")([1, 1, 1], [0.5, 0.5, 0.5])
    run = purse.simulate("epsilon-first:epsilon=0", world, 2, n_paths=3000)
    assert (np.abs(run.pulls.sum(axis=0) - 4000) < 4 * np.sqrt(3000 * (1 / 3) * (2 / 3))).all()


def test_an_arm_without_a_report_comes_first_and_is_learnt_from() -> None:
    live = live_for("epsilon-first:epsilon=0", [0.5, 0.5], 10)
    first, second = live.ask(), live.ask()
    live.void(second)  # half of the exploration money is back
    assert live.probabilities().tolist() == [1, 0]  # number 2 mod 2 of the arms
    third = live.ask()
    live.tell(first, 0, 0.5)
    live.tell(third, 0, 0.5)
    assert live.probabilities().tolist() == [0, 1]
    live.tell(live.ask(), 0.5, 0.5)
    assert live.probabilities().tolist() == [0, 1]


def test_one_arm() -> None:
    one_arm("epsilon-first")
