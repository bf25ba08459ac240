from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from purse.campaign.replay_journal import JournalReplay

from purse import Conflict
from purse.campaign import audit, ticket_window
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 1_000,
    "cost_min": "0.5",
    "policy": "uniform",
}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few tickets are kept, and few share a sum."""
    monkeypatch.setattr(ticket_window, "BUCKET", 4)
    monkeypatch.setattr(audit, "BUCKET", 4)
    monkeypatch.setattr(ticket_window, "YOUNG", 8)


def played(harness: StorageHarness) -> Any:
    campaign = harness.create("c", **TERMS)
    for number in range(30):
        ticket = campaign.ask()
        if number % 5 == 1:
            campaign.void(ticket)
        elif number != 3:
            campaign.tell(ticket, 1, 1)
    return campaign


def test_few_tickets_are_kept_and_open_ones_always(harness: StorageHarness) -> None:
    campaign = played(harness)
    replay = JournalReplay(campaign.terms, lambda _: None)
    audit.follow(replay, campaign.storage, campaign.status().entries)
    assert 4 in replay.tickets
    assert len(replay.tickets) < 18
    assert set(replay.tickets) - {4} == set(range(31 - len(replay.tickets) + 1, 31))


def test_what_is_said_of_old_tickets_is_decided_again(harness: StorageHarness) -> None:
    campaign = played(harness)
    assert campaign.tell(2, 1, 1).late  # void
    for wrong in (lambda: campaign.tell(1, 0, 1), lambda: campaign.void(1)):
        with pytest.raises(Conflict):
            wrong()
    assert campaign.audit().ok
    assert campaign.tell(7, 1, 2).late
    with pytest.raises(Conflict):
        campaign.tell(7, 1, 1)
    assert campaign.audit().ok
    assert campaign.audit(full=True).ok
    assert campaign.audit() == campaign.audit(full=True)


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE purse_tickets SET state = 'void' WHERE id = 6", "tickets 4 to 7"),
        ("UPDATE purse_tickets SET at = at + 1 WHERE id = 6", "tickets 4 to 7"),
        (
            'UPDATE purse_tickets SET body = replace(body, \'"request":"\', \'"request":"x\') '
            "WHERE id = 6",
            "tickets 4 to 7",
        ),
        ("DELETE FROM purse_tickets WHERE id = 6", "the first is 6"),
        ("UPDATE purse_tickets SET state = 'told' WHERE id = 4", "ticket 4 is stored as told"),
        ("UPDATE purse_tickets SET state = 'void' WHERE id = 30", "ticket 30 is stored as void"),
    ],
)
def test_a_full_audit_finds_an_old_ticket_that_was_changed(
    make_harness: Callable[[str], StorageHarness], statement: str, part: str
) -> None:
    harness = make_harness("sqlite")
    campaign = played(harness)
    assert campaign.audit().ok
    harness.execute(statement)
    (finding,) = campaign.audit(full=True).findings
    assert part in finding
