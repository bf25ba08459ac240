"""The dialect of SQLite: one file for the processes of a machine, or the memory of one process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson

from purse.campaign.storage.sqlite_errors import TranslatedErrors
from purse.campaign.storage.sqlite_file import SqliteFile
from purse.errors import StorageUnavailable
from purse.levels import schema
from purse.levels.sql import Rows, Statement


def wall_clock() -> int:
    """Return ms since 1970."""
    return time.time_ns() // 1_000_000


class SqliteSession:
    """A transaction on a connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each."""
        return [
            (self._db.executemany if isinstance(values, list) else self._db.execute)(
                text, values
            ).fetchall()
            for text, values in statements
        ]

    def write(self, statements: Sequence[Statement]) -> None:
        """Do these; the commit comes with the end of the transaction, before anybody is told."""
        for text, rows in statements:
            self._db.executemany(text, rows)


class Dialect:
    """How SQLite says it."""

    lock = ""
    among = "IN (SELECT value FROM json_each(?))"

    def several(self, values: Sequence[Any]) -> str:
        """Return values as one parameter."""
        return orjson.dumps(values).decode()

    def retried(self, work: Callable[[], None]) -> None:
        """Do something; there is no connection that could be lost."""
        work()


class Sqlite(Dialect, SqliteFile):
    """One file. Processes take turns at a fair lock; every commit is on disk before it returns."""

    def __init__(self, path: str) -> None:
        self.now: Callable[[], int] = wall_clock
        super().__init__(str(Path(path).absolute()))
        with self._locked():
            pass  # makes the tables

    def _opened(self) -> apsw.Connection:
        """Return a connection that writes, to tables of this version."""
        db = self._connected(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        if db.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise StorageUnavailable(f"{self.path}: no write-ahead log on this file system")
        db.execute("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA foreign_keys = ON")
        make_tables(db)
        self._note_files(db)
        return db

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """A transaction that nobody else writes beside."""
        with self._locked() as db:
            yield SqliteSession(db)

    @contextmanager
    def reading(self) -> Iterator[SqliteSession]:
        """The file as it is at one moment."""
        with self._view() as db:
            yield SqliteSession(db)


class Memory(Dialect):
    """The memory of this process: the same statements on a database without a file."""

    def __init__(self) -> None:
        self.now: Callable[[], int] = wall_clock
        self._db = apsw.Connection(":memory:")
        # otherwise SQLite plans a statement again whenever other values are bound to it
        self._db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        self._turn = threading.RLock()
        self._translated = TranslatedErrors("memory")
        make_tables(self._db)

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """A transaction."""
        with self._turn, self._translated:
            self._db.execute("BEGIN")
            try:
                yield SqliteSession(self._db)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    reading = writing

    def danger(self) -> None:
        """Say nothing: there is no file that somebody could replace."""

    def close(self) -> None:
        """Let go of it."""
        self._db.close()


def make_tables(db: apsw.Connection) -> None:
    """Make the tables, or refuse those of another version."""
    db.execute("BEGIN IMMEDIATE")
    version = db.execute("PRAGMA user_version").get
    if version == 0:
        db.execute(schema.SQLITE)
        db.execute(f"PRAGMA user_version = {schema.VERSION}")
    db.execute("COMMIT")
    if version not in (0, schema.VERSION):
        raise StorageUnavailable(f"{db.filename} has schema version {version}")
