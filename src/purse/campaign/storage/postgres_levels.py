"""The rows of accounts in PostgreSQL: those above a campaign are locked before it, from the top
down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from purse.campaign.account.records import AccountRecord
from purse.campaign.records import Balance
from purse.campaign.states import ACCOUNT
from purse.campaign.storage.base import (
    AccountWrite,
    Level,
    LockedAccount,
    levels,
    missing,
)
from purse.campaign.storage.postgres_rows import add_entries, add_purses, move_purses, put_head
from purse.campaign.storage.server_clock import MILLISECONDS

if TYPE_CHECKING:
    import psycopg

HEAD = (
    f"SELECT seq, head, (SELECT max(version) FROM purse_schema), {MILLISECONDS} "
    "FROM purse_campaigns WHERE id = %s AND name = %s"
)
LOCK = f"{HEAD} FOR UPDATE"
PURSES = (
    "SELECT budget, spent, held, presumed, overrun FROM purse_purses WHERE campaign = %s "
    "ORDER BY resource"
)
CHAIN = """SELECT c.id, c.kind, p.id, p.name, g.id, g.name FROM purse_campaigns c
LEFT JOIN purse_campaigns p ON p.id = c.parent LEFT JOIN purse_campaigns g ON g.id = p.parent
WHERE c.name = %s"""
BELOW = """SELECT c.id, c.name, c.kind, c.head,
  p.budget, p.spent, p.held, p.presumed, p.overrun
FROM purse_campaigns c JOIN purse_purses p ON p.campaign = c.id
WHERE c.parent = %s ORDER BY c.name COLLATE "C", p.resource"""
ADD_NAME = (
    "INSERT INTO purse_campaigns (name, seq, head, kind, parent) VALUES (%s, 0, '', %s, %s) "
    "ON CONFLICT (name) DO NOTHING RETURNING id"
)


class Place(NamedTuple):
    """Where a campaign or an account stands; it never moves."""

    key: int
    name: str
    kind: str
    above: tuple[tuple[int, str], ...]  # keys and names of the accounts, from the top down

    def checked(self, kind: str) -> Place:
        """The same, where it is of this kind. Raise `NoSuchCampaign` where it is not."""
        if self.kind != kind:
            raise missing(kind, self.name)
        return self


class Pending(NamedTuple):
    """An account whose lock and purses were asked for."""

    key: int
    name: str
    lock: Any
    purses: Any

    def read(self, check: Callable[[Sequence[Any]], None]) -> LockedAccount:
        """What was found; `check` looks at the row."""
        row = self.lock.fetchone()
        if row is None:
            raise missing(ACCOUNT, self.name)
        check(row)
        balances = [Balance(*each) for each in self.purses]
        return LockedAccount(self.name, row[0], AccountRecord.from_json(row[1]), balances)


def find_place(db: psycopg.Connection[Any], name: str) -> Place | None:
    """Where a name stands; None where there is none."""
    row = db.execute(CHAIN, (name,)).fetchone()
    if row is None:
        return None
    key, kind, *above = row
    pairs = ((above[2], above[3]), (above[0], above[1]))
    return Place(key, name, kind, tuple(pair for pair in pairs if pair[0] is not None))


def lock_accounts(
    db: psycopg.Connection[Any], accounts: Iterable[tuple[int, str]]
) -> list[Pending]:
    """Ask for the locks of these accounts, in this order, and for their purses."""
    return [
        Pending(key, name, db.execute(LOCK, (key, name)), db.execute(PURSES, (key,)))
        for key, name in accounts
    ]


def write_account(
    db: psycopg.Connection[Any], key: int, before: Sequence[Balance], change: AccountWrite
) -> None:
    """What was decided for an account."""
    add_entries(db, key, change.entries, change.digests)
    move_purses(db, key, before, change.balances)
    put_head(db, key, change.seq, change.head)


def write_accounts(
    db: psycopg.Connection[Any],
    above: Sequence[tuple[int, str]],
    found: Sequence[LockedAccount],
    changes: Iterable[AccountWrite],
) -> None:
    """What was decided for accounts that were locked."""
    known = {state.name: (key, state) for (key, _), state in zip(above, found, strict=True)}
    for change in changes:
        key, state = known[change.name]
        write_account(db, key, state.balances, change)


def add_account(db: psycopg.Connection[Any], key: int, first: AccountWrite) -> None:
    """The first entry of a new account."""
    write_account(db, key, add_purses(db, key, len(first.balances)), first)


def below(db: psycopg.Connection[Any], key: int) -> tuple[Level, ...]:
    """What is below an account, by name."""
    return levels(db.execute(BELOW, (key,)), lambda each: below(db, each))


def names_of(db: psycopg.Connection[Any], kind: str) -> list[str]:
    """All names of a kind."""
    query = "SELECT name FROM purse_campaigns WHERE kind = %s ORDER BY name"
    return [name for (name,) in db.execute(query, (kind,))]
