"""Audits of accounts and of campaigns below them: they find what does not agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.rules import Transaction

from purse import Account, Campaign
from purse.campaign.checkpoint import BOOKED
from purse.campaign.records import Balance
from purse.campaign.storage.connect import in_memory
from tests.support.accounts import campaign, company
from tests.support.storages import MemoryHarness, StorageHarness

UNIT = 10**9


@pytest.fixture
def harness_in_memory() -> MemoryHarness:
    return MemoryHarness()


def findings(*levels: Any) -> str:
    """All that audits of these find, in one text."""
    return "\n".join(text for level in levels for text in level.audit().findings)


def played(storage: Any) -> tuple[Account, Account, Any, Any]:
    """Two accounts and two campaigns that have done all kinds of things."""
    top, team = company(storage)
    first, second = campaign(storage, "first"), campaign(storage, "second", "company")
    tickets = first.ask_many(4)
    first.tell(tickets[0], 1, "0.5")
    first.settle(tickets[1], "1.5")
    first.void(tickets[2])
    second.ask_many(2)
    top.top_up(1, "r")
    team.pause()
    first.fail(tickets[3], "0.25")
    team.resume()
    return top, team, first, second


def test_what_agrees(harness: StorageHarness) -> None:
    storage = harness.storage()
    top, team, first, second = played(storage)
    assert findings(top, team, first, second) == ""
    harness.clock += 3_600_000
    second.expire()
    first.ask_many(2)
    assert findings(top, team, first, second) == ""
    assert (first.audit().after, top.audit().entries) == (first.status().entries, 11)
    assert first.audit(full=True).ok
    assert len(top.audit().digest) == 64


def test_a_campaigns_audit_goes_on_where_the_last_one_ended(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the journals of its accounts, too."""
    storage = harness_in_memory.storage()
    _, _, first, _ = played(storage)
    assert first.audit().ok
    read: list[tuple[str, int]] = []
    entries = storage.account_entries

    def noted(name: str, after: int, limit: int) -> Any:
        if limit > 1:
            read.append((name, after))
        return entries(name, after, limit)

    monkeypatch.setattr(storage, "account_entries", noted)
    first.ask()
    assert first.audit().ok
    assert ("company", 0) not in read
    assert ("team", 0) not in read
    storage._campaigns["first"].checkpoints.pop(BOOKED)
    read.clear()
    first.ask()
    assert first.audit().ok
    assert ("company", 0) in read


@pytest.mark.parametrize("kind", ["asked", "told", "voided"])
def test_an_entry_that_was_not_booked(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """In the middle of a journal, or at its end."""
    storage = harness_in_memory.storage()
    book = Transaction.book

    def careless(transaction: Any, entry: Any, before: Any) -> None:
        if entry.kind != kind:
            book(transaction, entry, before)

    top, team = company(storage)
    below = campaign(storage, "below")
    kept, other = below.ask(), below.ask()
    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "book", careless)
        {"asked": below.ask, "told": lambda: below.tell(kept, 1, 1)}.get(
            kind, lambda: below.void(kept)
        )()
    assert f"entry 4 of campaign 'below', {kind}, is not booked on account 'team'" in findings(team)
    assert "entry 4 is not booked on account 'company'" in findings(below)
    below.void(other)
    assert findings(top).count("is not booked") == 1
    assert findings(below).count("is not booked") == 2  # once on each account


def test_an_entry_that_was_booked_twice(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = harness_in_memory.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    book = Transaction.book

    def twice(*given: Any) -> None:
        book(*given)
        book(*given)

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "book", twice)
        below.ask()
    below.ask()
    assert "entry 3, moved: nothing should have been written" in findings(team)
    assert "account 'team' books entry 2 once too often" in findings(below)


def test_other_amounts_and_purses(harness_in_memory: MemoryHarness) -> None:
    storage = harness_in_memory.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    below.ask()
    stored = storage._accounts["team"]
    stored.balances = [Balance(6 * UNIT, held=2 * UNIT)]
    assert "the purses are [(6000000000, 0, 2000000000, 0, 0)]" in findings(team)
    stored.entries[1].body["held"] = [2 * UNIT]
    assert "would be" in findings(team)
    assert "moves {'held': [1000000000]}, and account 'team' has" in findings(below)


def test_an_ask_that_a_paused_account_let_through(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = harness_in_memory.storage()
    top, _ = company(storage)
    below = campaign(storage, "below")
    top.pause()
    with monkeypatch.context() as patch:
        patch.setattr(AccountTransaction, "refuse_stopped", lambda _: None)
        below.ask()
    assert "was asked while account 'company' was not running" in findings(top)


def test_an_ask_that_saw_more_than_was_left(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = harness_in_memory.storage()
    top, team = company(storage)
    below, direct = campaign(storage, "below"), campaign(storage, "direct", "company")
    for seen in ([7 * UNIT], [2 * UNIT]):
        with monkeypatch.context() as patch:
            patch.setattr(Transaction, "left", lambda _, seen=seen: list(seen))
            below.ask()
            direct.ask()
    assert "entry 2 of campaign 'below' saw 7 as left, and it was 6" in findings(team)
    assert "entry 3 of campaign 'direct' saw 2 as left, and it was 7" in findings(top)
    assert findings(below, direct) == ""  # alone, they may have had less above them
    stored = storage._campaigns["below"]
    stored.entries[1].body["left"] = [101 * UNIT]
    assert "would be" in below.audit(full=True).findings[0]


def test_a_campaign_that_is_not_below(harness_in_memory: MemoryHarness) -> None:
    storage = harness_in_memory.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    below.ask()
    storage._campaigns["below"].account = ""
    assert "there is no campaign 'below' below account 'team'" in findings(team)
    with pytest.raises(Exception, match="the storage has other accounts above it"):
        below.ask()
    storage._accounts["team"].account = ""
    assert "the account above it is '', and should be 'company'" in findings(team)


def test_a_restored_campaign_joins_an_account(harness: StorageHarness, tmp_path: Path) -> None:
    storage = harness.storage()
    top, team, first, _ = played(storage)
    file = tmp_path / "journal"
    first.export(file)
    copy = Campaign.restore(file, name="copy", storage=storage)
    assert copy.status().account == ""
    assert copy.status().digest == first.status().digest
    assert copy.audit(full=True).ok
    joined = Campaign.restore(file, name="joined", account="team", storage=storage)
    entry = [*team.journal()][-1]
    assert (entry.kind, entry.body) == (
        "joined",
        {
            "campaign": "joined",
            "entry": first.status().entries,
            "spent": [UNIT * 7 // 4],
            "overrun": [UNIT // 2],
        },
    )
    joined.ask()
    assert findings(top, team, joined) == ""
    assert joined.audit(full=True).ok


def test_a_restored_campaign_that_spent_nothing_joins_too(tmp_path: Path) -> None:
    storage = in_memory()
    top, team = company(storage)
    alone = campaign(storage, "alone", None)
    alone.void(alone.ask())
    alone.export(tmp_path / "journal")
    joined = Campaign.restore(tmp_path / "journal", name="joined", account="team", storage=storage)
    assert [*team.journal()][-1].body == {"campaign": "joined", "entry": 3}
    assert findings(top, team, joined) == ""
    assert joined.audit(full=True).ok
