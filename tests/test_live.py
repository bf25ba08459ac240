from __future__ import annotations

import math
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from purse import BudgetExhausted, GameOver, HorizonReached, InvalidInput, Policy, PurseError, Ticket, TicketError, policies

LIVE = [name for name in policies.names() if name != "oracle"]
STOP_RULES = ("exit", "hold", "retry")


def make(policy: Any = "exp3.bwk", **changes: Any) -> Policy:
    return Policy(policy, **{"n_arms": 3, "budget": 10, "cost_min": 0.1, **changes})


def refusal(error: type[Exception], call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    message = str(caught.value)
    assert isinstance(caught.value, PurseError)
    assert message
    assert "\n" not in message
    return message


def standing(policy: Policy) -> Any:
    chances = policy.probabilities().tolist()
    return chances, policy.left_units, policy.spent_units, policy.held, policy.tickets, policy.t, policy.gain, policy.over


def amounts_in(message: str) -> list[str]:
    return re.findall(r"\d+(?:\.\d+)?", message)


def rounds_paid(policy: Policy, reward: float, cost: Any) -> int:
    paid = 0
    while True:
        try:
            ticket = policy.ask()
        except BudgetExhausted:
            return paid
        paid += policy.tell(ticket, reward, cost)


# the face of it


def test_a_ticket_says_what_was_drawn_and_what_is_held() -> None:
    policy = make(cost_max=2.5)
    chances = policy.probabilities()
    ticket = policy.ask()
    assert (ticket.t, ticket.arms, ticket.probabilities) == (1, (ticket.arm,), (ticket.probability,))
    assert ticket.probability == chances[ticket.arm]
    assert (ticket.held, ticket.held_units) == (2.5, (2_500_000_000,))
    assert policy.tickets == [ticket]
    assert (policy.left, policy.held, policy.spent) == (7.5, 2.5, 0.0)


def test_a_report_releases_the_hold_and_pays_the_cost() -> None:
    policy = make()
    assert policy.tell(policy.ask(), reward=0.75, cost="0.3") is True
    assert (policy.left, policy.held, policy.spent, policy.gain, policy.tickets) == (9.7, 0.0, 0.3, 0.75, [])
    assert (policy.left_units, policy.spent_units) == ([9_700_000_000], [300_000_000])


@pytest.mark.parametrize("stop", ["exit", "retry"])
def test_nothing_is_held_where_the_rule_is_not_hold(stop: str) -> None:
    policy = make(stop=stop)
    assert policy.ask().held_units == (0,)
    assert (policy.held, policy.left) == (0.0, 10.0)


@pytest.mark.parametrize("name", LIVE)
def test_probabilities_are_those_of_the_tickets_and_sum_to_one(name: str) -> None:
    policy = make(name, budget=40)
    for turn in range(30):
        chances = policy.probabilities()
        assert chances.sum() == pytest.approx(1, abs=1e-12)
        assert (chances >= 0).all()
        ticket = policy.ask()
        assert ticket.probability == pytest.approx(chances[ticket.arm], rel=1e-12)
        policy.tell(ticket, reward=turn % 3 / 2, cost=(turn % 9 + 1) / 10)


def test_looking_at_probabilities_changes_nothing() -> None:
    looked_at, left_alone = make("exp3++.bwk"), make("exp3++.bwk")
    for _ in range(8):
        looked_at.probabilities()
        looked_at.probabilities()[:] = 0
        tickets = looked_at.ask(), left_alone.ask()
        assert tickets[0] == tickets[1]
        assert looked_at.tell(tickets[0], 1, 0.5)
        assert left_alone.tell(tickets[1], 1, 0.5)


def test_the_seed_decides_the_arms() -> None:
    def arms(seed: int) -> list[int]:
        policy = make("uniform", n_arms=4, budget=100, seed=seed)
        return [policy.ask().arm for _ in range(50)]

    assert arms(3) == arms(3)
    assert arms(3) != arms(4)


@pytest.mark.parametrize("name", LIVE)
def test_one_arm_is_always_pulled(name: str) -> None:
    policy = make(name, n_arms=1, budget=3, cost_min=1)
    assert policy.probabilities().tolist() == [1.0]
    for t in (1, 2, 3):
        ticket = policy.ask()
        assert (ticket.t, ticket.arm, ticket.probability) == (t, 0, 1.0)
        assert policy.tell(ticket, 0.5, 1)
    refusal(BudgetExhausted, policy.ask)


# money


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


@pytest.mark.parametrize("cost", [0.3, "0.3", Decimal("0.3"), np.float64(0.3), [0.3], np.array([[0.3]])])
def test_a_cost_may_be_written_in_several_ways(cost: Any) -> None:
    policy = make()
    policy.tell(policy.ask(), 0.5, cost)
    assert policy.spent_units == [300_000_000]


@pytest.mark.parametrize("reward", [1, 1.0, np.float32(1), np.array(1.0), [1.0]])
def test_a_reward_may_be_written_in_several_ways(reward: Any) -> None:
    policy = make()
    policy.tell(policy.ask(), reward, 0.5)
    assert policy.gain == 1.0


def test_each_arm_has_its_own_bounds() -> None:
    policy = make("fixed:arm=1", cost_min=[0.1, 0.2, 0.3], cost_max=[1, 2, 3])
    ticket = policy.ask()
    assert ticket.held == 2.0
    refusal(InvalidInput, policy.tell, ticket, 0.5, 0.15)
    refusal(InvalidInput, policy.tell, ticket, 0.5, 2.5)
    assert policy.tell(ticket, 0.5, 2)


# late reports


def exp3(reports: list[tuple[Ticket, float, float]], *, n_arms: int, gamma: float, c_min: float, cost_max: float) -> list[float]:
    weights = [1.0] * n_arms
    for ticket, reward, cost in reports:
        weights[ticket.arm] *= math.exp(gamma * c_min / n_arms * reward / (ticket.probability * cost / cost_max))
    return [(1 - gamma) * weight / sum(weights) + gamma / n_arms for weight in weights]


@pytest.mark.parametrize("order", list(permutations(range(4))), ids=str)
def test_reports_in_any_order_teach_the_same(order: tuple[int, ...]) -> None:
    policy = make("exp3.bwk:gamma=0.4", cost_min=0.5, cost_max=2)
    tickets = [policy.ask() for _ in order]
    reports = [(ticket, 0.2 + 0.2 * i, 0.5 + 0.5 * i) for i, ticket in enumerate(tickets)]
    for i in order:
        assert policy.tell(*reports[i])
    assert policy.probabilities().tolist() == pytest.approx(exp3(reports, n_arms=3, gamma=0.4, c_min=0.25, cost_max=2), rel=1e-12)


def test_each_report_learns_with_the_probability_that_its_ticket_was_drawn_with() -> None:
    policy = make("exp3.bwk:gamma=0.5", cost_min=1, budget=100)
    reports = []
    early = [policy.ask() for _ in range(6)]
    for ticket in early[::2]:
        reports.append((ticket, 1.0, 1.0))
        policy.tell(*reports[-1])
    late = [policy.ask() for _ in range(6)]
    assert {ticket.probability for ticket in early}.isdisjoint(ticket.probability for ticket in late)
    for ticket in [*reversed(late), *early[1::2]]:
        reports.append((ticket, 0.8, 1.0))
        policy.tell(*reports[-1])
    assert policy.probabilities().tolist() == pytest.approx(exp3(reports, n_arms=3, gamma=0.5, c_min=1, cost_max=1), rel=1e-12)


def test_what_is_asked_between_two_reports_does_not_matter() -> None:
    quiet, busy = make(cost_min=0.5, budget=100), make(cost_min=0.5, budget=100)
    pairs = [(quiet.ask(), busy.ask()) for _ in range(6)]
    for i in (4, 0, 5, 2, 1, 3):
        busy.ask()
        busy.void(busy.ask())
        for policy, ticket in zip((quiet, busy), pairs[i], strict=True):
            assert policy.tell(ticket, i / 5, 0.5 + i / 10)
        assert quiet.probabilities().tobytes() == busy.probabilities().tobytes()


def test_a_late_report_to_exp3pp_adds_its_loss_over_its_own_probability() -> None:
    policy = make("exp3++.bwk", n_arms=2, cost_min=0.5, budget=100)
    for _ in range(2):
        policy.tell(policy.ask(), 0.5, 1)
    early, losses = policy.ask(), [0.0, 0.0]
    for _ in range(20):
        ticket = policy.ask()
        policy.tell(ticket, float(ticket.arm), 0.5)
        losses[ticket.arm] += (2 - ticket.arm / 0.5) / ticket.probability
    assert early.probability != policy.probabilities()[early.arm]
    policy.tell(early, 0.25, 0.5)
    losses[early.arm] += (2 - 0.5) / early.probability
    root = math.sqrt(math.log(2) / (2 * (policy.t + 1)))
    weights = [math.exp(-0.25 * root * loss) for loss in losses]
    expected = [(1 - root) * weight / sum(weights) + root / 2 for weight in weights]
    assert policy.probabilities().tolist() == pytest.approx(expected, rel=1e-9)


# voids


def test_voided_initial_pulls_are_asked_for_again() -> None:
    policy = make("exp3++.bwk")
    first = [policy.ask() for _ in range(3)]
    assert [(ticket.t, ticket.arm, ticket.probability) for ticket in first] == [(1, 0, 1.0), (2, 1, 1.0), (3, 2, 1.0)]
    for ticket in (first[2], first[0]):
        policy.void(ticket)
    assert policy.probabilities().max() == 1.0
    again = [policy.ask() for _ in range(2)]
    assert {(ticket.t, ticket.arm, ticket.probability) for ticket in again} == {(1, 0, 1.0), (3, 2, 1.0)}
    assert {ticket.id for ticket in again}.isdisjoint(ticket.id for ticket in first)
    assert policy.t == 3
    for ticket in [first[1], *again]:
        policy.tell(ticket, 0.5, 0.5)
    later = policy.ask()
    assert (later.t, later.probability < 1) == (4, True)


@pytest.mark.parametrize("name", ["exp3++.bwk", "exp3++.price"])
def test_an_initial_pull_can_be_voided_many_times_and_still_every_arm_is_pulled_once(name: str) -> None:
    policy, told = make(name), []
    for voids in (3, 0, 2):
        for _ in range(voids):
            policy.void(policy.ask())
        ticket = policy.ask()
        policy.tell(ticket, 0.5, 0.5)
        told.append(ticket.arm)
    assert told == [0, 1, 2]
    assert policy.t == 3


@pytest.mark.parametrize("name", LIVE)
def test_a_voided_later_pull_is_dropped(name: str) -> None:
    policy = make(name, budget=20)
    for _ in range(5):
        policy.tell(policy.ask(), 0.5, 0.3)
    ticket = policy.ask()
    chances, left = policy.probabilities(), policy.left_units[0]
    policy.void(ticket)
    assert policy.probabilities().tobytes() == chances.tobytes()
    assert policy.left_units == [left + ticket.held_units[0]]
    assert policy.gain == 2.5
    assert policy.ask().t == ticket.t + 1


def test_a_voided_initial_pull_can_be_asked_for_after_the_last_round_of_the_horizon() -> None:
    policy = make("exp3++.bwk", n_arms=2, horizon=2)
    ticket = policy.ask()
    policy.ask()
    refusal(HorizonReached, policy.ask)
    policy.void(ticket)
    assert (policy.ask().t, policy.t) == (1, 2)
    refusal(HorizonReached, policy.ask)


# the stop rules


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
    assert policy.probabilities().tolist() == pytest.approx(exp3(learnt, n_arms=3, gamma=0.4, c_min=0.1, cost_max=1), rel=1e-12)
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
    assert "tickets that are out: 2, holding 2" in message


def test_hold_does_not_mention_tickets_when_none_are_out() -> None:
    policy = make(budget="0.5")
    message = refusal(BudgetExhausted, policy.ask)
    assert {"1", "0.5"} <= set(amounts_in(message))
    assert "ticket" not in message


def test_hold_goes_on_when_a_cheap_report_frees_money() -> None:
    policy = make(budget="1.5")
    ticket = policy.ask()
    refusal(BudgetExhausted, policy.ask)
    policy.tell(ticket, 1, 0.5)
    assert policy.left_units == [10**9]
    assert policy.ask().t == 2


def test_hold_stays_shut_when_a_dear_report_frees_too_little() -> None:
    policy = make(budget="1.5")
    policy.tell(policy.ask(), 1, "0.500000001")
    refusal(BudgetExhausted, policy.ask)
    assert policy.t == 1


def test_hold_goes_on_when_a_void_frees_money() -> None:
    policy = make(budget="1.5")
    ticket = policy.ask()
    refusal(BudgetExhausted, policy.ask)
    policy.void(ticket)
    assert policy.left == 1.5
    assert policy.ask().t == 2


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
    assert issubclass(BudgetExhausted, GameOver)
    assert issubclass(HorizonReached, GameOver)
    assert issubclass(GameOver, PurseError)


# several plays, several resources


@pytest.mark.parametrize("form", [list, tuple, np.array], ids=["list", "tuple", "array"])
@pytest.mark.parametrize("costs", [[0.1, 0.2], [[0.1], [0.2]], ["0.1", "0.2"]], ids=["flat", "column", "text"])
def test_two_plays_report_one_reward_and_one_cost_each(form: Callable[[Any], Any], costs: Any) -> None:
    policy = make("uniform", plays=2)
    assert policy.probabilities().tolist() == [2 / 3] * 3
    ticket = policy.ask()
    assert len(set(ticket.arms)) == 2
    assert ticket.held == 2.0
    assert policy.tell(ticket, form([0.25, 0.5]), form(costs))
    assert (policy.gain, policy.spent_units, policy.left_units) == (0.75, [300_000_000], [9_700_000_000])


@pytest.mark.parametrize("costs", [[0.1, 0.4], (0.1, 0.4), np.array([0.1, 0.4]), [[0.1, 0.4]], ["0.1", "0.4"]])
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
    assert policy.tell(policy.ask(), form([1, 0]), form([[0.1, 0.2], [0.3, 0.4]]))
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
        (0.5, [[0.1, 0.2], [0.3, 0.4]]),
        ([0.5], [[0.1, 0.2], [0.3, 0.4]]),
        ([0.5] * 3, [[0.1, 0.2], [0.3, 0.4]]),
        ([0.5, 0.5], 0.1),
        ([0.5, 0.5], [0.1, 0.2]),
        ([0.5, 0.5], [[0.1, 0.2]]),
        ([0.5, 0.5], [[0.1, 0.2], [0.3]]),
        ([0.5, 1.5], [[0.1, 0.2], [0.3, 0.4]]),
        ([0.5, 0.5], [[0.1, 0.2], [0.3, 0.05]]),
        ([], []),
    ],
)
def test_a_report_of_the_wrong_shape_or_with_one_bad_entry_changes_nothing(rewards: Any, costs: Any) -> None:
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


