"""Accounts in the memory of this process."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import orjson

from purse.base.json import compact
from purse.campaign.account.records import AccountRecord
from purse.campaign.journal import Entry
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.states import ACCOUNT, CAMPAIGN
from purse.campaign.storage.base import (
    AccountOverview,
    AccountWrite,
    Level,
    LockedAccount,
    missing,
    taken,
)
from purse.errors import PurseError


@dataclass
class StoredAccount:
    """One account."""

    account: str  # above it
    seq: int = 0
    head: AccountRecord = field(default_factory=AccountRecord)
    balances: list[Balance] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    requests: dict[str, Entry] = field(default_factory=dict)
    periods: set[int] = field(default_factory=set)  # that have begun


class BelowAccount(Protocol):
    """A campaign, as far as its account looks at it."""

    account: str
    head: CampaignRecord
    balances: list[Balance]


class MemoryAccounts:
    """The accounts of a storage."""

    _lock: threading.RLock

    def __init__(self) -> None:
        self._accounts: dict[str, StoredAccount] = {}

    def _stored(self) -> Mapping[str, BelowAccount]:
        """The campaigns by their names."""
        raise NotImplementedError

    def create_account(self, first: AccountWrite, account: str = "") -> None:
        """A new account."""
        with self._lock:
            self._refuse_known(first.name)
            self._above(account)
            self._accounts[first.name] = StoredAccount(account)
            self._write_accounts([first])

    def _refuse_known(self, name: str) -> None:
        known: tuple[tuple[str, Mapping[str, object]], ...] = (
            (CAMPAIGN, self._stored()),
            (ACCOUNT, self._accounts),
        )
        for kind, there in known:
            if name in there:
                raise taken(kind, name)

    def _find_account(self, name: str) -> StoredAccount:
        if name not in self._accounts:
            raise missing(ACCOUNT, name)
        return self._accounts[name]

    def _above(self, name: str) -> list[LockedAccount]:
        """An account and those above it, from the top down; none where the name is empty."""
        if not name:
            return []
        found = self._locked_account(name)
        return [*self._above(self._accounts[name].account), found]

    def _locked_account(self, name: str, requests: Sequence[str] = ()) -> LockedAccount:
        stored = self._find_account(name)
        known = {each: stored.requests[each] for each in requests if each in stored.requests}
        return LockedAccount(name, stored.seq, stored.head.copied(), list(stored.balances), known)

    def change_account(
        self,
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        """Read, decide and write, while nobody else does."""
        with self._lock:
            change = decide(self._locked_account(name, requests))
            if change is not None:
                self._check_accounts([change])
                self._write_accounts([change])

    def _check_accounts(self, changes: Iterable[AccountWrite]) -> None:
        for change in changes:
            stored = self._accounts[change.name]
            check(stored.requests, stored.periods, change.entries, change.balances)

    def _write_accounts(self, changes: Iterable[AccountWrite]) -> None:
        for change in changes:
            stored = self._accounts[change.name]
            stored.seq, stored.head = change.seq, change.head.copied()
            stored.balances = list(change.balances)
            stored.entries += [
                entry._replace(body=orjson.loads(compact(entry.body))) for entry in change.entries
            ]
            stored.periods.update(begun_in(change.entries))
            stored.requests.update({e.request: e for e in change.entries if e.request is not None})

    def accounts(self) -> list[str]:
        """The names of all accounts."""
        with self._lock:
            return sorted(self._accounts)

    def account(self, name: str) -> AccountOverview:
        """A glance at an account."""
        with self._lock:
            stored = self._find_account(name)
            head, balances = stored.head.copied(), list(stored.balances)
            return AccountOverview(stored.account, stored.seq, head, balances, self._below(name))

    def account_entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries of an account that follow."""
        with self._lock:
            return page(self._find_account(name).entries, after, limit)

    def _below(self, name: str) -> tuple[Level, ...]:
        """What is below an account, by name."""
        found = [
            Level(
                each,
                ACCOUNT,
                stored.head.status,
                list(stored.balances),
                self._below(each),
                stored.head.period,
            )
            for each, stored in self._accounts.items()
            if stored.account == name
        ]
        found += [
            Level(
                each,
                CAMPAIGN,
                campaign.head.status,
                list(campaign.balances),
                period=campaign.head.period,
            )
            for each, campaign in self._stored().items()
            if campaign.account == name
        ]
        return tuple(sorted(found, key=lambda level: level.name))


def page(entries: list[Entry], after: int, limit: int) -> list[Entry]:
    """The entries that follow entry `after`, at most so many."""
    first = bisect_right(entries, after, key=lambda entry: entry.seq)
    return entries[first : first + limit]


def begun_in(entries: Iterable[Entry]) -> list[int]:
    """The numbers of the periods that begin with these entries."""
    return [entry.body["number"] for entry in entries if entry.kind == "renewed"]


def check(
    answered: Mapping[str, Entry],
    periods: set[int],
    entries: Sequence[Entry],
    balances: Iterable[Balance],
) -> None:
    """Refuse what the other back-ends have constraints against: a second answer to a request, a
    period that begins twice, and more spent, held and presumed than the budget.

    answered   requests that were
    periods    that have begun
    """
    begun = begun_in(entries)
    if len(periods.union(begun)) < len(periods) + len(begun):
        raise PurseError(f"one of the periods {begun} has begun already")
    for entry in entries:
        if entry.request is not None and entry.request in answered:
            raise PurseError(f"request {entry.request!r} has been answered already")
    if any(min(purse) < 0 or purse.left < 0 for purse in balances):
        raise PurseError(f"spent + held + presumed would exceed the budget: {balances}")
