"""Accounts in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from purse.campaign.account.records import AccountRecord
from purse.campaign.journal import Entry
from purse.campaign.records import Balance
from purse.campaign.states import ACCOUNT
from purse.campaign.storage.base import AccountOverview, AccountWrite, LockedAccount, entries_of
from purse.campaign.storage.postgres_database import PostgresDatabase
from purse.campaign.storage.postgres_levels import (
    HEAD,
    PURSES,
    add_account,
    below,
    lock_accounts,
    names_of,
    write_account,
)
from purse.campaign.storage.postgres_rows import ENTRY

if TYPE_CHECKING:
    import psycopg


class PostgresAccounts(PostgresDatabase):
    """The accounts of a storage."""

    def create_account(self, first: AccountWrite, account: str = "") -> None:
        """A new account."""
        with self._creating(ACCOUNT, first.name, account) as new:
            add_account(new.db, new.key, first)

    def change_account(
        self,
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        """Lock, read, decide, write and commit, as `change` does."""
        self._with_writer(lambda db: self._change_account(db, name, requests, decide))

    def _change_account(
        self,
        db: psycopg.Connection[Any],
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        key = self._place(db, name, ACCOUNT).key
        with db.pipeline():
            db.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            (locked,) = lock_accounts(db, [(key, name)])
            answers = db.execute(f"{ENTRY} AND request = ANY(%s)", (key, list(requests)))
        found = locked.read(self._check)
        known = {entry.request or "": entry for entry in entries_of(answers)}
        change = self._decided(db, decide, found._replace(requests=known))
        if change is not None:
            with db.pipeline():
                write_account(db, key, found.balances, change)
                db.execute("COMMIT")

    def accounts(self) -> list[str]:
        """The names of all accounts."""
        with self._view() as db:
            return names_of(db, ACCOUNT)

    def account(self, name: str) -> AccountOverview:
        """A glance at an account."""
        with self._view() as db:
            place = self._place(db, name, ACCOUNT)
            row = db.execute(HEAD, (place.key, name)).fetchone()
            if row is None:
                raise self._gone(name)
            self._check(row)
            return AccountOverview(
                place.above[-1][1] if place.above else "",
                row[0],
                AccountRecord.from_json(row[1]),
                [Balance(*each) for each in db.execute(PURSES, (place.key,))],
                below(db, place.key),
            )

    def account_entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries of an account that follow."""
        return self._entries(ACCOUNT, name, after, limit)
