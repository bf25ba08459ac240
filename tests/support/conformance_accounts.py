"""What every storage must do with accounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from purse.campaign.account.above import account_write, transaction, transactions
from purse.campaign.account.ledger import AccountLedger
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.group_commit import write_set
from purse.campaign.rules import Transaction
from purse.campaign.storage.base import (
    AccountWrite,
    LockedAccount,
    LockedState,
    ReadSet,
    Storage,
    WriteSet,
)

from purse.campaign.budget_terms import AccountTerms
from purse.errors import CampaignExists, NoSuchCampaign, PurseError
from tests.support.conformance_steps import (
    THREADS,
    TURNS,
    Open,
    ask,
    begun,
    book_of,
    changed,
    first_write,
    in_threads,
    raises,
)
from tests.support.conformance_steps import (
    terms as campaign_terms,
)

UNIT = 10**9
NOW = 2_000


def begun_account(storage: Storage, name: str, budget: int, account: str = "") -> AccountTerms:
    """A new account."""
    terms = AccountTerms.of(name, budget=budget, resources=["units"], account=account)
    made = AccountTransaction(AccountLedger(terms), 1_000)
    made.add("created", terms.as_dict())
    storage.create_account(account_write(made), account)
    return terms


def changed_account(
    storage: Storage,
    terms: AccountTerms,
    requests: Sequence[str],
    act: Callable[[AccountTransaction], object],
) -> LockedAccount:
    """One change; what it found."""
    seen: list[LockedAccount] = []

    def decide(found: LockedAccount) -> AccountWrite | None:
        seen.append(found)
        made = transaction(terms, found, NOW)
        act(made)
        return account_write(made) if made.entries else None

    storage.change_account(terms.name, requests, decide)
    return seen[0]


def check_account_names(opened: Open) -> None:
    """An account is there once it is created, only once, and is no campaign."""
    storage = opened()
    assert storage.accounts() == [], f"a new storage has accounts: {storage.accounts()}"
    campaigns = storage.names()
    begun_account(storage, "company", 10)
    begun_account(storage, "team", 6, "company")
    assert opened().accounts() == ["company", "team"], (
        f"another connection sees {opened().accounts()} instead of the new accounts"
    )
    assert opened().names() == campaigns, "an account is among the campaigns"
    for refused, act in (
        (CampaignExists, lambda: begun_account(opened(), "team", 1)),
        (NoSuchCampaign, lambda: begun_account(opened(), "new", 1, "nobody")),
        (NoSuchCampaign, lambda: storage.account("nobody")),
        (NoSuchCampaign, lambda: storage.account_entries("nobody", 0, 1)),
        (NoSuchCampaign, lambda: storage.overview("team")),
        (NoSuchCampaign, lambda: storage.entries("team", 0, 1)),
    ):
        assert raises(refused, act), f"{refused.__name__} was not raised"
    assert opened().accounts() == ["company", "team"], "a refused account was left behind"
    top, team = storage.account("company"), storage.account("team")
    assert (top.account, team.account, team.seq) == ("", "company", 1), (
        f"new accounts look like {top} and {team}"
    )
    assert [level.name for level in top.below] == ["team"], (
        f"{top.below} is below the account instead of team"
    )


def check_account_changes(opened: Open) -> None:
    """A change of an account is written or refused as a whole, and found again."""
    storage = opened()
    terms = begun_account(storage, "changes", 5)
    changed_account(storage, terms, ["r"], lambda made: made.top_up([UNIT], "r"))
    found = changed_account(opened(), terms, ["r", "s"], lambda _: None)
    assert (found.seq, set(found.requests)) == (2, {"r"}), f"a top-up came back as {found}"
    entries = opened().account_entries("changes", 0, 10)
    assert [entry.kind for entry in entries] == ["created", "topped_up"], (
        f"the journal of an account came back as {entries}"
    )
    assert opened().account_entries("changes", 1, 1) == entries[1:], "a page is not what follows"

    def overspends(found: LockedAccount) -> AccountWrite:
        made = transaction(terms, found, NOW)
        made.add("topped_up", {"units": [0]})
        spent = found.balances[0]._replace(spent=7 * UNIT)
        return account_write(made)._replace(balances=[spent])

    def answers_again(found: LockedAccount) -> AccountWrite:
        made = transaction(terms, found, NOW)
        made.add("topped_up", {"units": [0]}, request="r")
        return account_write(made)

    for what, decide in (("overspending", overspends), ("a second answer", answers_again)):
        change = partial(storage.change_account, "changes", [], decide)
        assert raises(PurseError, change), f"{what} on an account was not refused"
    look = opened().account("changes")
    assert (look.seq, look.balances[0].budget, look.balances[0].spent) == (2, 6 * UNIT, 0), (
        f"a change that was refused left something behind: {look}"
    )


def booked(
    terms: Sequence[AccountTerms], found: Sequence[LockedAccount], held: int
) -> list[AccountWrite]:
    """More held on each account, whatever the rules say."""
    names = [each.name for each in found]
    assert names == [each.name for each in terms], f"{names} were locked, from the top down"
    made = transactions(terms, found, NOW)
    for each in made:
        each.add("moved", {"campaign": "below", "entry": 2, "held": [held]})
    return [account_write(each) for each in made]


def check_booking(opened: Open) -> None:
    """The accounts above a campaign are found from the top down; what is booked on them is written
    with the campaign, or nothing is.
    """
    storage, other = opened(), opened()
    above = [begun_account(storage, "top", 5), begun_account(storage, "mid", 3, "top")]
    made = begun(storage, "booking", account="mid")
    act: Callable[[Transaction], object] = lambda transaction: ask(transaction, 2, "r")  # noqa: E731
    changed(storage, made, ReadSet(), act, above)
    (found,) = changed(other, made, ReadSet(), lambda _: None, above)
    assert [(each.name, each.balances[0].held) for each in found.accounts] == [
        ("top", 2 * UNIT),
        ("mid", 2 * UNIT),
    ], f"two holds of 1 came to {found.accounts}"
    (below,) = other.account("mid").below
    assert (below.name, below.kind, below.balances[0].held) == ("booking", "campaign", 2 * UNIT), (
        f"a campaign below an account looks like {below}"
    )
    before = [storage.overview("booking"), storage.account("top"), storage.account("mid")]

    def overspends(found: LockedState) -> WriteSet | None:
        transaction = book_of(made, found, above=above)
        ask(transaction, 1, "s")
        accounts = [
            each._replace(balances=[each.balances[0]._replace(held=4 * UNIT)])
            for each in write_set(transaction).accounts
        ]
        return write_set(transaction)._replace(accounts=accounts)

    change = partial(storage.change, "booking", ReadSet(), overspends)
    assert raises(PurseError, change), "overspending on an account was not refused"
    after = [other.overview("booking"), other.account("top"), other.account("mid")]
    assert after == before, "a change that an account refused left something behind"


def check_join(opened: Open) -> None:
    """A campaign is created together with what it brings along to its accounts, or not at all."""
    storage, other = opened(), opened()
    above = [begun_account(storage, "joined", 5)]
    made = campaign_terms("brings", account="joined")
    for held, refused in ((6 * UNIT, True), (UNIT, False)):
        join = partial(booked, above, held=held)
        create = partial(storage.create, "brings", [first_write(made)], "joined", join)
        assert raises(PurseError, create) == refused, f"{held} of {5 * UNIT} was not judged right"
        assert ("brings" in other.names()) != refused, "a refused campaign was left behind"
    assert other.account("joined").balances[0].held == UNIT, "what joined was not booked"


def check_no_lost_booking(opened: Open) -> None:
    """Changes of several campaigns below one account follow one another."""
    above = [begun_account(opened(), "crowded", 10_000)]
    campaigns = [begun(opened(), f"crowd-{k}", 10_000, "crowded") for k in range(THREADS)]
    stores = [opened() for _ in range(THREADS)]

    def work(number: int) -> None:
        for k in range(TURNS):
            changed(
                stores[number],
                campaigns[number],
                ReadSet(),
                lambda transaction, k=k: ask(transaction, 1, f"{k}"),  # type: ignore[misc]
                above,
            )

    in_threads(work, THREADS)
    look, entries = stores[0].account("crowded"), stores[0].account_entries("crowded", 0, 10_000)
    assert [entry.seq for entry in entries] == list(range(1, THREADS * TURNS + 2)), (
        f"{len(entries)} entries of {THREADS * TURNS + 1} on an account"
    )
    assert look.balances[0].held == THREADS * TURNS * UNIT, (
        f"{THREADS * TURNS} holds came to {look.balances[0].held} units on an account"
    )
