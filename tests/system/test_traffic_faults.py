"""What the machine and a second look have found in the rules of asks and reports."""

from __future__ import annotations

from typing import Any

import pytest

from purse import Conflict
from purse.campaign.run import audit
from tests.support.campaigns import made
from tests.support.storages import MemoryHarness


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
        seen.append(sum(campaign.storage.level("test")[-1].head.open))
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


def test_an_audit_puts_a_void_ticket_back_that_was_settled_long_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its deadline was another one then, and its reward was not there."""
    monkeypatch.setattr(audit, "_PAGE_SIZE", 2)
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
