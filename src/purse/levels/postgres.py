"""The dialect of PostgreSQL, for several machines. Rows of levels are locked from the top down, and
only the primary is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import psycopg

from purse.campaign.fork_safety import left_behind, reset_after_fork
from purse.campaign.storage.connection_pool import ConnectionPool
from purse.campaign.storage.postgres_timeout import TimeoutConnection
from purse.campaign.storage.server_clock import MILLISECONDS, ServerClock
from purse.errors import PurseError, StorageUnavailable
from purse.levels import schema
from purse.levels.sql import Rows, Statement

TIMEOUT_S = 30  # seconds to wait for a lock or an answer
MOST_WRITERS, MOST_READERS = 16, 8  # connections of a process
IDLE = 0  # a connection without a transaction
MAKING_TABLES = 5_784_214  # any number, the same in all processes
SESSION = (
    f"SET lock_timeout = '{TIMEOUT_S}s'; SET statement_timeout = '{TIMEOUT_S}s'; SET "
    f"idle_in_transaction_session_timeout = '{TIMEOUT_S}s';"
    "SELECT set_config('synchronous_commit', 'on', false) WHERE "  # P2
    "current_setting('synchronous_commit') = 'off'"
)


class ConnectionLost(StorageUnavailable):
    """What became of the transaction is unknown."""


class PostgresSession:
    """A transaction; it begins with the first trip, and each trip is one pipeline."""

    def __init__(self, db: psycopg.Connection[Any], begin: str, clock: ServerClock) -> None:
        self._db, self._begin, self._clock = db, begin, clock

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each; statements behind a lock see what was committed before it."""
        with self._db.pipeline():
            if self._begin:
                self._db.execute(self._begin.encode())
                self._begin = ""
            cursors = [self._do(*statement) for statement in statements]
            time = self._db.execute(f"SELECT {MILLISECONDS}".encode())
        self._clock.set(time.fetchall()[0][0])
        return [cursor.fetchall() if cursor.description else [] for cursor in cursors]

    def write(self, statements: Sequence[Statement]) -> None:
        """Do these and commit."""
        with self._db.pipeline():
            for statement in statements:
                self._do(*statement)
            self._db.execute("COMMIT")

    def _do(self, text: str, values: Any) -> psycopg.Cursor[Any]:
        if isinstance(values, list) and len(values) > 1:
            cursor = self._db.cursor()
            cursor.executemany(spelt(text), values)
            return cursor
        return self._db.execute(spelt(text), values[0] if isinstance(values, list) else values)


class Postgres:
    """A database for the processes of several machines."""

    lock = " FOR UPDATE"
    among = "= ANY(?)"

    def __init__(self, address: str) -> None:
        self._address = address
        self._clock = ServerClock()
        self.now: Callable[[], int] = self._clock.now
        self._writers, self._readers = (
            ConnectionPool(self._connected, self._close, most, TIMEOUT_S)
            for most in (MOST_WRITERS, MOST_READERS)
        )
        reset_after_fork(self)
        with self._translated(), self._connected() as db:
            self._make_tables(db)

    def _make_tables(self, db: psycopg.Connection[Any]) -> None:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING_TABLES,))
            if db.execute("SELECT to_regclass('levels')").fetchall() == [(None,)]:
                db.execute(schema.POSTGRES.encode())

    def renew(self) -> None:
        """Begin without connections in a child process."""
        for pool in (self._writers, self._readers):
            left_behind.extend(pool.idle)
            pool.renew()

    def _connected(self) -> psycopg.Connection[Any]:
        db = TimeoutConnection.connect(
            self._address,
            autocommit=True,
            client_encoding="utf8",
            target_session_attrs="read-write",
            connect_timeout=TIMEOUT_S,
        )
        db.execute(SESSION)
        return db

    def _close(self, db: psycopg.Connection[Any]) -> None:
        with suppress(psycopg.Error):
            db.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.errors.IntegrityError as error:
            raise PurseError(f"PostgreSQL rejected the write: {error}") from error
        except psycopg.Error as error:
            raise StorageUnavailable(f"PostgreSQL: {' '.join(str(error).split())}") from error

    @contextmanager
    def _using(self, pool: ConnectionPool[Any], begin: str) -> Iterator[PostgresSession]:
        with self._translated(), pool.use() as db:
            try:
                yield PostgresSession(db, begin, self._clock)
            except psycopg.OperationalError as error:
                if db.broken:
                    pool.close_idle()
                    raise ConnectionLost(f"PostgreSQL: {error}") from error
                raise
            finally:
                if not db.broken and db.info.transaction_status != IDLE:
                    try:
                        db.execute("ROLLBACK")
                    except BaseException:
                        db.close()
                        raise

    def writing(self) -> Any:
        """A transaction; each level that changes has a connection of its own."""
        return self._using(self._writers, "BEGIN ISOLATION LEVEL READ COMMITTED")

    def reading(self) -> Any:
        """The database as it is at one moment."""
        return self._using(self._readers, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def several(self, values: Sequence[Any]) -> list[Any]:
        """Return values as one parameter."""
        return list(values)

    def retried(self, work: Callable[[], None]) -> None:
        """Do something; once more where the connection was lost, since repeats have no effect."""
        try:
            work()
        except ConnectionLost:
            work()

    def danger(self) -> None:
        """Say nothing: there is no file that somebody could replace."""

    def close(self) -> None:
        """Let go of the connections."""
        with self._writers.drained(self._close), self._readers.drained(self._close):
            pass


@lru_cache(200)
def spelt(text: str) -> bytes:
    """Return a statement as psycopg wants it."""
    return text.replace("?", "%s").encode()
