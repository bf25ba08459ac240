from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from purse import BudgetExhausted, InvalidInput
from purse.errors import HorizonReached, TicketError
from tests.support.live_policies import (
    STOP_RULES,
    amounts_in,
    exp3,
    make,
    refusal,
    rounds_paid,
    standing,
)

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


# stop rules


def test_exit_ends_the_game_at_the_first_cost_that_does_not_fit() -> None:
    policy = make(budget=1, stop="exit")
    assert policy.tell(policy.ask(), 1, 0.6)
    ticket = policy.ask()
    before = standing(policy)
    assert policy.tell(ticket, 1, 0.6) is False
    chances, left, spent, held, _, t, gain, _ = before
    assert standing(policy) == (chances, left, spent, held, [], t, gain, policy.over)
    assert (policy.spent, policy.gain) == (0.6, 1.0)
    assert refusal(BudgetExhausted, policy.ask) == policy.over
    assert {"0.4", "0.6", "2"} <= set(amounts_in(policy.over))
    refusal(TicketError, policy.tell, ticket, 1, 0.1)
    refusal(TicketError, policy.void, ticket)


def test_exit_pays_a_cost_that_fits_exactly() -> None:
    policy = make(budget=1, stop="exit")
    assert policy.tell(policy.ask(), 1, 0.6)
    assert policy.tell(policy.ask(), 1, 0.4)
    assert (policy.left_units, policy.over) == ([0], "")


def test_retry_brings_another_arm_for_the_same_round_until_none_is_left() -> None:
    policy = make("uniform", n_arms=4, budget=1, stop="retry")
    assert policy.tell(policy.ask(), 1, 0.6)
    tried: list[int] = []
    for chance in (1 / 4, 1 / 3, 1 / 2, 1):
        assert policy.over == ""
        ticket = policy.ask()
        assert (ticket.t, ticket.probability) == (2, chance)
        tried.append(ticket.arm)
        assert policy.tell(ticket, 1, 0.6) is False
    assert sorted(tried) == [0, 1, 2, 3]
    assert refusal(BudgetExhausted, policy.ask) == policy.over
    assert {"0.4", "0.6", "2"} <= set(amounts_in(policy.over))
    assert (policy.spent, policy.gain, policy.t) == (0.6, 1.0, 2)


def test_retry_goes_on_with_the_next_round_once_an_arm_is_paid_for() -> None:
    policy = make("exp3.bwk:gamma=0.4", budget=1, stop="retry")
    paid = policy.ask()
    policy.tell(paid, 1, 0.6)
    dear = policy.ask()
    assert not policy.tell(dear, 1, 0.6)
    assert policy.probabilities().max() == 1.0
    cheap = policy.ask()
    assert (cheap.t, cheap.arm != dear.arm, cheap.probability) == (2, True, 0.5)
    assert policy.tell(cheap, 1, 0.2)
    learnt = [(paid, 1.0, 0.6), (cheap, 1.0, 0.2)]
    assert policy.probabilities().tolist() == pytest.approx(
        exp3(learnt, n_arms=3, gamma=0.4, c_min=0.1, cost_max=1), rel=1e-12
    )
    assert policy.ask().t == 3


def test_retry_drops_a_replacement_that_is_voided() -> None:
    policy = make("uniform", budget=1, stop="retry")
    policy.tell(policy.ask(), 1, 0.6)
    policy.tell(policy.ask(), 1, 0.6)
    policy.void(policy.ask())
    assert policy.ask().t == 3


def test_retry_with_two_plays_replaces_the_dearer_arm() -> None:
    policy = make("uniform", n_arms=4, plays=2, budget=1, stop="retry")
    ticket = policy.ask()
    assert not policy.tell(ticket, [1, 1], [0.3, 0.9])
    again = policy.ask()
    kept, dear = ticket.arms
    assert again.t == 1
    assert again.arms[0] == kept
    assert again.arms[1] not in (kept, dear)
    assert again.probabilities == (0.5, 0.5)
    assert policy.tell(again, [1, 1], [0.3, 0.7])


def test_hold_refuses_what_might_not_fit_and_names_amounts_and_tickets() -> None:
    policy = make(budget="2.5")
    policy.ask()
    policy.ask()
    before = standing(policy)
    message = refusal(BudgetExhausted, policy.ask)
    assert standing(policy) == before
    assert policy.over == ""
    assert {"1", "0.5", "2"} <= set(amounts_in(message))
    assert "open tickets: 2, holding 2" in message


def test_hold_does_not_mention_tickets_when_none_are_out() -> None:
    policy = make(budget="0.5")
    message = refusal(BudgetExhausted, policy.ask)
    assert {"1", "0.5"} <= set(amounts_in(message))
    assert "ticket" not in message


@pytest.mark.parametrize(("told", "left"), [(True, 1.0), (False, 1.5)])
def test_hold_goes_on_when_a_cheap_report_or_a_void_frees_money(told: bool, left: float) -> None:
    policy = make(budget="1.5")
    ticket = policy.ask()
    refusal(BudgetExhausted, policy.ask)
    _ = policy.tell(ticket, 1, 0.5) if told else policy.void(ticket)
    assert policy.left == left
    assert policy.ask().t == 2


def test_hold_stays_shut_when_a_dear_report_frees_too_little() -> None:
    policy = make(budget="1.5")
    policy.tell(policy.ask(), 1, "0.500000001")
    refusal(BudgetExhausted, policy.ask)
    assert policy.t == 1


def test_hold_names_what_is_held_of_the_resource_that_is_short() -> None:
    policy = make("uniform", n_resources=2, budget=[3, 100], cost_max=[[1, 2]] * 3)
    for _ in range(3):
        policy.ask()
    assert "9" not in amounts_in(refusal(BudgetExhausted, policy.ask))


@pytest.mark.parametrize("stop", STOP_RULES)
def test_the_horizon_ends_the_asking_and_not_the_telling(stop: str) -> None:
    policy = make(horizon=2, stop=stop)
    tickets = [policy.ask(), policy.ask()]
    assert "2" in refusal(HorizonReached, policy.ask)
    assert all(policy.tell(ticket, 1, 0.5) for ticket in tickets)
    refusal(HorizonReached, policy.ask)
    assert (policy.t, policy.gain, policy.spent, policy.over) == (2, 2.0, 1.0, "")
