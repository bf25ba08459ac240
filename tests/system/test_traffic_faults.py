"""What the machine and a second look have found in the rules of asks and reports."""

from __future__ import annotations

from typing import Any

import pytest

from purse import Conflict, InvalidInput
from purse.campaign import audit, ticket_window
from tests.support.campaigns import made
from tests.support.storages import MemoryHarness


def test_arms_that_are_no_list_are_refused_whatever_the_capacity() -> None:
    for capacity in (None, 3):
        campaign = made(capacity=capacity)
        several: list[Any] = [3, [["red"]], [{}], 1.5]
        for bad in several:
            with pytest.raises(InvalidInput):
                campaign.ask(arms=bad)


def test_a_void_ticket_that_is_settled_is_open_once() -> None:
    """It was closed by the void, is open again until its reward comes, and then closed."""
    campaign = made(policy="replan")
    ticket = campaign.ask()
    seen = []
    for act in (
        lambda: campaign.void(ticket),
        lambda: campaign.settle(ticket, "0.5"),
        lambda: campaign.reward(ticket, 1),
    ):
        act()
        seen.append(sum(campaign.storage.overview("test").head.open))
    assert seen == [0, 1, 0]
    assert campaign.audit().ok


def test_a_reward_outside_the_range_is_counted_once() -> None:
    campaign = made(reward_range=(0, 10))
    for order in ("tell", "reward first", "cost first"):
        ticket = campaign.ask()
        if order == "tell":
            campaign.tell(ticket, 20, "0.5")
        elif order == "reward first":
            campaign.reward(ticket, 20)
            campaign.settle(ticket, "0.5")
        else:
            campaign.settle(ticket, "0.5")
            campaign.reward(ticket, 20)
    assert campaign.status().counts["outside_range"] == 3


def test_an_ask_knows_the_missing_rewards_that_stand_before_it_in_the_journal() -> None:
    """They are written in its own transaction: the audit learns them before it chooses."""
    harness = MemoryHarness()
    campaign = made(
        harness, policy="exp3.bwk", reward_within=60, missing_reward=1, expires_after=None
    )
    for _ in range(4):
        for ticket in campaign.ask_many(2):
            campaign.settle(ticket, "0.1")
        harness.clock += 60_000
    campaign.ask()
    assert campaign.status().counts["told"] == 8
    assert campaign.audit(full=True).findings == ()
    expected = campaign.probabilities()
    assert harness.open("test").probabilities() == expected


def test_an_audit_puts_a_void_ticket_back_that_was_settled_long_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its deadline was another one then, and its reward was not there."""
    for module in (ticket_window, audit):
        monkeypatch.setattr(module, "BUCKET", 2)
    monkeypatch.setattr(ticket_window, "YOUNG", 2)
    harness = MemoryHarness()
    campaign = made(harness, expires_after=3600, reward_within=60, missing_reward=0)
    ticket = campaign.ask()
    campaign.void(ticket)
    for _ in range(6):
        campaign.tell(campaign.ask(), 1, "0.1")
    campaign.settle(ticket, "0.2")
    harness.clock += 60_000
    assert campaign.expire() == 1
    with pytest.raises(Conflict):
        campaign.reward(ticket, 1)
    for _ in range(6):
        campaign.tell(campaign.ask(), 1, "0.1")
    assert campaign.audit(full=True).findings == ()


def test_the_time_of_an_entry_is_read_under_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waited for the lock has not the time of before: another may have begun a cool-down."""
    harness = MemoryHarness()
    campaign = made(harness)
    change = campaign.storage.change

    def waits(*arguments: Any) -> None:
        harness.clock += 500
        change(*arguments)

    monkeypatch.setattr(campaign.storage, "change", waits)
    assert campaign.ask().asked_at == harness.clock / 1000
