"""Where campaigns live in tests: each kind of storage, reached anew whenever a test wants to, with
a clock that stands still.
"""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path
from typing import Any

from purse import Campaign, Client
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

    def create(self, name: str, **terms: Any) -> Any:
        """A new campaign; the weaker promise of a release on expiry is known."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "on_expiry='release'")
            return Campaign.create(name, **terms, storage=self.storage())

    def open(self, name: str) -> Any:
        """The campaign as another process would find it."""
        self.close()
        return Campaign.open(name, storage=self.storage())

    def ticket(self, campaign: Any, id: int) -> Any:
        """A ticket as it was handed out."""
        states = ("held", "told", "void", "presumed", "released", "settled", "failed", "unrewarded")
        found = [ticket for ticket in campaign.tickets(states=states) if ticket.id == id]
        return found[0] if found else campaign.ticket(id)  # archived

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


class Remote:
    """A campaign on a server, with the verbs of one that is here. What a client cannot ask for is
    done beside the server, in the same storage.
    """

    def __init__(self, harness: HttpHarness, name: str) -> None:
        self.harness, self.name = harness, name

    def __getattr__(self, verb: str) -> Any:
        return partial(getattr(self.harness.client, verb), self.name)

    def expire(self) -> int:
        return Campaign.open(self.name, storage=self.harness.storage()).expire()

    def audit(self) -> Any:
        return Campaign.open(self.name, storage=self.harness.storage()).audit()


class HttpHarness(SqliteHarness):
    """A server over SQLite, and a client of it."""

    examples = 4
    client: Any
    server: Any = None

    def start_server(self) -> None:
        """Start the server anew."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Using `httpx`")  # starlette recommends its successor
            from fastapi.testclient import TestClient

        from purse.service.app import make_app
        from purse.service.settings import Settings

        self.close()
        self.server = TestClient(make_app(Settings(storage=self.storage())))
        self.server.__enter__()
        self.client = Client("http://127.0.0.1", transport=self.server._transport)

    def close(self) -> None:
        """Stop the server, too."""
        if self.server is not None:
            self.server.__exit__()
            self.server = None
        super().close()

    def create(self, name: str, **terms: Any) -> Any:
        self.start_server()
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "on_expiry='release'")
            self.client.create(name, **terms)
        return Remote(self, name)

    def open(self, name: str) -> Any:
        self.start_server()
        return Remote(self, name)
