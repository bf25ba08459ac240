"""The rules of accounts are broken on purpose: the database refuses, and without that an audit
finds it.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from purse.campaign.rules import Transaction

from purse import PurseError
from purse.campaign.storage import postgres, postgres_levels, sqlite
from tests.support.accounts import balance, campaign, company
from tests.support.conformance_accounts import check_no_lost_booking
from tests.support.mutations import NEVER_OVERSPENT, without
from tests.support.storages import StorageHarness


@pytest.fixture(params=["sqlite", "postgres"])
def sql(
    request: pytest.FixtureRequest, make_harness: Callable[[str], StorageHarness]
) -> StorageHarness:
    return make_harness(request.param)


def overlook_accounts(patch: pytest.MonkeyPatch) -> None:
    """What an account has left does not matter."""
    patch.setattr(Transaction, "left", lambda book: [purse.left for purse in book.ledger.balances])


def test_the_database_stands_behind_the_rules(
    sql: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is written on any level."""
    storage = sql.storage()
    top, team = company(storage, team=2)
    below = campaign(storage, "below")
    below.ask_many(2)
    overlook_accounts(monkeypatch)
    with pytest.raises(PurseError, match="would violate a constraint"):
        below.ask()
    for level, left in ((top, "8"), (team, "0"), (below, "98")):
        assert balance(level) == ("0", "2", "0", left, "0")
        assert level.audit().ok


def test_without_the_check_an_audit_finds_it(
    sql: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, NEVER_OVERSPENT)
    storage = sql.storage()
    top, team = company(storage, team=2)
    below = campaign(storage, "below")
    overlook_accounts(monkeypatch)
    below.ask_many(3)
    found = team.audit().findings
    assert "entry 2: spent + held + presumed exceeds the budget" in found
    assert "entry 2 of campaign 'below' saw 100 as left, and it was 2" in found
    assert "entry 2 of campaign 'below' saw 100 as left, and it was 10" in top.audit().findings


def test_what_ends_between_the_levels_leaves_nothing(
    sql: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The campaign is written, and its accounts are not."""
    storage = sql.storage()
    top, team = company(storage)
    below = campaign(storage, "below")
    ticket = below.ask()

    def dies(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        for module in (sqlite, postgres):
            patch.setattr(module, "write_accounts", dies)
        for call in (lambda: below.ask("r"), lambda: below.tell(ticket, 1, 1)):
            with pytest.raises(ZeroDivisionError):
                call()
    for level, left in ((top, "9"), (team, "5"), (below, "99")):
        assert balance(level) == ("0", "1", "0", left, "0")
        assert level.audit().ok
    assert below.ask("r").id == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_accounts_that_are_not_locked_lose_bookings(
    make_harness: Callable[[str], StorageHarness], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has one lock for all; rows have one each."""
    harness = make_harness("postgres")
    unlocked = postgres_levels.LOCK.removesuffix(" FOR UPDATE")
    monkeypatch.setattr(postgres_levels, "LOCK", unlocked)
    with pytest.raises((AssertionError, PurseError)):
        check_no_lost_booking(harness.storage)
