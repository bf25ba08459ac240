from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from purse import BudgetExhausted, InvalidInput
from tests.support.live_policies import STOP_RULES, make, refusal, rounds_paid, standing

GRID = [[0.1, 0.2], [0.3, 0.4]]  # costs of two plays in two resources


@pytest.mark.parametrize("stop", STOP_RULES)
def test_a_budget_of_1000_affords_exactly_10000_pulls_at_a_tenth(stop: str) -> None:
    policy = make("exp3++.bwk", n_arms=2, budget=1000, cost_min=0.1, cost_max=0.1, stop=stop)
    assert rounds_paid(policy, 1.0, 0.1) == 10_000
    assert (policy.left_units, policy.spent_units, policy.gain) == ([0], [1000 * 10**9], 10_000)


def test_the_last_unit_can_be_spent_and_not_one_more() -> None:
    policy = make("uniform", budget="1.000000001", cost_min="0.000000001", stop="exit")
    assert policy.tell(policy.ask(), 1, 1)
    assert policy.left_units == [1]
    assert policy.tell(policy.ask(), 1, "0.000000001")
    assert policy.left_units == [0]
    assert not policy.tell(policy.ask(), 1, "0.000000001")
    assert policy.left_units == [0]


@pytest.mark.parametrize(
    ("reward", "cost"),
    [
        (1, 0.3),
        (1.0, "0.3"),
        (np.int64(1), Decimal("0.3")),
        (np.float64(1), np.float64(0.3)),
        (np.float32(1), np.float32(0.3)),
        (np.array(1.0), np.array(0.3)),
        ([1.0], [0.3]),
        (1, np.array([[0.3]])),
    ],
)
def test_a_report_may_be_written_in_several_ways(reward: Any, cost: Any) -> None:
    policy = make()
    policy.tell(policy.ask(), reward, cost)
    assert (policy.gain, policy.spent_units) == (1.0, [300_000_000])


def test_each_arm_has_its_own_bounds() -> None:
    policy = make("fixed:arm=1", cost_min=[0.1, 0.2, 0.3], cost_max=[1, 2, 3])
    ticket = policy.ask()
    assert ticket.held == 2.0
    refusal(InvalidInput, policy.tell, ticket, 0.5, 0.15)
    refusal(InvalidInput, policy.tell, ticket, 0.5, 2.5)
    assert policy.tell(ticket, 0.5, 2)


@pytest.mark.parametrize("form", [list, tuple, np.array], ids=["list", "tuple", "array"])
@pytest.mark.parametrize(
    "costs", [[0.1, 0.2], [[0.1], [0.2]], ["0.1", "0.2"]], ids=["flat", "column", "text"]
)
def test_two_plays_report_one_reward_and_one_cost_each(
    form: Callable[[Any], Any], costs: Any
) -> None:
    policy = make("uniform", plays=2)
    assert policy.probabilities().tolist() == [2 / 3] * 3
    ticket = policy.ask()
    assert len(set(ticket.arms)) == 2
    assert ticket.held == 2.0
    assert policy.tell(ticket, form([0.25, 0.5]), form(costs))
    assert (policy.gain, policy.spent_units) == (0.75, [300_000_000])
    assert policy.left_units == [9_700_000_000]


@pytest.mark.parametrize(
    "costs", [[0.1, 0.4], (0.1, 0.4), np.array([0.1, 0.4]), [[0.1, 0.4]], ["0.1", "0.4"]]
)
def test_two_resources_report_a_cost_each(costs: Any) -> None:
    policy = make("uniform", n_resources=2, budget=[10, 5], cost_max=[[1, 0.5]] * 3)
    assert policy.left == [10.0, 5.0]
    ticket = policy.ask()
    assert (ticket.held, ticket.held_units) == (1.0, (10**9, 5 * 10**8))
    assert (policy.left, policy.held) == ([9.0, 4.5], [1.0, 0.5])
    assert policy.tell(ticket, 0.5, costs)
    assert (policy.spent, policy.held) == ([0.1, 0.4], [0.0, 0.0])


@pytest.mark.parametrize("form", [list, np.array], ids=["list", "array"])
def test_two_plays_of_two_resources_report_a_row_per_play(form: Callable[[Any], Any]) -> None:
    policy = make("uniform", plays=2, n_resources=2, budget=[10, 5])
    assert policy.tell(policy.ask(), form([1, 0]), form(GRID))
    assert (policy.gain, policy.spent_units) == (1.0, [400_000_000, 600_000_000])


def test_the_scarcest_resource_ends_the_game() -> None:
    policy = make("uniform", n_resources=2, budget=[10, 1], stop="exit")
    assert policy.tell(policy.ask(), 1, [0.1, 0.8])
    assert not policy.tell(policy.ask(), 1, [0.1, 0.8])
    assert policy.spent == [0.1, 0.8]
    refusal(BudgetExhausted, policy.ask)


@pytest.mark.parametrize(
    ("rewards", "costs"),
    [
        *((rewards, GRID) for rewards in (0.5, [0.5], [0.5] * 3, [0.5, 1.5])),
        *(([0.5, 0.5], costs) for costs in (0.1, [0.1, 0.2], [[0.1, 0.2]], [[0.1, 0.2], [0.3]])),
        ([0.5, 0.5], [[0.1, 0.2], [0.3, 0.05]]),
        ([], []),
    ],
)
def test_a_report_of_the_wrong_shape_or_with_one_bad_entry_changes_nothing(
    rewards: Any, costs: Any
) -> None:
    policy = make("uniform", plays=2, n_resources=2)
    ticket = policy.ask()
    before = standing(policy)
    refusal(InvalidInput, policy.tell, ticket, rewards, costs)
    assert standing(policy) == before


def test_costs_with_plays_and_resources_exchanged_are_refused() -> None:
    policy = make("uniform", plays=3, n_resources=2)
    ticket = policy.ask()
    refusal(InvalidInput, policy.tell, ticket, [1, 1, 1], [[0.1, 0.1, 0.1], [0.9, 0.9, 0.9]])
    assert policy.tickets == [ticket]


def test_the_account_can_be_read_while_others_ask_and_tell() -> None:
    policy = make(budget="200")

    def spend() -> None:
        for _ in range(150):
            policy.tell(policy.ask(), 0.5, 0.5)

    def look() -> None:
        for _ in range(2000):
            assert policy.held >= 0
            assert len(policy.tickets) <= 2

    with ThreadPoolExecutor(3) as pool:
        for future in [pool.submit(spend), pool.submit(spend), pool.submit(look)]:
            future.result()
    assert policy.spent == 150
