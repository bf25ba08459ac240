"""Where campaigns live in tests: each kind of storage, reached anew whenever a test wants to, with
a clock that stands still.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

from purse import Campaign
from purse.campaign.storage.memory import Memory

START = 1_800_000_000_000  # ms since 1970
NO_CHECKPOINTS = (
    "DELETE FROM purse_checkpoints WHERE campaign = (SELECT id FROM purse_campaigns WHERE name "
    "= '{name}')"
)


class StorageHarness:
    """One storage, its clock, and every connection that a test has made to it."""

    examples = 12  # of random sequences, in a short test
    quick = False

    def __init__(self) -> None:
        self.clock = START
        self.connections: list[Any] = []

    def connect(self) -> Any:
        """A new storage object for the same place."""
        raise NotImplementedError

    def execute(self, statement: str) -> None:
        """Change the place behind the back of the library."""
        raise NotImplementedError

    def storage(self) -> Any:
        """A new storage object that shows this harness's time."""
        made = self.connect()
        made.now = lambda: self.clock
        self.connections.append(made)
        return made

    def place(self) -> Any:
        """Where others reach what was created or opened last."""
        return self.connections[-1] if self.connections else self.storage()

    def create(self, name: str, **terms: Any) -> Any:
        """A new campaign."""
        return self.create_at(self.storage(), name, **terms)

    def create_at(self, place: Any, name: str, **terms: Any) -> Any:
        """A new campaign in a place where others are."""
        return Campaign.create(name, **terms, storage=place)

    def open(self, name: str) -> Any:
        """The campaign as another process would find it."""
        self.close()
        return Campaign.open(name, storage=self.storage())

    def ticket(self, campaign: Any, id: int) -> Any:
        """A ticket as it was handed out."""
        states = ("held", "told", "void", "presumed", "settled", "failed")
        (found,) = [ticket for ticket in campaign.tickets(states=states) if ticket.id == id]
        return found

    def drop_checkpoints(self, name: str) -> None:
        """Lose what the policy's state was cached in."""
        self.execute(NO_CHECKPOINTS.format(name=name))

    def close(self) -> None:
        """Close what is open."""
        while self.connections:
            self.connections.pop().close()


class MemoryHarness(StorageHarness):
    examples = 40
    quick = True

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory()

    def connect(self) -> Any:
        return self.memory

    def drop_checkpoints(self, name: str) -> None:
        self.memory._campaigns[name].checkpoints.clear()


class SqliteHarness(StorageHarness):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.address = f"sqlite:///{path}"

    def connect(self) -> Any:
        from purse.campaign.storage.connect import connect

        return connect(self.address)

    def execute(self, statement: str) -> None:
        import apsw

        connection = apsw.Connection(str(self.path))
        connection.execute(statement)
        connection.close()


class PostgresHarness(StorageHarness):
    examples = 8

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address

    def connect(self) -> Any:
        from purse.campaign.storage.connect import connect

        return connect(self.address)

    def execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(statement)


class HttpHarness(SqliteHarness):
    """A server of HTTP over SQLite in a thread of this process, reached by its address alone. It
    goes on, since it takes long to start, and opens a campaign anew when a test does.
    """

    examples = 8

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.serving = ExitStack()
        self.at: Any = None  # the server

    def place(self) -> str:
        if self.at is None:
            from tests.support.server import served

            self.at = self.serving.enter_context(served(storage=self.storage()))
        return self.at.url

    def close(self) -> None:
        """Stop the server, too."""
        self.serving.close()
        self.at = None
        super().close()

    def create(self, name: str, **terms: Any) -> Any:
        return self.create_at(self.place(), name, **terms)

    def open(self, name: str) -> Any:
        place = self.place()
        self.at.cache.drop(name)
        return Campaign.open(name, storage=place)