# what is refused


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(
    "reward",
    [-1e-9, 1.0000001, math.nan, math.inf, None, "high", "0.5", {}, 0.5j, [0.5, 0.5], [[0.5], [0.5, 0.5]], [], np.array([np.nan])],
    ids=repr,
)
def test_a_bad_reward_changes_nothing(reward: Any, stop: str) -> None:
    policy = make(stop=stop)
    policy.tell(policy.ask(), 1, 0.5)
    ticket = policy.ask()
    before = standing(policy)
    assert "reward" in refusal(InvalidInput, policy.tell, ticket, reward, 0.5)
    assert standing(policy) == before
    assert policy.tell(ticket, 0.5, 0.5)


@pytest.mark.parametrize("stop", STOP_RULES)
@pytest.mark.parametrize(
    "cost",
    [
        0,
        -0.5,
        "0.099999999",
        "1.000000001",
        math.nan,
        math.inf,
        "NaN",
        None,
        "free",
        "",
        "0.1234567891",
        Decimal("0.1234567891"),
        "0.5000000000000000000000000000000000001",
        10**30,
        [0.5, 0.5],
        [[0.5], [0.5, 0.5]],
        [],
        {},
    ],
    ids=repr,
)
def test_a_bad_cost_changes_nothing(cost: Any, stop: str) -> None:
    policy = make(stop=stop)
    policy.tell(policy.ask(), 1, 0.5)
    ticket = policy.ask()
    before = standing(policy)
    assert "cost" in refusal(InvalidInput, policy.tell, ticket, 0.5, cost)
    assert standing(policy) == before
    assert policy.tell(ticket, 0.5, "0.5")


