"""Accounts whose budget is renewed: every level has periods of its own."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest

from purse import Account, Campaign, InvalidInput
from purse.campaign.budget_terms import AccountTerms
from purse.campaign.period import Period
from purse.campaign.transaction import Transaction
from purse.errors import BudgetHeld
from tests.support.accounts import balance, campaign
from tests.support.campaigns import refusal
from tests.support.storages import START, MemoryHarness, StorageHarness

HOUR = 3_600_000  # ms
UNIT = 10**9


def begun(harness: StorageHarness, **changes: Any) -> tuple[Account, Campaign]:
    """An account of 10 every 6 hours, and a campaign below it that has 100."""
    storage = harness.storage()
    terms = {"budget": 10, "every": "6h", **changes}
    account = Account.create("team", **terms, storage=storage)
    return account, campaign(storage, "c", expires_after=None)


def renewals(level: Any) -> list[dict[str, Any]]:
    return [entry.body for entry in level.journal() if entry.kind == "renewed"]


def period(level: Any) -> Any:
    found = level.status().period
    assert found is not None
    return found


def test_the_first_operation_below_it_begins_its_periods(harness: StorageHarness) -> None:
    account, below = begun(harness, carry="all")
    below.tell(below.ask(), 1, "0.5")
    harness.clock = START + 13 * HOUR
    assert balance(account) == ("0.5", "0", "0", "29.5", "0")
    assert renewals(account) == []  # nobody has made them
    below.ask()
    found = renewals(account)
    assert [each["number"] for each in found] == [2, 3]
    assert [entry.kind for entry in account.journal()] == ["created", "renewed", "renewed"]
    assert balance(account) == ("0.5", "1", "0", "28.5", "0")
    assert (period(account).number, period(account).carried, period(account).rounds) == (
        3,
        ("19.5",),
        None,
    )
    assert renewals(below) == []
    assert Account.open("team", storage=harness.storage()).status() == account.status()
    assert below.audit(full=True).ok
    assert account.audit().findings == ()


@pytest.mark.parametrize(("carry", "left"), [("none", "10"), ("all", "19.5")])
@pytest.mark.parametrize("verb", ["tell", "settle", "fail", "late"])
def test_a_refund_counts_by_the_period_of_the_account(carry: str, left: str, verb: str) -> None:
    harness = MemoryHarness()
    account = Account.create("team", budget=10, every="6h", carry=carry, storage=harness.storage())
    more = {"expires_after": 3600 if verb == "late" else None, "every": "5h", "carry": "all"}
    below = campaign(account.storage, "c", **more)
    ticket = below.ask()
    harness.clock += 6 * HOUR
    if verb == "late":
        below.expire()
        assert balance(account)[2] == "1"
        assert period(account).spent == ("0",)
    if verb == "settle":
        below.settle(ticket, "0.5")
    elif verb == "fail":
        below.fail(ticket, "0.5")
    else:
        below.tell(ticket, 1, "0.5")
    assert balance(account) == ("0.5", "0", "0", left, "0")
    assert balance(below) == ("0.5", "0", "0", "199.5", "0")
    assert period(account).spent == ("0",)
    assert below.audit(full=True).ok
    assert account.audit().findings == ()


def test_a_void_hold_is_dropped_on_the_level_whose_period_has_ended() -> None:
    harness = MemoryHarness()
    account, below = begun(harness)
    first = below.ask()
    harness.clock += 6 * HOUR
    second = below.ask()
    below.void(first)
    below.void(second)
    assert balance(account) == ("0", "0", "0", "10", "0")
    assert balance(below)[3] == "100"
    assert account.audit().findings == ()


def test_what_may_be_held_is_the_least_of_all_periods() -> None:
    harness = MemoryHarness()
    storage = harness.storage()
    Account.create("company", budget=3, every="12h", storage=storage)
    account = Account.create("team", budget=2, account="company", every="6h", storage=storage)
    below = campaign(storage, "c", every="month", time_zone="Europe/Berlin", expires_after=None)
    assert len(below.ask_many(5)) == 2
    assert "account 'team' has 0 left" in refusal(BudgetHeld, below.ask)
    harness.clock += 6 * HOUR
    assert len(below.ask_many(5)) == 1
    assert "account 'company' has 0 left" in refusal(BudgetHeld, below.ask)
    harness.clock += 6 * HOUR
    assert len(below.ask_many(5)) == 2
    assert [each["number"] for each in renewals(account)] == [2, 3]
    assert below.audit(full=True).ok
    assert account.audit().findings == ()


def test_a_paused_account_begins_none() -> None:
    harness = MemoryHarness()
    account, below = begun(harness)
    ticket = below.ask()
    account.pause()
    harness.clock = START + 13 * HOUR
    below.tell(ticket, 1, "0.5")
    assert (renewals(account), period(account).ends_at) == ([], None)
    account.resume()
    assert (period(account).number, period(account).ends_at) == (1, (START + 18 * HOUR) / 1000)
    assert balance(account)[3] == "9.5"
    harness.clock = START + 18 * HOUR
    account.top_up(1)
    assert [each["number"] for each in renewals(account)] == [2]
    assert balance(account)[3] == "11"
    assert account.audit().findings == ()


def test_the_tree_shows_what_is_left_now_on_each_level(harness: StorageHarness) -> None:
    storage = harness.storage()
    top = Account.create("company", budget=50, storage=storage)
    Account.create("team", budget=10, account="company", every="6h", carry="all", storage=storage)
    campaign(storage, "a", every="6h", carry="all")
    campaign(storage, "b", "company")
    harness.clock += 13 * HOUR
    team, other = top.status().children[::-1]
    assert (team.name, team.purses[0].left) == ("team", "30")
    assert team.children[0].purses[0].left == "300"
    assert other.purses[0].left == "100"


@pytest.mark.parametrize("same", [True, False])
def test_holds_of_a_restored_campaign_count_as_asked_for_when_it_joined(same: bool) -> None:
    harness = MemoryHarness()
    account, below = begun(harness)
    ticket = below.ask()
    harness.clock += 13 * HOUR
    file = StringIO()
    below.export(file)
    file.seek(0)
    storage = account.storage
    name = "team"
    if not same:
        account = Account.create("other", budget=10, every="6h", storage=storage)
        name = "other"
    copy = Campaign.restore(file, storage=storage, name="copy", account=name)
    before = period(account).number
    assert before == (3 if same else 1)
    left = float(balance(account)[3])
    copy.void(ticket.id)  # in the period in which it joined: it comes back
    assert float(balance(account)[3]) == left + 1
    assert copy.audit(full=True).ok
    assert account.audit().findings == ()


def test_and_are_dropped_once_that_period_has_ended() -> None:
    harness = MemoryHarness()
    _, below = begun(harness)
    ticket = below.ask()
    file = StringIO()
    below.export(file)
    file.seek(0)
    account = Account.create("other", budget=10, every="6h", storage=below.storage)
    copy = Campaign.restore(file, storage=below.storage, name="copy", account="other")
    harness.clock += 6 * HOUR
    copy.void(ticket.id)
    assert balance(account) == ("0", "0", "0", "10", "0")
    assert account.audit().findings == ()


def test_an_audit_finds_what_was_booked_without_its_period(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    account, below = begun(harness)
    harness.clock += 6 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "renew", lambda _: None)
        below.ask()
    assert any("the period of account 'team' was over" in each for each in account.audit().findings)


def test_an_audit_finds_a_refund_that_should_have_been_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = MemoryHarness()
    account, below = begun(harness)
    ticket = below.ask()
    harness.clock += 6 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Period, "after_hold", lambda period, *_: (period, [0]))
        below.void(ticket)
    assert any("the balances of account 'team'" in each for each in account.audit().findings)


def test_terms_of_accounts_are_checked_and_come_back() -> None:
    storage = MemoryHarness().storage()
    for field, changes in (("every", {"every": "year"}), ("carry", {"carry": "all"})):
        text = refusal(InvalidInput, Account.create, "x", budget=1, storage=storage, **changes)
        assert text.startswith(f"{field}=")
    made: Any = Account.create(
        "x", budget=1, every="month", time_zone="Asia/Tokyo", carry="all", storage=storage
    )
    assert AccountTerms.from_dict(made.terms.as_dict()).checked() == made.terms
    plain: Any = Account.create("y", budget=1, storage=storage)
    assert set(plain.terms.as_dict()) == {"name", "resources", "budget", "id"}
    head = json.loads(storage.level("y")[-1].text)
    assert set(head) == {"id", "status", "created", "changed", "digest", "turn"}
