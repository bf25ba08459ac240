from __future__ import annotations

import pytest

import purse
from purse import worlds
from tests.support.policies import tell_all


def test_three_rounds_by_hand() -> None:
    live = purse.Policy("fixed:arm=1", n_arms=3, budget=10, cost_min=0.5)
    for reward in (1, 0, 0.5):
        assert live.probabilities().tolist() == [0.0, 1.0, 0.0]
        assert tell_all(live, (reward, 0.5)) == [1]


@pytest.mark.parametrize("n_arms", [1, 3])
def test_plays_arm_0_unless_told_otherwise(n_arms: int) -> None:
    live = purse.Policy("fixed", n_arms=n_arms, budget=10, cost_min=0.5)
    assert live.ask().arm == 0
    assert live.probabilities().tolist() == [1.0] + [0.0] * (n_arms - 1)


def test_with_several_plays_the_next_arms_round_the_circle() -> None:
    live = purse.Policy("fixed:arm=3", n_arms=4, budget=10, cost_min=0.5, plays=2)
    ticket = live.ask()
    assert ticket.arms == (3, 0)
    assert ticket.probabilities == (1.0, 1.0)
    assert live.probabilities().tolist() == [1.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(("arm", "rounds"), [(0, 12), (1, 100)])
def test_plays_one_arm_until_the_budget_is_gone(arm: int, rounds: int) -> None:
    world = worlds.function("bernoulli")([1, 1], [0.8, 0.1])
    run = purse.simulate(f"fixed:arm={arm}", world, budget=10, n_paths=2)
    assert run.pulls[:, arm].tolist() == [rounds, rounds]
    assert run.gain.tolist() == [rounds, rounds]
