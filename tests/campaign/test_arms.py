"""Arms that come and go, and prices that change."""

from __future__ import annotations

from typing import Any

import pytest

from purse import InvalidInput
from purse.campaign.campaign import Campaign
from purse.errors import CampaignEnded
from tests.support.campaigns import made, refusal
from tests.support.storages import MemoryHarness

TERMS: dict[str, Any] = {
    "arms": {"a": "0.5", "b": 1},
    "budget": 100,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
    "capacity": 4,
}


def chosen(campaign: Campaign, asks: int = 60) -> set[str | None]:
    """The arms of tickets that are asked for and told."""
    arms = set()
    for _ in range(asks):
        ticket = campaign.ask()
        arms.add(ticket.arm)
        campaign.tell(ticket, 1, "0.2")
    return arms


def test_places_without_an_arm_are_never_chosen() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    assert chosen(campaign) == {"a", "b"}
    assert set(campaign.probabilities()) == {"a", "b"}
    assert campaign.audit(full=True).ok


def test_an_arm_is_added_chosen_retired_and_comes_back() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    other = harness.open("c")
    status = campaign.add_arm("new", cost_max="0.4")
    assert status.arms == ("a", "b", "new")
    assert "new" in chosen(campaign)
    ticket = campaign.ask(arms=["new"])
    assert (ticket.arm, ticket.held) == ("new", ("0.4",))
    other = harness.open("c")
    assert other.ask(arms={"new": "0.3"}).held == ("0.3",)
    assert other.ticket(ticket.id).arm == "new"
    status = other.retire_arm("new")
    assert (status.arms, status.retired) == (("a", "b"), ("new",))
    assert chosen(other) == {"a", "b"}
    assert "retired" in refusal(InvalidInput, other.ask, arms=["new", "a"])
    assert other.tell(ticket, 1, "0.3").state == "told"  # as usual
    back = other.add_arm("new", cost_max="0.6")
    assert (back.arms, back.retired) == (("a", "b", "new"), ())
    assert other.ask(arms=["new"]).held == ("0.6",)
    assert harness.open("c").audit(full=True).ok


def test_what_was_learnt_of_an_arm_is_there_when_it_comes_back() -> None:
    campaign = MemoryHarness().create("c", **TERMS)
    for _ in range(30):
        ticket = campaign.ask()
        campaign.tell(ticket, float(ticket.arm == "a"), "0.2")
    before = campaign.probabilities()
    assert before["a"] > 0.52
    campaign.retire_arm("a")
    assert campaign.probabilities() == {"a": 0.0, "b": 1.0}
    campaign.add_arm("a")
    assert campaign.probabilities() == before


def test_a_new_arm_owes_its_initial_pull() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **{**TERMS, "policy": "ucb-bv1"})
    first = campaign.ask()
    campaign.tell(first, 1, "0.2")
    campaign.add_arm("new")
    assert [campaign.ask().arm for _ in range(2)] == ["b", "new"]
    campaign.add_arm("newer")
    pull = harness.open("c").ask()
    assert pull.arm == "newer"
    campaign = harness.open("c")
    campaign.void(pull)
    assert campaign.ask().arm == "newer"
    assert campaign.audit(full=True).ok


def test_prices_move_between_the_first_least_and_the_ceiling() -> None:
    harness = MemoryHarness()
    terms = {**TERMS, "cost_min": "0.05", "cost_ceiling": {"a": 2, "b": 2}}
    campaign = harness.create("c", **terms)
    assert campaign.ask(arms=["a"]).held == ("0.5",)
    campaign.set_arm("a", cost_max="1.5")
    assert harness.open("c").ask(arms=["a"]).held == ("1.5",)
    campaign = harness.open("c")
    campaign.set_arm("a", cost_min="0.1", cost_max="0.2")
    assert campaign.tell(campaign.ask(arms=["a"]), 1, "0.06").state == "told"
    assert [alarm.kind for alarm in campaign.status().alarms] == ["below-minimum"]
    campaign.set_arm("a", cost_min="0.05")
    ticket = campaign.ask(arms=["a"])
    assert ticket.held == ("0.2",)
    campaign.tell(ticket, 1, "0.06")
    assert campaign.status().counts["below_minimum"] == 1  # this one is not below the minimum
    for bad in ({"cost_max": "2.1"}, {"cost_min": "0.04"}, {"cost_min": "0.3"}):
        message = refusal(InvalidInput, campaign.set_arm, "a", **bad)
        assert "between the cost_min of arm 'a' and its ceiling, 0.05 and 2" in message
    assert campaign.audit(full=True).ok


def test_the_policy_sees_costs_within_floor_and_ceiling() -> None:
    campaign = made(cost_ceiling=4, policy="replan")
    assert campaign.terms.problem.cost_max.tolist() == [[4 * 10**9]] * 2
    assert made().terms.problem.cost_max.tolist() == [[10**9]] * 2
    empty = made(arms={"a": 1, "b": 3}, capacity=3).terms.problem
    assert empty.cost_max.tolist() == [[10**9], [3 * 10**9], [3 * 10**9]]


def test_the_same_again_changes_nothing() -> None:
    campaign = made(capacity=3)
    campaign.add_arm("blue", cost_max="0.5")
    before = campaign.status().entries
    campaign.add_arm("blue", cost_max="0.5")
    campaign.add_arm("blue")
    campaign.set_arm("blue", cost_max="0.5")
    campaign.retire_arm("red")
    campaign.retire_arm("red")
    assert campaign.status().entries == before + 1


def test_what_cannot_be() -> None:
    campaign = made(capacity=3)
    campaign.add_arm("blue")
    assert "capacity of 3 arms" in refusal(InvalidInput, campaign.add_arm, "black")
    message = refusal(InvalidInput, campaign.add_arm, "blue", cost_max="0.5")
    assert "is an arm already; set_arm changes what it may cost" in message
    for verb in (campaign.retire_arm, campaign.set_arm):
        assert "unknown arm 'grey'" in refusal(InvalidInput, verb, "grey")
    assert "printable name" in refusal(InvalidInput, campaign.add_arm, " spaced")
    campaign.retire_arm("red")
    campaign.retire_arm("green")
    assert "no arm would be left" in refusal(InvalidInput, campaign.retire_arm, "blue")
    campaign.end()
    for call in (campaign.add_arm, campaign.retire_arm, campaign.set_arm):
        refusal(CampaignEnded, call, "blue")


def test_costs_that_are_known_do_not_change() -> None:
    campaign = made(cost_min=1, policy="kube")
    message = refusal(InvalidInput, campaign.set_arm, "red", cost_min="0.5", cost_max="0.5")
    assert "between the cost_min of arm 'red' and its ceiling, 1 and 1" in message


@pytest.mark.parametrize(
    "changes", [{"cost_min": None}, {"cost_min": 1, "cost_ceiling": 2}, {"cost_min": [1, "0.9"]}]
)
def test_costs_are_known_where_least_and_most_are_equal(changes: dict[str, Any]) -> None:
    assert made(cost_min=1, policy="kube").terms.problem.costs.tolist() == [[10**9]] * 2
    message = refusal(InvalidInput, made, policy="kube", **changes)
    assert "for a campaign a cost_min equal to the most of each arm" in message
