"""Accounts in one SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, cast

import apsw

from purse.campaign.account.records import AccountRecord
from purse.campaign.journal import Entry
from purse.campaign.records import Balance
from purse.campaign.states import ACCOUNT
from purse.campaign.storage.base import (
    AccountOverview,
    AccountWrite,
    Level,
    LockedAccount,
    entries_of,
    levels,
    missing,
)
from purse.campaign.storage.sqlite_file import SqliteFile
from purse.campaign.storage.sqlite_rows import (
    ENTRY,
    LEVEL,
    add_entries,
    add_name,
    add_purses,
    move_purses,
    names_of,
    put_head,
)
from purse.campaign.storage.sqlite_tables import check_tables

BY_KEY = f"{LEVEL} WHERE c.id = ? ORDER BY p.resource"
BELOW = """SELECT c.id, c.name, c.kind, c.head,
  p.budget, p.spent, p.held, p.presumed, p.overrun
FROM purse_campaigns c JOIN purse_purses p ON p.campaign = c.id
WHERE c.parent = ? ORDER BY c.name, p.resource"""


class StoredAccount(NamedTuple):
    """An account, with its key and that of the account above it."""

    key: int
    parent: int | None
    state: LockedAccount


class SqliteAccounts(SqliteFile):
    """The accounts of a storage."""

    def create_account(self, first: AccountWrite, account: str = "") -> None:
        """A new account."""
        with self._locked() as db:
            key = add_name(db, ACCOUNT, first.name, parent_of(accounts_above(db, account)))
            before = add_purses(db, key, len(first.balances))
            write_account(db, key, before, first)

    def change_account(
        self,
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        """Lock, read, decide, write and commit."""
        with self._locked() as db:
            found = read_account(db, account_key(db, name))
            answers = [
                entry
                for request in requests
                for entry in entries_of(
                    db.execute(f"{ENTRY} AND request = ?", (found.key, request))
                )
            ]
            known = {entry.request or "": entry for entry in answers}
            change = decide(found.state._replace(requests=known))
            if change is not None:
                write_account(db, found.key, found.state.balances, change)

    def accounts(self) -> list[str]:
        """The names of all accounts."""
        with self._view() as db:
            return names_of(db, ACCOUNT)

    def account(self, name: str) -> AccountOverview:
        """A glance at an account."""
        with self._view() as db:
            *above, found = accounts_up(db, account_key(db, name))
            parent = above[-1].state.name if above else ""
            _, seq, head, balances, _ = found.state
            return AccountOverview(parent, seq, head, balances, below(db, found.key))

    def account_entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries of an account that follow."""
        with self._view() as db:
            query = f"{ENTRY} AND seq > ? ORDER BY seq LIMIT ?"
            return entries_of(db.execute(query, (account_key(db, name), after, limit)))


def account_key(db: apsw.Connection, name: str) -> int:
    """The key of an account."""
    check_tables(db)
    row = db.execute(
        "SELECT id FROM purse_campaigns WHERE name = ? AND kind = ?", (name, ACCOUNT)
    ).fetchone()
    if row is None:
        raise missing(ACCOUNT, name)
    return cast(int, row[0])


def read_account(db: apsw.Connection, key: int) -> StoredAccount:
    """An account by its key."""
    rows: list[Any] = db.execute(BY_KEY, (key,)).fetchall()
    _, seq, head, parent, name, *_ = rows[0]
    balances = [Balance(*row[5:]) for row in rows]
    return StoredAccount(
        key, parent, LockedAccount(name, seq, AccountRecord.from_json(head), balances)
    )


def accounts_up(db: apsw.Connection, key: int) -> list[StoredAccount]:
    """An account and those above it, from the top down."""
    found = read_account(db, key)
    return [*([] if found.parent is None else accounts_up(db, found.parent)), found]


def accounts_above(db: apsw.Connection, name: str) -> list[StoredAccount]:
    """The accounts above a new name, from the top down; none where `name` is empty."""
    return accounts_up(db, account_key(db, name)) if name else []


def parent_of(above: Sequence[StoredAccount]) -> int | None:
    """The key of the lowest account above a new name; None where there is none."""
    return above[-1].key if above else None


def below(db: apsw.Connection, key: int) -> tuple[Level, ...]:
    """What is below an account, by name."""
    return levels(db.execute(BELOW, (key,)), lambda each: below(db, each))


def write_account(
    db: apsw.Connection, key: int, before: Sequence[Balance], change: AccountWrite
) -> None:
    """What was decided for an account."""
    add_entries(db, key, change.entries, change.digests)
    move_purses(db, key, before, change.balances)
    put_head(db, key, change.seq, change.head)


def write_accounts(
    db: apsw.Connection, above: Sequence[StoredAccount], changes: Iterable[AccountWrite]
) -> None:
    """What was decided for accounts that were read."""
    known = {each.state.name: each for each in above}
    for change in changes:
        found = known[change.name]
        write_account(db, found.key, found.state.balances, change)
