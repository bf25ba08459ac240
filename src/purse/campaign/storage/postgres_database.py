"""The connections to one PostgreSQL database: those that write and those that read, and where its
campaigns and accounts stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from purse.base.optional import needs
from purse.campaign.fork_safety import left_behind, reset_after_fork
from purse.campaign.journal import Entry
from purse.campaign.states import ACCOUNT, CAMPAIGN
from purse.campaign.storage import schema
from purse.campaign.storage.base import LockedAccount, entries_of, missing, taken
from purse.campaign.storage.connection_pool import ConnectionPool
from purse.campaign.storage.postgres_levels import ADD_NAME, Place, find_place, lock_accounts
from purse.campaign.storage.postgres_rows import ENTRY
from purse.campaign.storage.postgres_tables import make_tables
from purse.campaign.storage.server_clock import MILLISECONDS, ServerClock
from purse.errors import InvalidInput, NoSuchCampaign, PurseError, StorageUnavailable

if TYPE_CHECKING:
    import psycopg

LOCK_TIMEOUT_S = 30  # seconds to wait for a lock or an answer
ATTEMPTS = 2  # a lost connection is replaced once
IDLE = 0  # a connection without a transaction
# connections of a process; a server takes 100 in all, unless it is told otherwise
MOST_WRITERS, MOST_READERS = 16, 8
SESSION = (
    f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'; SET statement_timeout = '{LOCK_TIMEOUT_S}s'; SET "
    f"idle_in_transaction_session_timeout = '{LOCK_TIMEOUT_S}s';"
    # P2
    "SELECT set_config('synchronous_commit', 'on', false) WHERE "
    "current_setting('synchronous_commit') = 'off'"
)
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
Found = TypeVar("Found")
Wanted = TypeVar("Wanted")


class New(NamedTuple):
    """A row that is being made."""

    db: psycopg.Connection[Any]
    key: int
    above: tuple[tuple[int, str], ...]  # keys and names of the accounts, from the top down
    accounts: list[LockedAccount]  # these


class PostgresDatabase:
    """A database for the processes of several machines."""

    def __init__(self, address: str) -> None:
        with needs("a campaign in PostgreSQL", "postgres"):
            import psycopg

            from purse.campaign.storage.postgres_timeout import TimeoutConnection
        self._psycopg, self._patient = psycopg, TimeoutConnection
        self._clock = ServerClock()
        self.now: Callable[[], int] = self._clock.now
        self.address = address
        try:
            self._where()
        except psycopg.ProgrammingError:  # whose text may hold the password
            raise InvalidInput(
                "storage: this is not an address of PostgreSQL; it looks like "
                "postgresql://USER@HOST/DATABASE, and special characters in it are written as %XX"
            ) from None
        self._places: dict[str, Place] = {}  # as far as they are known
        self._writers, self._readers = (
            ConnectionPool(self._connected, self._close, most, LOCK_TIMEOUT_S)
            for most in (MOST_WRITERS, MOST_READERS)
        )
        reset_after_fork(self)
        with self._translate_errors(), self._connected() as db:
            make_tables(db, self._where())
            ((now,),) = db.execute(f"SELECT {MILLISECONDS}".encode()).fetchall()
            self._clock.set(now)

    def renew(self) -> None:
        """Begin without connections in a child process."""
        for pool in (self._writers, self._readers):
            left_behind.extend(pool.idle)
            pool.renew()

    def _where(self) -> str:
        parts = self._psycopg.conninfo.conninfo_to_dict(self.address)
        # without the password
        return f"PostgreSQL {parts.get('dbname', '')!r} at {parts.get('host', 'localhost')}"

    def _connected(self) -> psycopg.Connection[Any]:
        """A connection to the primary, that waits for nothing longer than it should."""
        db = self._patient.connect(
            self.address,
            autocommit=True,
            client_encoding="utf8",  # or text of a database without an encoding comes as bytes
            target_session_attrs="read-write",
            connect_timeout=LOCK_TIMEOUT_S,
        )
        db.execute(SESSION)
        return db

    def _check(self, row: Sequence[Any]) -> None:
        """Refuse tables of another version, and take over the server's time."""
        if row[2] != schema.VERSION:
            schema.check_version(row[2], self._where())
        self._clock.set(row[3])

    def _close(self, db: psycopg.Connection[Any]) -> None:
        with suppress(self._psycopg.Error):
            db.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.errors.IntegrityError as error:
            raise PurseError(
                f"{self._where()} rejected the write: it would violate a constraint ({error})"
            ) from error
        except self._psycopg.Error as error:
            raise StorageUnavailable(f"{self._where()}: {' '.join(str(error).split())}") from error

    @contextmanager
    def _creating(self, kind: str, name: str, account: str) -> Iterator[New]:
        """A transaction with a new row."""
        self._places.pop(name, None)
        with self._translate_errors(), self._connected() as db, db.transaction():
            above: tuple[tuple[int, str], ...] = ()
            if account:
                place = self._place(db, account, ACCOUNT)
                above = (*place.above, (place.key, account))
            found = [each.read(self._check) for each in lock_accounts(db, above)]
            row = db.execute(ADD_NAME, (name, kind, above[-1][0] if above else None)).fetchone()
            if row is None:
                raise taken(self._place(db, name).kind, name)
            yield New(db, row[0], above, found)

    def _with_writer(self, work: Callable[[psycopg.Connection[Any]], None]) -> None:
        """Have something done with a connection that writes; once more where that was lost."""
        with self._translate_errors():
            for attempt in range(1, ATTEMPTS + 1):
                broken = False
                try:
                    with self._writers.use() as db:
                        try:
                            return work(db)
                        finally:
                            broken = db.broken
                            if not broken and db.info.transaction_status != IDLE:
                                self._undo(db)
                except self._psycopg.OperationalError:
                    self._writers.close_idle()
                    if not broken or attempt == ATTEMPTS:
                        raise

    def _undo(self, db: psycopg.Connection[Any]) -> None:
        """Give up a transaction, so that the connection can be used again.

        Raise `psycopg.Error` where that cannot be: then the connection is closed.
        """
        try:
            db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise

    def _decided(
        self, db: psycopg.Connection[Any], decide: Callable[[Found], Wanted | None], found: Found
    ) -> Wanted | None:
        """What is to be written; where that is nothing, the transaction ends."""
        try:
            change = decide(found)
        except Exception:
            db.execute("ROLLBACK")
            raise
        if change is None:
            db.execute("ROLLBACK")
        return change

    def _key(self, db: psycopg.Connection[Any], name: str) -> int:
        return self._place(db, name, CAMPAIGN).key

    def _place(self, db: psycopg.Connection[Any], name: str, kind: str | None = None) -> Place:
        """Where a name stands, of one kind or of any."""
        place = self._places.get(name) or find_place(db, name)
        if place is None:
            raise missing(kind or CAMPAIGN, name)
        self._places[name] = place
        return place if kind is None else place.checked(kind)

    def _gone(self, name: str) -> NoSuchCampaign:
        """A campaign that was there."""
        self._places.pop(name, None)
        return NoSuchCampaign(
            f"campaign {name!r} was deleted, or deleted and recreated; open it again"
        )

    @contextmanager
    def _view(self) -> Iterator[psycopg.Connection[Any]]:
        """The database as it is at one moment, read only."""
        with (
            self._translate_errors(),
            self._readers.use(lambda db: db.execute(SNAPSHOT)) as db,
        ):
            try:
                yield db
            finally:
                if not db.broken:
                    db.execute("ROLLBACK")

    def _entries(self, kind: str, name: str, after: int, limit: int) -> list[Entry]:
        with self._view() as db:
            key = self._place(db, name, kind).key
            query = f"{ENTRY} AND seq > %s ORDER BY seq LIMIT %s"
            return entries_of(db.execute(query, (key, after, limit)))

    def close(self) -> None:
        """Let go of the connections."""
        with self._writers.drained(self._close), self._readers.drained(self._close):
            pass

    def __del__(self, suppress: Any = suppress) -> None:  # the name is gone when Python ends
        with suppress(Exception):  # it may never have begun
            self.close()
