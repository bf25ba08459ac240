"""The dialect of PostgreSQL, for several machines. Rows of levels are locked from the top down, and
only the primary is asked.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import lru_cache
from typing import Any, TypeVar

import psycopg

from purse.base.fork_safety import left_behind, reset_after_fork
from purse.campaign.storage import schema
from purse.campaign.storage.connection_pool import ConnectionPool
from purse.campaign.storage.sql import Database, Rows, Statement
from purse.errors import InvalidInput, PurseError, StorageUnavailable

_LOCK_TIMEOUT_S = 30  # seconds to wait for a lock or an answer, as the server counts them
_QUERY_TIMEOUT_S = 40.0  # seconds to wait for a server that stands still without a word
# connections of a process to an address; a server takes 100 in all, unless it is told otherwise
_MOST_WRITERS, _MOST_READERS = 16, 8
_IDLE = 0  # a connection without a transaction
_MAKING_TABLES = 5_784_213  # any number, the same in all processes
# for a transaction and not for a session, which a pooler may give to another client in between
_SETTINGS = f"""SELECT set_config('lock_timeout', '{_LOCK_TIMEOUT_S}s', true),
  set_config('statement_timeout', '{_LOCK_TIMEOUT_S}s', true),
  set_config('idle_in_transaction_session_timeout', '{_LOCK_TIMEOUT_S}s', true),
  CASE current_setting('synchronous_commit')
    WHEN 'off' THEN set_config('synchronous_commit', 'on', true)  -- P2
  END"""
# each statement behind a lock sees what was committed before the lock was got
_WRITE = b"BEGIN ISOLATION LEVEL READ COMMITTED"
_READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_MICROSECONDS = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_STATE = f"SELECT {_MICROSECONDS}, max(version) FROM purse_schema".encode()
T = TypeVar("T")


class _ConnectionLost(StorageUnavailable):
    """A transaction with an unknown outcome."""


class _QueryTimeout(psycopg.OperationalError):
    """The server has not answered in time."""


class _TimeoutConnection(psycopg.Connection[Any]):
    """A connection that gives up. What became of a statement is unknown then, as after a lost
    connection, and the connection is of no more use.
    """

    gave_up = False

    def wait(self, gen: Generator[Any, Any, T], *options: Any, **more: Any) -> T:
        """Wait as psycopg does, which looks up every so often."""
        deadline = time.monotonic() + (0 if self.gave_up else _QUERY_TIMEOUT_S)
        try:
            return super().wait(_until(gen, deadline), *options, **more)
        except _QueryTimeout:
            self.gave_up = True
            raise


def _until(steps: Generator[Any, Any, T], deadline: float) -> Generator[Any, Any, T]:
    """Yield the same steps, up to a time."""
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise _QueryTimeout(f"no answer within {_QUERY_TIMEOUT_S:g} seconds")
            wanted = steps.send(ready)
    except StopIteration as end:
        return end.value


def _monotonic() -> int:
    """Return microseconds on a clock that is never set."""
    return time.monotonic_ns() // 1_000


class _PostgresSession:
    """A transaction; it begins with the first trip, and each trip is one pipeline.

    begin   the statement that begins it
    check   is called with when it was asked, the server's time and the version of the tables
    """

    def __init__(
        self, db: psycopg.Connection[Any], begin: bytes, check: Callable[[int, int, int], None]
    ) -> None:
        self._db, self._begin, self._check = db, begin, check

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each."""
        start = _monotonic()
        with self._db.pipeline():
            if self._begin:
                self._db.execute(self._begin)
                self._db.execute(_SETTINGS)
            cursors = [self._do(*statement) for statement in statements]
            state = self._db.execute(_STATE)  # behind the locks: the time is that of this moment
        self._begin = b""
        self._check(start, *state.fetchall()[0])
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
            cursor.executemany(_spelt(text), values)
            return cursor
        return self._db.execute(_spelt(text), values[0] if isinstance(values, list) else values)


