"""Arms that come and go, and prices that change."""

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


def chosen(campaign: Campaign, asks: int = 60) -> set[str]:
    """The arms of tickets that are asked for and told."""
    arms = set()
    for _ in range(asks):
        ticket = campaign.ask()
        arms.add(ticket.arm)
        campaign.tell(ticket, 1, "0.2")
    return arms


def test_an_arm_is_added_chosen_retired_and_comes_back() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS)
    campaign.add_arm("new", cost_max="0.4")
    assert "new" in chosen(campaign)
    ticket = campaign.ask(arms=["new"])
    other = harness.open("c")
    assert other.ask(arms={"new": "0.3"}).held == ("0.3",)
    assert other.ticket(ticket.id).arm == "new"
    other.retire_arm("new")
    assert chosen(other) == {"a", "b"}
    assert other.tell(ticket, 1, "0.3").state == "told"  # as usual
    other.add_arm("new", cost_max="0.6")
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


def test_the_policy_sees_costs_within_floor_and_ceiling() -> None:
    campaign = made(cost_ceiling=4, policy="replan")
    assert campaign.terms.problem.cost_max.tolist() == [[4 * 10**9]] * 2
    assert made().terms.problem.cost_max.tolist() == [[10**9]] * 2
    empty = made(arms={"a": 1, "b": 3}, capacity=3).terms.problem
    assert empty.cost_max.tolist() == [[10**9], [3 * 10**9], [3 * 10**9]]


def test_what_cannot_be() -> None:
    campaign = made(capacity=3)
    campaign.add_arm("blue")
    message = refusal(InvalidInput, campaign.add_arm, "blue", cost_max="0.5")
    assert "is an arm already; set_arm changes what it may cost" in message
    assert "printable name" in refusal(InvalidInput, campaign.add_arm, " spaced")
    campaign.retire_arm("red")
    campaign.retire_arm("green")
    assert "no arm would be left" in refusal(InvalidInput, campaign.retire_arm, "blue")
    campaign.end()
    for call in (campaign.add_arm, campaign.retire_arm, campaign.set_arm):
        refusal(CampaignEnded, call, "blue")


def test_costs_that_are_known_stay_known_at_another_price() -> None:
    campaign = made(cost_min=1, policy="kube")
    campaign.set_arm("red", cost_max="0.5")
    campaign.ask()
    (row,) = campaign.storage.level("test")[-1].head.taught
    assert row == [0, [500_000_000], [500_000_000]]
    assert campaign.audit().ok


@pytest.mark.parametrize(
    "changes", [{"cost_min": None}, {"cost_min": 1, "cost_ceiling": 2}, {"cost_min": [1, "0.9"]}]
)
def test_costs_are_known_where_least_and_most_are_equal(changes: dict[str, Any]) -> None:
    assert made(cost_min=1, policy="kube").terms.problem.costs.tolist() == [[10**9]] * 2
    message = refusal(InvalidInput, made, policy="kube", **changes)
    assert "for a campaign a cost_min equal to the most of each arm" in message
