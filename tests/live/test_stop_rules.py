from __future__ import annotations

import pytest

from purse import AskRefused, BudgetExhausted, PurseError
from purse.errors import HorizonReached, TicketError
from tests.support.live_policies import STOP_RULES, amounts_in, exp3, make, refusal, standing


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


def test_both_ends_of_a_game_are_game_over() -> None:
    assert issubclass(BudgetExhausted, AskRefused)
    assert issubclass(HorizonReached, AskRefused)
    assert issubclass(AskRefused, PurseError)