def test_a_cost_outside_its_range_is_told_the_range() -> None:
    policy = make("fixed", cost_min="0.25", cost_max="0.75")
    message = refusal(InvalidInput, policy.tell, policy.ask(), 0.5, 0.8)
    assert {"0.8", "0.25", "0.75"} <= set(amounts_in(message))


@pytest.mark.parametrize("end", ["tell", "void"])
@pytest.mark.parametrize("stop", STOP_RULES)
def test_a_finished_ticket_is_finished(end: str, stop: str) -> None:
    policy = make(stop=stop)
    ticket = policy.ask()
    _ = policy.tell(ticket, 1, 0.5) if end == "tell" else policy.void(ticket)
    policy.ask()
    before = standing(policy)
    for message in (refusal(TicketError, policy.tell, ticket, 1, 0.5), refusal(TicketError, policy.void, ticket)):
        assert "finished" in message
        assert str(ticket.id) in message
    assert standing(policy) == before


@pytest.mark.parametrize(
    "change", [{"id": 99}, {"id": 0}, {"id": -1}, {"t": 2}, {"arms": (7,)}, {"probabilities": (1e-9,)}, {"held_units": (0,)}, {"held_units": (10**10,)}]
)
def test_a_forged_ticket_changes_nothing(change: dict[str, Any]) -> None:
    policy = make()
    ticket = policy.ask()
    before = standing(policy)
    refusal(TicketError, policy.tell, ticket._replace(**change), 1, 0.5)
    refusal(TicketError, policy.void, ticket._replace(**change))
    assert standing(policy) == before


