"""Where levels live in tests: each kind of storage, reached anew whenever a test wants to, with a
clock that stands still.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from purse.campaign.storage.connect import connect, in_memory
from purse.campaign.storage.storage import Storage

START = 1_800_000_000_000  # ms since 1970


class Place:
    """One place, its clock, and every connection that a test has made to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.clock = START
        self.connections: list[Storage] = []

    def connect(self) -> Storage:
        """Return a new connection."""
        return connect(self.address)

    def storage(self) -> Storage:
        """Return a new connection that shows this place's time."""
        made = self.connect()
        made.now = lambda: self.clock
        self.connections.append(made)
        return made

    def create(self, name: str, **terms: Any) -> Any:
        """Return a new campaign."""
        from tests.levels.classes import Campaign

        return Campaign.create(name, **terms, storage=self.storage())

    def account(self, name: str, **terms: Any) -> Any:
        """Return a new account."""
        from tests.levels.classes import Account

        return Account.create(name, **terms, storage=self.storage())

    def open(self, name: str) -> Any:
        """Return a campaign as another process would find it."""
        from tests.levels.classes import Campaign

        self.close()
        return Campaign.open(name, storage=self.storage())

    def execute(self, statement: str) -> None:
        """Change the place behind the library's back."""
        raise NotImplementedError

    def close(self) -> None:
        """Close what is open."""
        while self.connections:
            self.connections.pop().close()


class MemoryPlace(Place):
    def __init__(self) -> None:
        super().__init__("memory:")
        self.memory = in_memory()

    def connect(self) -> Storage:
        return Storage(self.memory.db)

    def execute(self, statement: str) -> None:
        self.memory.db._db.execute(statement)  # type: ignore[attr-defined]


class SqlitePlace(Place):
    def __init__(self, path: Path) -> None:
        super().__init__(f"sqlite:///{path}")
        self.path = path

    def execute(self, statement: str) -> None:
        import apsw

        connection = apsw.Connection(str(self.path))
        connection.execute(statement)
        connection.close()


class PostgresPlace(Place):
    def execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(statement.encode())


@contextmanager
def without_guards(place: Place) -> Iterator[None]:
    """Within this, entries of a journal can be changed."""
    if isinstance(place, PostgresPlace):
        place.execute("ALTER TABLE purse_journal DISABLE TRIGGER purse_no_change")
        yield
        place.execute("ALTER TABLE purse_journal ENABLE TRIGGER purse_no_change")
    else:
        events = ("update", "delete")
        for event in events:
            place.execute(f"DROP TRIGGER purse_no_{event}")
        yield
        for event in events:
            place.execute(
                f"CREATE TRIGGER purse_no_{event} BEFORE {event} ON purse_journal "
                "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
            )


def balance(campaign: Any) -> tuple[int, ...]:
    """Return budget, spent, held, presumed and overrun of the first resource, in units."""
    return tuple(campaign.storage.level(campaign.name)[-1].balances[0])


def counts(campaign: Any) -> dict[str, int]:
    """Return what a campaign has counted."""
    head = campaign.storage.level(campaign.name)[-1].head
    return {name: count for name, count in head.counts.items() if count}


def kinds(campaign: Any) -> list[str]:
    """Return the kinds of all entries."""
    return [entry.kind for entry, _, _ in campaign.storage.entries(campaign.name, 0, 10**6)]
