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
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.journal import EVENT, Entry
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.states import ACCOUNT, CAMPAIGN
from purse.campaign.storage.base import (
    AccountOverview,
    AccountWrite,
    Level,
    LockedAccount,
    WriteSet,
    missing,
    taken,
)
from purse.errors import PurseError


@dataclass
class StoredJournal:
    """What campaigns and accounts have in common."""

    account: str = ""  # above it
    seq: int = 0
    balances: list[Balance] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    requests: dict[str, Entry] = field(default_factory=dict)
    periods: set[int] = field(default_factory=set)  # that have begun
    keys: set[str] = field(default_factory=set)  # of events
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict)

    def check(self, change: WriteSet | AccountWrite) -> None:
        """Refuse what the other back-ends have constraints against: a second answer to a request, a
        period that begins twice, an event made twice, and more spent, held and presumed than the
        budget.
        """
        begun = [entry.body["number"] for entry in change.entries if entry.kind == "renewed"]
        if len(set(begun)) < len(begun) or not self.periods.isdisjoint(begun):
            raise PurseError(f"one of the periods {begun} has begun already")
        for entry in change.entries:
            if entry.request is not None and entry.request in self.requests:
                raise PurseError(f"request {entry.request!r} has been answered already")
            if entry.kind == EVENT and entry.body["key"] in self.keys:
                raise PurseError(f"the event {entry.body['key']} has been made already")
        for purse in change.balances:
            if min(purse) < 0 or purse.left < 0:
                raise PurseError(
                    f"spent + held + presumed would exceed the budget: {change.balances}"
                )

    def add(self, change: WriteSet | AccountWrite) -> None:
        """Take in entries, and what they come to."""
        self.seq, self.balances = change.seq, list(change.balances)
        for entry in change.entries:
            self.entries.append(Entry(*entry[:5], orjson.loads(compact(entry.body))))
            if entry.request is not None:
                self.requests[entry.request] = entry
            if entry.kind == "renewed":
                self.periods.add(entry.body["number"])
            elif entry.kind == EVENT:
                self.keys.add(entry.body["key"])


@dataclass
class StoredAccount(StoredJournal):
    """One account."""

    head: AccountRecord = field(default_factory=AccountRecord)


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
            self._accounts[change.name].check(change)

    def _write_accounts(self, changes: Iterable[AccountWrite]) -> None:
        for change in changes:
            stored = self._accounts[change.name]
            stored.head = change.head.copied()
            stored.add(change)

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
