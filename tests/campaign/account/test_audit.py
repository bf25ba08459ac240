"""Audits of accounts and of campaigns below them: they find what does not agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from purse import Account, Campaign, PurseError
from purse.campaign import asks
from purse.campaign.ledger import Level
from purse.campaign.storage.connect import in_memory
from tests.support.accounts import balance, campaign, company
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
    assert (first.audit().after, top.audit().entries) == (first.status().entries, 2)
    assert first.audit(full=True).ok
    assert len(top.audit().digest) == 32


def test_an_ask_that_a_paused_account_let_through(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = harness_in_memory.storage()
    top, _ = company(storage)
    below = campaign(storage, "below")
    top.pause()
    with monkeypatch.context() as patch:
        patch.setattr(asks, "refuse_stopped", lambda _: None)
        below.ask()
    for level in (top, below):
        assert "would be refused: account 'company' is paused" in findings(level)


def test_an_ask_that_saw_more_than_was_left(
    harness_in_memory: MemoryHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = harness_in_memory.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    with monkeypatch.context() as patch:
        patch.setattr(Level, "left", lambda _: [7 * UNIT])
        below.ask()
    assert "entry 2 would be" in findings(team)
    assert '"left":[6000000000]' in findings(team)


def test_a_campaign_that_is_not_below(harness_in_memory: MemoryHarness) -> None:
    storage = harness_in_memory.storage()
    _, team = company(storage)
    below = campaign(storage, "below")
    below.ask()
    harness_in_memory.execute("UPDATE purse_levels SET parent = NULL WHERE name = 'below'")
    assert "the balances of account 'team'" in findings(team)
    with pytest.raises(PurseError, match="was deleted and recreated"):
        Campaign.open("below", storage=harness_in_memory.storage()).ask()


def test_a_restored_campaign_joins_an_account(harness: StorageHarness, tmp_path: Path) -> None:
    storage = harness.storage()
    top, team, first, _ = played(storage)
    file = tmp_path / "journal"
    first.export(file)
    copy = Campaign.restore(file, name="copy", storage=storage)
    assert copy.status().account == ""
    assert copy.status().digest == first.status().digest
    assert copy.audit(full=True).ok
    spent, *_, overrun = balance(team)
    joined: Any = Campaign.restore(file, name="joined", account="team", storage=storage)
    entry = [*joined.journal()][-1]
    assert (entry.kind, entry.body) == ("joined", {"periods": {}})
    assert (spent, overrun) == ("1.75", "0.5")
    assert (balance(team)[0], balance(team)[-1]) == ("3.5", "1")
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
    assert [*joined.journal()][-1].kind == "joined"
    assert findings(top, team, joined) == ""
    assert joined.audit(full=True).ok