def test_a_ticket_of_another_policy_changes_nothing() -> None:
    policy, other = make(), make(cost_max=2)
    policy.ask()
    before = standing(policy)
    for ticket in (other.ask(), other.ask()):
        refusal(TicketError, policy.tell, ticket, 1, 0.5)
        refusal(TicketError, policy.void, ticket)
    assert standing(policy) == before


@pytest.mark.parametrize("thing", [None, 1, "ticket", (1, 1, (0,), (1.0,), (10**9,))], ids=repr)
def test_what_is_no_ticket_changes_nothing(thing: Any) -> None:
    policy = make()
    policy.ask()
    before = standing(policy)
    refusal(PurseError, policy.tell, thing, 1, 0.5)
    refusal(PurseError, policy.void, thing)
    assert standing(policy) == before


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("n_arms", 0),
        ("n_arms", -1),
        ("n_arms", 2.5),
        ("n_arms", "3"),
        ("n_arms", None),
        ("budget", 0),
        ("budget", -1),
        ("budget", math.nan),
        ("budget", math.inf),
        ("budget", None),
        ("budget", "lots"),
        ("budget", "1.0000000001"),
        ("budget", [1, 2]),
        ("budget", 1e30),
        ("cost_min", 0),
        ("cost_min", -0.1),
        ("cost_min", math.nan),
        ("cost_min", None),
        ("cost_min", 1.1),
        ("cost_min", [0.1, 0.2]),
        ("cost_min", [0.1, 0, 0.1]),
        ("cost_max", 0.05),
        ("cost_max", [1, 0.05, 1]),
        ("cost_max", "dear"),
        ("n_resources", 0),
        ("plays", 0),
        ("plays", 4),
        ("plays", 2),
        ("n_resources", 2),
        ("horizon", 0),
        ("horizon", 1.5),
        ("costs", [0.1]),
        ("caps", -1),
        ("caps", [1, 2]),
        ("seed", -1),
        ("seed", 2**64),
        ("seed", "x"),
        ("stop", "x"),
        ("stop", None),
    ],
    ids=repr,
)
def test_a_bad_problem_is_refused_by_the_name_of_its_field(field: str, value: Any) -> None:
    assert field in refusal(InvalidInput, make, **{field: value})


