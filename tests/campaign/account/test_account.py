"""Accounts: a hold has to fit every level, and every level has its own journal and purses."""

from __future__ import annotations

from typing import Any

import pytest

from purse import Account, BudgetExhausted, Campaign, Conflict, InvalidInput
from purse.errors import BudgetHeld, CampaignEnded, CampaignExists, CampaignPaused, NotFound
from tests.support.accounts import balance, campaign, company, opened
from tests.support.campaigns import refusal
from tests.support.storages import MemoryHarness, StorageHarness

UNIT = 10**9


@pytest.fixture
def storage() -> Any:
    return MemoryHarness().storage()


def test_money_moves_on_every_level(harness: StorageHarness) -> None:
    """Computed by hand."""
    storage = harness.storage()
    top, team = company(storage)
    first, second = campaign(storage, "first"), campaign(storage, "second", "company")
    paid, gone, late = (first.ask() for _ in range(3))
    other = second.ask()
    assert balance(top) == ("0", "4", "0", "6", "0")
    assert balance(team) == ("0", "3", "0", "3", "0")
    first.tell(paid, 1, "0.25")
    first.void(gone)
    second.tell(other, 1, "1.5")  # more than was held
    harness.clock += 3_600_000
    assert first.expire() == 1
    assert balance(first) == ("0.25", "0", "1", "98.75", "0")
    assert balance(team) == ("0.25", "0", "1", "4.75", "0")
    assert balance(top) == ("1.25", "0", "1", "7.75", "0.5")
    first.tell(late, 1, "0.75")  # a late report refunds the difference
    assert balance(team) == ("1", "0", "0", "5", "0")
    assert balance(opened(harness, "company")) == ("2", "0", "0", "8", "0.5")
    assert [entry.kind for entry in team.journal()] == ["created"]  # campaigns write it down
    assert all(each.audit(full=True).ok for each in (first, second))


def test_an_ask_has_to_fit_every_level(harness: StorageHarness) -> None:
    storage = harness.storage()
    _, team = company(storage, budget=4, team=2)
    first, second = campaign(storage, "first"), campaign(storage, "second", "company")
    tickets = first.ask_many(5)
    assert len(tickets) == 2
    refused = refusal(BudgetHeld, first.ask)
    assert refused == (
        "'red' may cost 1 units and account 'team' has 0 left; 2 is held for open tickets; tell or "
        "void them"
    )
    second.ask_many(2)
    assert "account 'company' has 0 left" in refusal(BudgetHeld, second.ask)
    for ticket in tickets:
        first.tell(ticket, 1, 1)
    assert "account 'team' has 0 left" in refusal(BudgetExhausted, first.ask)
    assert balance(team) == ("2", "0", "0", "0", "0")
    own = campaign(storage, "own", budget=1)
    team.top_up(1)
    assert "account 'company' has 0 left" in refusal(BudgetHeld, own.ask)


