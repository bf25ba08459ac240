"""Rewards that come late, or never; and rewards in a range of their own."""

from __future__ import annotations

from typing import Any

import pytest

from purse import Conflict, Policy
from tests.support.campaigns import counts
from tests.support.soak import scale
from tests.support.storages import MemoryHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 1},
    "budget": 100,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
}
HOUR, DAY = 3_600_000, 86_400_000  # ms


def same_policy() -> Policy:
    """The same policy in memory."""
    return Policy("exp3.bwk", n_arms=2, budget=100, cost_min="0.1", cost_max=1, stop="fit")


def test_a_reward_a_day_later_is_learnt_with_its_own_probability() -> None:
    harness, live = MemoryHarness(), same_policy()
    campaign = harness.create("c", **TERMS, expires_after=60)
    first, early = campaign.ask(), live.ask()
    campaign.settle(first, "0.5")
    for _ in range(20):
        harness.clock += 1_000
        ticket, pair = campaign.ask(), live.ask()
        assert (ticket.probability, ticket.arm == "a") == (pair.probability, pair.arm == 0)
        campaign.tell(ticket, 1, "0.5")
        live.tell(pair, 1, "0.5")
    harness.clock += 3_650 * DAY  # without a time to wait it may come after years
    assert campaign.expire() == 0
    campaign = harness.open("c")
    chances = campaign.probabilities()
    campaign.reward(first, 1)
    live.tell(early, 1, "0.5")
    assert list(campaign.probabilities().values()) == live.probabilities().tolist()
    assert campaign.probabilities() != chances
    assert first.probability == 0.5 != chances[first.arm or ""]
    assert campaign.audit(full=True).ok


def test_a_missing_reward_counts_as_its_value_once_the_time_is_over() -> None:
    harness, live = MemoryHarness(), same_policy()
    campaign = harness.create("c", **TERMS, reward_within=3_600, missing_reward=0)
    tickets = [campaign.ask() for _ in range(3)]
    pairs = [live.ask() for _ in range(3)]
    for ticket in tickets:
        campaign.settle(ticket, "0.5")
    campaign.reward(tickets[1], 1)
    live.tell(pairs[1], 1, "0.5")
    harness.clock += HOUR - 1
    assert campaign.expire() == 0
    assert campaign.settle(tickets[0], "0.5").duplicate  # it waits from the first time
    harness.clock += 1
    assert harness.open("c").expire() == 2
    for pair in (pairs[0], pairs[2]):
        live.tell(pair, 0, "0.5")
    campaign = harness.open("c")
    assert list(campaign.probabilities().values()) == live.probabilities().tolist()
    assert counts(campaign) == {"tickets": 3, "told": 3}
    missing = [entry.body.get("missing") for entry in campaign.journal() if entry.kind == "told"]
    assert missing == [None, True, True]
    assert campaign.audit(full=True).ok


def test_after_the_time_is_over_another_reward_is_a_conflict_and_not_learnt() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS, reward_within=10, missing_reward=0)
    ticket = campaign.ask().id
    campaign.settle(ticket, "0.5")
    harness.clock += 10_000
    campaign.ask()  # an ask waits no longer either
    assert counts(harness.open("c")) == {"tickets": 2, "held": 1, "told": 1}
    before = campaign.probabilities()
    assert campaign.reward(ticket, 0).duplicate
    assert campaign.settle(ticket, "0.5").duplicate
    assert campaign.tell(ticket, 0, "0.5").duplicate
    for call in (
        lambda: campaign.settle(ticket, "0.4"),
        lambda: campaign.tell(ticket, 1, "0.5"),
        lambda: campaign.reward(ticket, 1),
        lambda: campaign.fail(ticket),
        lambda: campaign.void(ticket),
    ):
        with pytest.raises(Conflict):
            call()
    assert campaign.probabilities() == before
    assert counts(campaign) == {"tickets": 2, "held": 1, "told": 1, "conflicts": 5}
    assert campaign.audit(full=True).ok


@pytest.mark.parametrize("policy", ["replan", "exp3++.bwk", "ucb-bv1"][: scale(1, 3)])
def test_an_arm_whose_rewards_never_arrive_gets_a_fifth_of_the_asks(policy: str) -> None:
    harness = MemoryHarness()
    terms = {"arms": {"a": 1, "b": 1, "c": 1}, "budget": 10_000, "cost_min": "0.1"}
    campaign = harness.create("c", **terms, policy=policy)
    silent, asks = 0, scale(300, 600)
    for turn in range(asks):
        harness.clock += 100
        ticket = campaign.ask()
        if ticket.arm == "b":
            silent += 1
            campaign.settle(ticket, "0.5")
        else:
            campaign.tell(ticket, turn % 2, "0.5")
    assert silent <= asks / 5
    (alarm,) = campaign.status().alarms
    assert (alarm.kind, "'b'" in alarm.text, str(silent) in alarm.text) == ("silent", True, True)
    for ticket in campaign.tickets(["settled"]):
        campaign.reward(ticket, 1)
    assert campaign.status().alarms == ()
    assert campaign.audit(full=True).ok


def test_rewards_in_a_range_of_their_own() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS, reward_range=(-10, 30))
    live = same_policy()
    for reward, seen in ((30, 1), (-10, 0), (0, 0.25), (50, 1), (-11, 0)):
        ticket, pair = campaign.ask(), live.ask()
        campaign.tell(ticket, reward, "0.5")
        live.tell(pair, seen, "0.5")
        assert list(campaign.probabilities().values()) == live.probabilities().tolist()
    rewards = [entry.body["reward"] for entry in campaign.journal() if entry.kind == "told"]
    assert rewards == [30, -10, 0, 50, -11]
    (alarm,) = campaign.status().alarms
    assert (alarm.kind, alarm.text.startswith("2 reports")) == ("outside-range", True)
    copy = harness.open("c")
    assert copy.probabilities() == campaign.probabilities()
    assert campaign.audit(full=True).ok
