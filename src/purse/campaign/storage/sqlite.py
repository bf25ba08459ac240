"""The dialect of SQLite: one file for the processes of a machine, or the memory of one process."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self, TypeVar, cast
from urllib.parse import parse_qs, urlsplit

import apsw
import orjson

from purse.base.files import PRIVATE, sync_folder
from purse.base.fork_safety import quiesce_before_fork
from purse.campaign.storage import schema
from purse.campaign.storage.schema import Check
from purse.campaign.storage.sql import Database, Rows, Statement
from purse.campaign.storage.sqlite_file import SqliteFile, TranslatedErrors
from purse.errors import NoSuchStorage, StorageUnavailable, invalid

# versions of SQLite without the bug that corrupts a write-ahead log
_SOUND = (((3, 44, 6), (3, 45)), ((3, 50, 7), (3, 51)), ((3, 51, 3), (3, 52)), ((3, 53), (9,)))
_ADDRESS = "must be sqlite:///FILE, or sqlite:////ABSOLUTE/FILE"
T = TypeVar("T")


class _SqliteSession:
    """A transaction on a connection."""

    def __init__(self, db: apsw.Connection) -> None:
        self._execute, self._executemany = db.execute, db.executemany

    def read(self, statements: Sequence[Statement]) -> list[Rows]:
        """Return the rows of each."""
        return [
            (self._executemany if isinstance(values, list) else self._execute)(
                text, values
            ).fetchall()
            for text, values in statements
        ]

    def write(self, statements: Sequence[Statement]) -> None:
        """Do these; the commit comes with the end of the transaction, before anybody is told."""
        for text, rows in statements:
            self._executemany(text, rows)


class _Dialect(Database):
    """The common part of a file and of memory."""

    lock = turn = ""
    among = "IN (SELECT value FROM json_each(?))"
    unlock = "DROP TRIGGER purse_no_update; DROP TRIGGER purse_no_delete"
    relock = schema.APPEND_ONLY

    def now(self) -> int:
        """Return ms since 1970."""
        return time.time_ns() // 1_000_000

    def several(self, values: Sequence[Any]) -> str:
        """Return values as one parameter."""
        return orjson.dumps(values).decode()


class Sqlite(SqliteFile, _Dialect):
    """One file. Processes take turns at a fair lock; every commit is on disk before it returns.

    check   refuses tables by their version
    """

    def __init__(self, address: str, check: Check = schema.check_version) -> None:
        path, vfs = _parts_of(address)
        self.check = check
        _check_library(apsw.sqlite_lib_version())
        super().__init__(str(path), vfs)

    @staticmethod
    def identity(address: str) -> Any:
        """Return the file, by its name and what that leads to now, and the file system."""
        path, vfs = _parts_of(address)
        return str(path), os.path.realpath(path), vfs

    def prepare(self, *, create: bool = True) -> None:
        """Make the file, if it is missing and `create` says so; refuse one that is in danger."""
        path = Path(self.path)
        if not path.parent.is_dir():
            raise StorageUnavailable(f"there is no folder {path.parent}")
        if trouble := self.danger():
            raise StorageUnavailable(trouble)
        if not create and (not path.exists() or self._version() == 0):
            raise NoSuchStorage(
                f"there is no file {self.path} with campaigns; name another with storage=..., on "
                "the command line with --storage or PURSE_STORAGE"
            )
        if not path.exists() or self._version() != schema.VERSION:
            self.retried(self._make)
            sync_folder(path.parent)

    def _make(self) -> None:
        """Make the file, for its owner alone, and the tables; refuse those of another version."""
        if self._vfs is None:  # SQLite gives log and shared memory the rights of the file
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, PRIVATE))
        with self._write_lock:
            with self.writing():
                pass
            self._lock.close()  # opened again, it is for those for whom the file is

    def _opened(self) -> apsw.Connection:
        """Return a connection that writes, to tables of this version."""
        db = self._connected(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        if db.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise StorageUnavailable(
                f"{self.path}: this file system does not support a write-ahead log"
            )
        db.execute("PRAGMA synchronous = FULL")  # with less, a power cut takes acknowledged commits
        db.execute("PRAGMA fullfsync = ON")  # on a Mac, too
        db.execute("PRAGMA foreign_keys = ON")
        _make_tables(db, self.check)
        self._note_files(db)
        return db

    def writing(self) -> "_FileTransaction":
        """Return a transaction beside which no other one writes."""
        return _FileTransaction(self)

    @contextmanager
    def reading(self) -> Iterator[_SqliteSession]:
        """Yield the file as it is at one moment."""
        with self._view() as db:
            _check_tables(db, self.check)
            yield _SqliteSession(db)


class _FileTransaction:
    """A transaction on a file whose tables are checked, committed at the end. After an
    error it is not this that undoes it: a signal may come before this is called, or a generator
    would end it whenever it is collected.
    """

    def __init__(self, file: Sqlite) -> None:
        self._file = file

    def __enter__(self) -> _SqliteSession:
        db = self._file.begin()
        _check_tables(db, self._file.check)
        return _SqliteSession(db)

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            self._file.commit()


class _MemoryTransaction(_SqliteSession):
    """A transaction in memory. As a generator it would take twice as long."""

    def __init__(self, db: apsw.Connection, turn: threading.RLock) -> None:
        super().__init__(db)
        self._turn = turn

    def __enter__(self) -> Self:
        self._turn.acquire()
        self._execute("BEGIN")
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Commit; after an error `Memory.retried` undoes everything."""
        if error is None:
            self._execute("COMMIT")
            self._turn.release()