def test_the_policy_sees_the_least_over_the_levels(harness: StorageHarness) -> None:
    """An ask says what was left where an account had less; then it can be decided again."""
    storage = harness.storage()
    top, _ = company(storage, budget=4, team=3)
    bound, free = (
        campaign(storage, "bound"),
        campaign(storage, "free", budget="0.5", arms={"a": "0.1"}),
    )
    bound.ask()
    top.top_up(1)
    free.ask_many(2)
    bound.ask_many(2)
    asks = [[*each.journal()][1:] for each in (bound, free)]
    assert [entry.body.get("left") for entry in asks[0]] == [[3 * UNIT], [18 * UNIT // 10]]
    assert [entry.body.get("left") for entry in asks[1]] == [None, None]
    assert all(each.audit(full=True).ok for each in (bound, free))


def test_a_campaign_without_an_account_is_as_before(storage: Any) -> None:
    alone = campaign(storage, "alone", None)
    alone.ask()
    created, asked = alone.journal()
    assert "account" not in created.body
    assert list(asked.body) == ["t", "arm", "p", "held", "deadline"]
    assert alone.status().account == ""


def test_paused_and_ended_accounts_refuse_asks_and_take_reports(harness: StorageHarness) -> None:
    storage = harness.storage()
    top, team = company(storage)
    below = campaign(storage, "below")
    ticket, other = below.ask("r"), below.ask()
    assert top.pause().status == "paused"
    assert refusal(CampaignPaused, below.ask) == "account 'company' is paused; resume it first"
    assert below.ask("r") == ticket  # was answered before
    below.tell(ticket, 1, "0.5")
    top.pause()
    assert len([entry for entry in top.journal() if entry.kind == "paused"]) == 1
    top.resume()
    below.ask()
    team.end()
    assert refusal(CampaignEnded, below.ask) == "account 'team' has ended"
    below.void(other)
    assert balance(team) == ("0.5", "1", "0", "4.5", "0")
    assert refusal(CampaignEnded, team.top_up, 1) == "account 'team' has ended"
    assert refusal(CampaignEnded, team.resume) == "account 'team' has ended"
    refusal(CampaignEnded, campaign, storage, "new")


def test_a_top_up_counts_once(harness: StorageHarness) -> None:
    storage = harness.storage()
    top, _ = company(storage)
    for _ in range(2):
        assert top.top_up("2.5", "r").purses[0].budget == "12.5"
    assert "a top-up of 2.5" in refusal(Conflict, top.top_up, 3, "r")
    assert opened(harness, "company").status() == top.status()


def test_the_status_is_a_tree(harness: StorageHarness) -> None:
    storage = harness.storage()
    top, team = company(storage)
    campaign(storage, "first").ask()
    campaign(storage, "second", "company").pause()
    status = opened(harness, "company").status()
    assert [(each.name, each.kind, each.status) for each in status.children] == [
        ("second", "campaign", "paused"),
        ("team", "account", "running"),
    ]
    (below,) = status.children[1].children
    assert (below.name, below.kind, below.purses[0].left) == ("first", "campaign", "99")
    assert str(status) == (
        "account company: running\n"
        "  9 of 10 units left, spent 0, held 1\n"
        "  campaign second (paused): 100 of 100 units left, spent 0, held 0\n"
        "  account team: 5 of 6 units left, spent 0, held 1\n"
        "    campaign first: 99 of 100 units left, spent 0, held 1"
    )
    assert (status.account, team.status().account) == ("", "company")
    assert status.as_dict()["children"][1]["children"][0]["name"] == "first"
    assert repr(top.status()) == "<AccountStatus of 'company': running, left 9 of 10 units>"


def test_names_are_shared_with_campaigns(harness: StorageHarness) -> None:
    storage = harness.storage()
    company(storage)
    campaign(storage, "first")
    assert Account.names(storage=storage) == ["company", "team"]
    assert Campaign.names(storage=storage) == ["first"]
    taken = refusal(CampaignExists, campaign, storage, "team", "company")
    assert taken.startswith("there is an account 'team' already")
    taken = refusal(CampaignExists, Account.create, "first", budget=1, storage=storage)
    assert taken.startswith("there is a campaign 'first' already")
    for cls, name, kind in ((Campaign, "team", "campaign"), (Account, "first", "account")):
        missing = refusal(NotFound, cls.open, name, storage=storage)
        assert missing.startswith(f"there is no {kind} {name!r}")
    assert "did you mean 'team'?" in refusal(NotFound, Account.open, "tem", storage=storage)
    refusal(NotFound, campaign, storage, "new", "nobody")
    assert Campaign.names(storage=storage) == ["first"]


def test_exist_ok(storage: Any) -> None:
    for _ in range(2):
        Account.create("a", budget=1, storage=storage, exist_ok=True)
    other = refusal(CampaignExists, Account.create, "a", budget=2, storage=storage, exist_ok=True)
    assert "other budget" in other
    campaign(storage, "c", "a")
    refusal(CampaignExists, Account.create, "c", budget=2, storage=storage, exist_ok=True)
    taken = refusal(CampaignExists, campaign, storage, "a", None, exist_ok=True)
    assert taken.startswith("there is an account 'a' already")


def test_bad_terms(storage: Any) -> None:
    company(storage)
    create = Account.create
    assert "name=''" in refusal(InvalidInput, create, "", budget=1, storage=storage)
    assert "budget=-1" in refusal(InvalidInput, create, "a", budget=-1, storage=storage)
    deep = refusal(InvalidInput, create, "a", budget=1, account="team", storage=storage)
    assert (
        deep == "account='team': must not be below another account itself, and is below 'company'"
    )
    other = refusal(InvalidInput, campaign, storage, "c", resources=["USD"])
    assert other == "resources=['USD']: must be those of account 'team', in its order: units"
    assert "amount=0" in refusal(InvalidInput, Account.open("team", storage=storage).top_up, 0)


def test_several_resources(storage: Any) -> None:
    account = Account.create(
        "a", budget={"USD": 2, "tokens": 100}, resources=["USD", "tokens"], storage=storage
    )
    below = campaign(
        storage,
        "c",
        "a",
        resources=["USD", "tokens"],
        budget=[100, 1000],
        arms={"red": [1, 60]},
        cost_min=[["0.1", 1]],
    )
    below.ask()
    assert refusal(BudgetHeld, below.ask) == (
        "'red' may cost 60 tokens and account 'a' has 40 left; 60 is held for open tickets; tell "
        "or void them"
    )
    assert account.top_up([0, 20]).purses[1].left == "60"
    below.ask()
    assert below.audit(full=True).ok