def test_a_bad_stop_rule_is_told_the_good_ones() -> None:
    message = refusal(InvalidInput, make, stop="x")
    assert all(rule in message for rule in STOP_RULES)


@pytest.mark.parametrize(("name", "hint"), [("exp3.bkw", "exp3.bwk"), ("unifrm", "uniform"), ("exp3+.bwk", "exp3++.bwk"), ("zzz", "exp3++.bwk")])
def test_an_unknown_policy_is_told_the_nearest(name: str, hint: str) -> None:
    message = refusal(InvalidInput, make, name)
    assert repr(name) in message
    assert hint in message


@pytest.mark.parametrize("thing", [None, 7], ids=repr)
def test_what_is_no_policy_is_refused(thing: Any) -> None:
    refusal(PurseError, make, thing)


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("exp3.bwk:gama=0.5", "gamma"),
        ("exp3.bwk:gamma=2", "gamma"),
        ("exp3.bwk:gamma=many", "gamma"),
        ("uniform:speed=1", "speed"),
        ("fixed:arm=3", "arm"),
        ("fixed:arm=", "fixed:arm="),
        ("fixed:1", "fixed:1"),
    ],
)
def test_a_bad_option_is_refused(spec: str, hint: str) -> None:
    assert hint in refusal(InvalidInput, make, spec)


def test_the_oracle_does_not_play_live() -> None:
    assert "oracle" in refusal(InvalidInput, make, "oracle")


def test_a_number_out_of_nowhere_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="budget"):
        make(budget=0)


def test_threads_may_ask_and_tell_at_once() -> None:
    policy = make(budget="50")

    def spend() -> int:
        paid = 0
        while True:
            try:
                ticket = policy.ask()
            except BudgetExhausted:
                if not policy.tickets:
                    return paid
                continue
            paid += policy.tell(ticket, 0.5, 0.5)

    with ThreadPoolExecutor(4) as pool:
        paid = sum(future.result() for future in [pool.submit(spend) for _ in range(4)])
    assert paid * 500_000_000 == policy.spent_units[0] <= 50_000_000_000
    assert paid == policy.t == 99
    assert policy.tickets == []


def test_caps_are_refused_by_policies_that_do_not_keep_to_them() -> None:
    assert "does not keep to caps" in refusal(InvalidInput, make, caps=5)


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


def test_a_policy_shows_what_it_has() -> None:
    assert repr(make()) == "<Policy exp3.bwk: round 0, spent 0.0, held 0.0, left 10.0, stop=hold>"