class Memory(_Dialect):
    """The same statements on a database without a file; a child process has a copy of its own."""

    def __init__(self) -> None:
        self._translated = TranslatedErrors("memory")
        self.renew()
        quiesce_before_fork(self)
        with self._turn:  # SQLite has locks of its own while it opens
            self._db = apsw.Connection(":memory:")
            # otherwise SQLite plans a statement again whenever other values are bound to it
            self._db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            _make_tables(self._db, schema.check_version)

    def renew(self) -> None:
        """Take a new lock in a child process: the old one is held by the thread that forked."""
        self._turn: Any = threading.RLock()

    def retried(self, work: Callable[[], T], *, again: bool = True) -> T:
        """Do something. After an error this thread has nothing of the memory any more, wherever the
        error came: a signal may raise one between any two steps.
        """
        is_within = self._turn._is_owned()
        try:
            with self._translated:
                return work()
        except BaseException:
            if not is_within and self._turn._is_owned():
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                self._turn.release()
            raise

    def settle(self) -> None:
        """Before a fork: wait for another thread's transaction, or a child would have a half."""
        self._turn.acquire()

    def go_on(self) -> None:
        """After a fork, in the parent."""
        self._turn.release()

    def writing(self) -> _MemoryTransaction:
        """Return a transaction."""
        return _MemoryTransaction(self._db, self._turn)

    reading = writing

    def close(self) -> None:
        """Hold on to it: others may use it under the same address."""


def _parts_of(address: str) -> tuple[Path, str | None]:
    """Return the file that an address names, and the file system that SQLite is to use for it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        raise invalid("storage", address, _ADDRESS) from None
    options = parse_qs(parts.query)
    if parts.netloc or len(parts.path) < 2 or parts.fragment or set(options) - {"vfs"}:
        raise invalid("storage", address, _ADDRESS)
    return Path(parts.path[1:]).absolute(), options.get("vfs", [None])[0]


def _check_library(version: str) -> None:
    """Refuse a SQLite whose write-ahead log may corrupt a file that two connections write."""
    number = tuple(map(int, version.split(".")))
    if not any(low <= number < high for low, high in _SOUND):
        raise StorageUnavailable(
            f"SQLite {version} may corrupt a file that several processes write: upgrade "
            "apsw to 3.51.3 or later"
        )


def _make_tables(db: apsw.Connection, check: Check) -> None:
    """Make the tables in a file that has none, or refuse those of another version."""
    with db:
        if db.execute("PRAGMA user_version").get == 0:
            db.execute(schema.SQLITE)
        _check_tables(db, check)


def _check_tables(db: apsw.Connection, check: Check) -> None:
    """Refuse tables of another version: another process may have changed them since."""
    version = cast(int, db.execute("PRAGMA user_version").get)
    if version != schema.VERSION:
        check(version, db.filename)
