"""Accounts behind a Unix socket: the server books, and clients see the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from purse import Account, BudgetHeld, Campaign, CampaignClosed, Conflict, NoSuchCampaign
from tests.support.accounts import balance, campaign, company
from tests.support.campaigns import refusal
from tests.support.storages import StorageHarness, UnixHarness

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs a Unix socket of Linux")


@pytest.fixture
def address(make_harness: Callable[[str], StorageHarness]) -> Iterator[str]:
    harness = make_harness("unix")
    assert isinstance(harness, UnixHarness)
    yield harness.start_server()
    harness.close()


def test_all_verbs(address: str) -> None:
    top, team = company(address, team=2)
    below = campaign(address, "below")
    ticket = below.ask()
    below.ask()
    assert "account 'team' has 0 left" in refusal(BudgetHeld, below.ask)
    assert team.top_up(1, "r").purses[0].budget == "3"
    assert team.top_up(1, "r").purses[0].budget == "3"
    refusal(Conflict, team.top_up, 2, "r")
    below.tell(ticket, 1, "0.5")
    assert balance(top) == ("0.5", "1", "0", "8.5", "0")
    assert [each.name for each in top.status().children] == ["team"]
    assert Account.names(storage=address) == ["company", "team"]
    assert (top.pause().status, top.resume().status) == ("paused", "running")
    assert all(each.audit().ok for each in (top, team, below))
    assert team.close().status == "closed"
    assert refusal(CampaignClosed, below.ask) == "account 'team' is closed"
    assert "there is no account 'nobody'" in refusal(
        NoSuchCampaign, Account.open, "nobody", storage=address
    )
    assert [entry.kind for entry in top.journal()][-2:] == ["paused", "resumed"]


def test_an_account_that_took_the_place_of_another(address: str) -> None:
    top, _ = company(address)
    other: Any = Account.open("company", storage=address)
    object.__setattr__(other.terms, "id", "0" * 16)
    assert "was deleted and recreated" in refusal(NoSuchCampaign, other.top_up, 1)
    assert top.status().purses[0].budget == "10"


def test_a_restored_campaign_joins_an_account(address: str, tmp_path: Path) -> None:
    company(address, team=2)
    below = campaign(address, "below")
    below.tell(below.ask(), 1, "0.75")
    below.export(tmp_path / "journal")
    copy = Campaign.restore(tmp_path / "journal", name="copy", account="team", storage=address)
    assert balance(Account.open("team", storage=address)) == ("1.5", "0", "0", "0.5", "0")
    assert copy.audit().ok