class Postgres(Database):
    """A database for the processes of several machines.

    check   refuses tables by their version
    """

    lock = " FOR UPDATE"
    # in the order in which they came: all who wait for a row would wake at each commit, and look
    # for its newest version
    turn = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.' || ?::text, 0))"
    among = "= ANY(?)"
    unlock = "ALTER TABLE purse_journal DISABLE TRIGGER purse_no_change"
    relock = "ALTER TABLE purse_journal ENABLE TRIGGER purse_no_change"

    def __init__(self, address: str, check: schema.Check = schema.check_version) -> None:
        self.address, self.check = address, check
        try:
            parts = psycopg.conninfo.conninfo_to_dict(address)
        except psycopg.ProgrammingError:  # whose text may hold the password
            raise InvalidInput(
                "storage: this is not an address of PostgreSQL; it looks like "
                "postgresql://USER@HOST/DATABASE, and special characters in it are written as %XX"
            ) from None
        # without the password
        self._where = f"PostgreSQL {parts.get('dbname', '')!r} at {parts.get('host', 'localhost')}"
        self._ahead = 0  # microseconds: the server's clock of ours; wrong until it has answered
        self._writers, self._readers = (
            ConnectionPool(self._connected, self._close, limit, _LOCK_TIMEOUT_S)
            for limit in (_MOST_WRITERS, _MOST_READERS)
        )
        reset_after_fork(self)

    @staticmethod
    def identity(address: str) -> Any:
        """Return the key of those who may share connections: the address, and the variables
        for libpq, which may name a user or a schema.
        """
        return address, *sorted(pair for pair in os.environ.items() if pair[0].startswith("PG"))

    def prepare(self, *, create: bool = True) -> None:
        """Make the tables unless they are there, and refuse those of another version."""

        def look(db: psycopg.Connection[Any]) -> None:
            start = _monotonic()
            if db.execute("SELECT to_regclass('purse_schema')").fetchall() == [(None,)]:
                _make_tables(db)
            self._check(start, *db.execute(_STATE).fetchall()[0])

        def use() -> None:
            with self._translated(), self._readers.use(look):
                pass

        self.retried(use)

    def now(self) -> int:
        """Return ms since 1970 on the server: this machine's clock counts from an answer."""
        return (_monotonic() + self._ahead) // 1_000

    def renew(self) -> None:
        """Begin without connections in a child process."""
        for pool in (self._writers, self._readers):
            left_behind.extend(pool.idle)
            pool.renew()

    def _check(self, start: int, now: int, version: int) -> None:
        """Take over the server's time, and refuse tables of another version.

        start   when the server was asked, on our clock

        The time is that of some moment until now. Counted from now it is behind by what the answer
        took, and under load that is long. So what an earlier, quicker answer said stays, as long as
        it may be so. It is never ahead, so that what is done later is not older.
        """
        low, high = now - _monotonic(), now - start
        if not low <= self._ahead <= high:
            self._ahead = low
        if version != schema.VERSION:
            self.check(version, self._where)

    def _connected(self) -> psycopg.Connection[Any]:
        """Return a connection to the primary."""
        db = _TimeoutConnection.connect(
            self.address,
            autocommit=True,
            client_encoding="utf8",  # or text of a database without an encoding comes as bytes
            target_session_attrs="read-write",
            connect_timeout=_LOCK_TIMEOUT_S,
        )
        if db.execute("SELECT pg_backend_pid()").fetchall() != [(db.info.backend_pid,)]:
            db.prepare_threshold = None  # a pooler is in between, and may change the session
            if options := db.info.options:  # such as a schema: it may have been told to ignore it
                db.close()
                raise StorageUnavailable(
                    f"{self._where} is behind a pooler, which does not keep {options!r}: set it "
                    "for the role or the database instead"
                )
        return db

    def _close(self, db: psycopg.Connection[Any]) -> None:
        with suppress(psycopg.Error):
            db.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.errors.IntegrityError as error:
            raise PurseError(
                f"{self._where} rejected the write: it would violate a constraint ({error})"
            ) from error
        except psycopg.Error as error:
            raise StorageUnavailable(f"{self._where}: {_one_line(error)}") from error

    @contextmanager
    def _using(self, pool: ConnectionPool[Any], begin: bytes) -> Iterator[_PostgresSession]:
        broken, outer = False, sys.exception()
        with self._translated():
            try:
                with pool.use() as db:  # which keeps no connection after an error of psycopg
                    try:
                        yield _PostgresSession(db, begin, self._check)
                    finally:
                        broken = not db.gave_up  # until the transaction is undone
                        if not (db.closed or db.info.transaction_status == _IDLE):
                            self._undo(db)
                        broken = db.broken
            except psycopg.Error as error:
                if not isinstance(cause := _first(error, outer), psycopg.Error):
                    raise cause from None  # of a signal, which must not be lost
                if not (broken and isinstance(error, psycopg.OperationalError)):
                    raise
                self.close()  # if one was lost, all are
                raise _ConnectionLost(f"{self._where}: {_one_line(error)}") from error

    def _undo(self, db: psycopg.Connection[Any]) -> None:
        """Give up a transaction, so that its connection can be used again, or close that."""
        if db.pgconn.pipeline_status:  # a signal came amid it: no answer would ever come
            db.close()
            return
        try:
            db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise

    def writing(self) -> AbstractContextManager[_PostgresSession]:
        """Return a transaction. Each has a connection of its own, so that a level that is stuck
        delays no other.
        """
        return self._using(self._writers, _WRITE)

    def reading(self) -> AbstractContextManager[_PostgresSession]:
        """Return the database as it is at one moment."""
        return self._using(self._readers, _READ)

    def several(self, values: Sequence[Any]) -> list[Any]:
        """Return values as one parameter."""
        return list(values)

    def retried(self, work: Callable[[], T], *, again: bool = True) -> T:
        """Do something; once more if the connection was lost, since repeats have no effect."""
        try:
            return work()
        except _ConnectionLost as error:
            if not again:
                raise StorageUnavailable(str(error)) from error
        except BaseException:
            for pool in (self._writers, self._readers):
                pool.let_go()  # of what a signal kept this thread from giving back
            raise
        return self.retried(work, again=False)

    def shrink(self) -> None:
        """Write the tables anew, however long it takes, and what the planner knows of values; if
        this role is the owner of the database, also the table where that is.
        """
        tables = "purse_journal, purse_balances, purse_checkpoints, purse_seals"
        with self._translated(), psycopg.connect(self.address, autocommit=True) as db:
            db.execute(f"VACUUM (FULL, ANALYZE) {tables}".encode())
            db.execute("VACUUM FULL pg_statistic")

    def close(self) -> None:
        """Let go of the connections that are not in use."""
        for pool in (self._writers, self._readers):
            pool.close_idle(self._close)

    def __del__(self, suppress: Any = suppress) -> None:  # the name is gone when Python ends
        with suppress(Exception):  # it may never have begun
            self.close()


def _make_tables(db: psycopg.Connection[Any]) -> None:
    """Make the tables; processes that start together wait for the first."""
    with db.transaction():
        db.execute(_SETTINGS)
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING_TABLES,))
        if db.execute("SELECT to_regclass('purse_schema')").fetchall() == [(None,)]:
            db.execute(schema.POSTGRES.encode())


def _first(error: BaseException, outer: BaseException | None) -> BaseException:
    """Return the error that came first, after an outer one: if a signal raises one amid a pipeline,
    psycopg cannot end that, and raises its own.
    """
    while error.__context__ not in (None, outer):
        error = error.__context__
    return error


def _one_line(error: psycopg.Error) -> str:
    """Return the text of an error on one line."""
    return " ".join(str(error).split())


@lru_cache(200)
def _spelt(text: str) -> bytes:
    """Return a statement as psycopg wants it."""
    return text.replace("?", "%s").encode()
