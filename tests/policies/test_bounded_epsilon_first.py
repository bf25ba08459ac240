from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.lab.theory import knapsack
from purse.policies import bounded_epsilon_first, epsilon_first
from purse.testing import check_policy
from purse.types import Problem
from tests.support.known_costs import (
    COSTS,
    REWARDS,
    WORLD,
    PlainEpsilonFirst,
    caps_hold,
    live_for,
    play_out,
    random_game,
)
from tests.support.policies import follows, tell_all

NAME = "bounded-epsilon-first"


def test_rounds_by_hand() -> None:
    live = live_for(f"{NAME}:epsilon=0.5", [0.4, 0.3, 0.9, 0.1], 8, [2, 5, 10, 0])
    # 4 to explore with: two sweeps of 1.6 leave 0.8, and arm 0 has no pulls left
    rewards = [(1, 0.4), (0, 0.3), (1, 0.9), (1, 0.4), (1, 0.3), (0, 0.9)]
    assert tell_all(live, *rewards) == [0, 1, 2, 0, 1, 2]
    # t = 7 and 8: only arm 1 fits into 0.8 and has pulls left, twice; 0.2 stays
    assert live.probabilities().tolist() == [0, 1, 0, 0]
    assert tell_all(live, (1, 0.3), (0, 0.3)) == [1, 1]
    # t = 9: r / c = (1 / 0.4, (1/2) / 0.3, (1/2) / 0.9) = (2.5, 1.67, 0.56); arm 0 has no pulls
    # left, arm 1 one, and 8 - 3.8 = 4.2 is left
    assert live.probabilities().tolist() == [0, 1, 0, 0]
    assert tell_all(live, (1, 0.3)) == [1]
    # t = 10: 3.9 is left, which buys arm 2 four times
    assert tell_all(live, *[(1, 0.9)] * 4) == [2] * 4
    with pytest.raises(purse.AskRefused, match="has ended the game after 13 rounds"):
        live.ask()


@pytest.mark.parametrize("learn", epsilon_first.LEARN)
@pytest.mark.parametrize("epsilon", [0, 0.25])
@pytest.mark.parametrize(
    ("caps", "out"), [([2000, 900, 10, 0, 10**6], 1), ([100, 10**9, 1, 30, 500], 30)]
)
def test_follows_the_rule(caps: list[int], out: int, epsilon: float, learn: str) -> None:
    policy = f"{NAME}:epsilon={epsilon},learn={learn}"
    plain = PlainEpsilonFirst(COSTS, 2000.01, caps, epsilon=epsilon, frozen=learn == "first")
    follows(policy, plain, WORLD, 2000, out=out, budget=2000.01, costs=COSTS, caps=caps)


@pytest.mark.parametrize("seed", range(12))
def test_follows_the_rule_until_nothing_can_be_pulled(seed: int) -> None:
    costs, budget, caps = random_game(seed)
    epsilon = (0, 0.3, 1)[seed % 3]
    live = live_for(f"{NAME}:epsilon={epsilon}", costs, budget, caps, seed=seed, stop="exit")
    play_out(live, PlainEpsilonFirst(costs, budget, caps, epsilon=epsilon), costs, seed)


@pytest.mark.parametrize("options", ["", ":epsilon=0.3", ":learn=always"])
def test_without_caps_it_is_epsilon_first(options: str) -> None:
    plain = purse.simulate(f"epsilon-first{options}", WORLD, 100, n_paths=20)
    for caps in (None, 10**6, 10**30):
        run = purse.simulate(f"{NAME}{options}", WORLD, 100, n_paths=20, caps=caps)
        assert (run.pulls == plain.pulls).all()


def test_caps_hold_and_all_that_they_allow_is_spent() -> None:
    caps_hold(NAME)


def test_arms_with_pulls_left_share_the_exploration_evenly() -> None:
    world = worlds.function("bernoulli")([0.5] * 4, [0.5] * 4)
    caps = [2, 10**6, 10**6, 10**6]
    run = purse.simulate(f"{NAME}:epsilon=1", world, 31, n_paths=2, caps=caps)
    # two sweeps of four arms, then 54 pulls for three
    assert run.pulls.tolist() == [[2, 20, 20, 20]] * 2


def test_arms_that_may_not_be_pulled_take_nothing_of_the_sweep() -> None:
    problem = Problem.of(n_arms=3, budget=100, cost_min=0.5, costs=[0.5, 1, 0.5], caps=[3, 0, 5])
    assert bounded_epsilon_first.params(problem, epsilon=0).explore == 10**9


def test_comes_near_what_the_caps_allow() -> None:
    caps, budget = [48_000, 64_000, 10**6, 10**6, 10**6], 40_000
    run = purse.simulate(NAME, WORLD, budget, n_paths=20, caps=caps)
    best = knapsack.bounded(REWARDS, COSTS, caps, budget)
    assert (run.pulls[:, 0] == 48_000).all()
    b = budget / 0.9
    explored = (3 * math.log(5 * b * 3) / (2 * b)) ** (1 / 3) * budget
    # a sweep of 2.7 spends 1.9 on arms 2, 3 and 4, which pay 1.3, where arm 1 would pay 1.9; what
    # it spends on arms 0 and 1 is not lost
    assert best - run.gain.mean() == pytest.approx(
        0.6 / 2.7 * explored, abs=4 * run.gain.std() / np.sqrt(20)
    )


@pytest.mark.parametrize("caps", [5, [40, 30, 20, 0]])
def test_passes_the_checks_with_caps(caps: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = epsilon_first.params_for

    def capped(name: str, problem: Problem, epsilon: Any, learn: str) -> Any:
        made = known(name, problem, epsilon, learn)
        return made._replace(prices=made.prices._replace(caps=np.resize(caps, problem.n_arms)))

    monkeypatch.setattr(bounded_epsilon_first, "params_for", capped)
    check_policy(NAME, quick=True)
