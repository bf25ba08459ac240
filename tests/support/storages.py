"""Where campaigns live in tests: each kind of storage, reached anew whenever a test wants to, with
a clock that stands still.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from purse import Account, Campaign
from purse.campaign.storage.connect import connect, in_memory
from purse.campaign.storage.storage import Storage

START = 1_800_000_000_000  # ms since 1970
TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}
NO_CHECKPOINTS = (
    "DELETE FROM purse_checkpoints WHERE level = "
    "(SELECT id FROM purse_levels WHERE name = '{name}')"
)


class StorageHarness:
    """One storage, its clock, and every connection that a test has made to it."""

    examples = 12  # of random sequences, in a short test
    quick = False

    def __init__(self, address: str) -> None:
        self.address = address
        self.clock = START
        self.connections: list[Storage] = []

    def connect(self) -> Storage:
        """A new storage object for the same place."""
        return connect(self.address)

    def execute(self, statement: str) -> None:
        """Change the place behind the back of the library."""
        raise NotImplementedError

    def storage(self) -> Storage:
        """A new storage object that shows this harness's time."""
        made = self.connect()
        made.now = lambda: self.clock
        self.connections.append(made)
        return made

    def place(self) -> Any:
        """Where others reach what was created or opened last."""
        return self.connections[-1] if self.connections else self.storage()

    def create(self, name: str, **terms: Any) -> Any:
        return self.create_at(self.storage(), name, **terms)

    def create_at(self, place: Any, name: str, **terms: Any) -> Any:
        """A new campaign in a place where others are."""
        return Campaign.create(name, **terms, storage=place)

    def account(self, name: str, **terms: Any) -> Any:
        return Account.create(name, **terms, storage=self.storage())

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
        super().__init__("memory:")
        self.memory = in_memory()

    def connect(self) -> Storage:
        return Storage(self.memory.db)

    def execute(self, statement: str) -> None:
        self.memory.db._db.execute(statement)  # type: ignore[attr-defined]


class SqliteHarness(StorageHarness):
    def __init__(self, path: Path) -> None:
        super().__init__(f"sqlite:///{path}")
        self.path = path

    def connect(self) -> Storage:
        """With connections of its own, as another process has them."""
        from purse.campaign.storage.sqlite import Sqlite

        database = Sqlite(self.address)
        database.prepare()
        return Storage(database)

    def execute(self, statement: str) -> None:
        import apsw

        connection = apsw.Connection(str(self.path))
        connection.execute(statement)
        connection.close()


class PostgresHarness(StorageHarness):
    examples = 8

    def execute(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute(statement.encode())


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
            from tests.support.service import served

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
        self.at.budgets.drop(Campaign, name)
        return Campaign.open(name, storage=place)


@contextmanager
def without_guards(harness: StorageHarness) -> Iterator[None]:
    """Within this, entries of a journal can be changed."""
    if isinstance(harness, PostgresHarness):
        harness.execute("ALTER TABLE purse_journal DISABLE TRIGGER purse_no_change")
        yield
        harness.execute("ALTER TABLE purse_journal ENABLE TRIGGER purse_no_change")
    else:
        events = ("update", "delete")
        for event in events:
            harness.execute(f"DROP TRIGGER purse_no_{event}")
        yield
        for event in events:
            harness.execute(
                f"CREATE TRIGGER purse_no_{event} BEFORE {event} ON purse_journal "
                "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"
            )


def balance(campaign: Any) -> tuple[int, ...]:
    """Return budget, spent, held, presumed and overrun of the first resource, in units."""
    return tuple(campaign.storage.level(campaign.name)[-1].balances[0])


def counts(campaign: Any) -> dict[str, int]:
    head = campaign.storage.level(campaign.name)[-1].head
    return {name: count for name, count in head.counts.items() if count}


def kinds(campaign: Any) -> list[str]:
    return [entry.kind for entry in campaign.storage.entries(campaign.name, 0, 10**6)]
