"""The connections to one SQLite file: one that writes and some that read. Locks, and checks that
the files have not been replaced, keep every acknowledged commit.
"""

import atexit
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakSet

import apsw

from purse.base.files import PRIVATE
from purse.base.fork_safety import quiesce_before_fork
from purse.campaign.storage.connection_pool import ConnectionPool
from purse.campaign.storage.file_identity import FileIdentity, danger, hold, identify, released
from purse.campaign.storage.file_lock import FileLock
from purse.errors import PurseError, StorageUnavailable

_LOCK_TIMEOUT_S = 30.0  # seconds to wait for other processes, and for the lock of a foreign program
_RECONNECT_S = 5.0  # seconds to wait for threads that use files which were replaced
_MOST_READERS = 32  # connections that read at once
T = TypeVar("T")


class SqliteFile(ABC):
    """A SQLite file with a write-ahead log, for all threads of this process."""

    def __init__(self, path: str, vfs: str | None = None) -> None:
        self.path = path
        self._translated = TranslatedErrors(path)
        self._real = os.path.realpath(path)  # several names may lead to one file
        self._vfs = vfs
        self._lock = FileLock(f"{self._real}-lock", self._real)
        self._readers = ConnectionPool(
            self._new_reader, self._close_reader, _MOST_READERS, _LOCK_TIMEOUT_S
        )
        self._reset()
        quiesce_before_fork(self)
        _open.add(self)

    def _reset(self) -> None:
        self._writer: apsw.Connection | None = None
        self._files: dict[apsw.Connection, FileIdentity] = {}  # of each open connection
        self._write_lock: Any = threading.RLock()

    def settle(self) -> None:
        """Before a fork: close the file. SQLite keeps its locks in the memory of the process, and a
        child would take the parent's for its own.
        """
        self._resting = ExitStack()
        self._resting.enter_context(self._write_lock)
        with suppress(apsw.Error):  # whatever it is, a fork must not be kept from happening
            self._resting.enter_context(self._readers.drained(self._close_reader))
            self._close_writer()

    def go_on(self) -> None:
        """After a fork, in the parent."""
        self._resting.close()

    def renew(self) -> None:
        """Begin without connections in a child process."""
        self._reset()
        self._readers.renew()
        self._lock.renew()

    def begin(self) -> apsw.Connection:
        """Begin a transaction beside which no other one writes, for what `retried` does. All
        connections have the files open that the path names.

        If they have not, the turn ends before they are let go: that waits for other threads,
        which may wait for their turn.
        """
        latest = time.monotonic() + _RECONNECT_S
        self._take_turn()
        while not self._is_current():
            self._end_turn()
            if time.monotonic() > latest:
                raise StorageUnavailable(self._replaced())
            self._follow_files()
            self._take_turn()
        db = self._writer = self._writer or self._opened()
        db.execute("BEGIN IMMEDIATE")
        return db

    def commit(self) -> None:
        """Commit, and say so only if the files are those that the path names."""
        db = self._writer
        assert db is not None
        db.execute("COMMIT")
        if self._files[db] != identify(self.path, self._real):
            self._drop_writer()
            raise StorageUnavailable(
                f"{self.path}: the file or its write-ahead log was replaced while this was "
                "written, so it may be lost; do it again with the same request_id"
            )
        self._end_turn()

    def _take_turn(self) -> None:
        """Wait until no other thread or process writes that uses this library."""
        if not self._write_lock.acquire(timeout=_LOCK_TIMEOUT_S):
            raise StorageUnavailable(
                f"{self.path}: another thread has been writing for {_LOCK_TIMEOUT_S:g} seconds"
            )
        self._lock.acquire(_LOCK_TIMEOUT_S)

    def _end_turn(self) -> None:
        self._lock.release()
        self._write_lock.release()  # last: its owner lets go of all the rest

    def retried(self, work: Callable[[], T], *, again: bool = True) -> T:
        """Do something; there is no connection that could be lost. After an error this thread has
        nothing of the file any more, wherever the error came: a signal may raise one between any
        two steps.
        """
        is_within = self._write_lock._is_owned()
        try:
            with self._translated:
                return work()
        except BaseException as error:
            if not is_within:
                self._let_go(error.__cause__ or error)
            raise

    def _let_go(self, error: BaseException) -> None:
        self._readers.let_go()
        for sharing in self._sharing():
            if not sharing._write_lock._is_owned():
                continue
            try:
                if isinstance(error, apsw.Error) and not isinstance(error, apsw.ConstraintError):
                    sharing._drop_writer()  # whatever it remembers of the file may be wrong now
                elif sharing._writer is not None and sharing._writer.in_transaction:
                    sharing._writer.execute("ROLLBACK")
            finally:
                sharing._lock.release()
                while sharing._write_lock._is_owned():
                    sharing._write_lock.release()

    @contextmanager
    def _view(self) -> Iterator[apsw.Connection]:
        """Yield the file as it is at one moment, through a connection that cannot write."""
        with self._translated:
            self._follow_files()
            with self._readers.use(lambda db: db.execute("BEGIN")) as db:
                try:
                    yield db
                finally:
                    with suppress(apsw.ConnectionClosedError):  # it was let go of before
                        if db.in_transaction:
                            db.execute("ROLLBACK")

    def _follow_files(self) -> None:
        """Let go of the file if one of its connections has other files open than the path names:
        what is written to those is lost.

        All connections of this process have to go, because SQLite shares memory among them.
        Raise `StorageUnavailable` if another thread does not leave the file.
        """
        if self._is_current():
            return
        for sharing in self._sharing():
            with ExitStack() as held:
                if not sharing._write_lock.acquire(timeout=_RECONNECT_S):
                    raise StorageUnavailable(self._replaced())
                held.callback(sharing._write_lock.release)
                if not held.enter_context(
                    sharing._readers.drained(sharing._close_reader, _RECONNECT_S)
                ):
                    raise StorageUnavailable(self._replaced())
                sharing._drop_writer()

    def _sharing(self) -> "list[SqliteFile]":
        """Return all objects of this process for this file, this one included."""
        if len(_open) == 1:  # a tenth of the time
            return [self]
        return [other for other in list(_open) if other._real == self._real]

    def _is_current(self) -> bool:
        """Return whether all connections of this process have the files at the path open."""
        now = identify(self.path, self._real)
        return all(
            files == now for sharing in self._sharing() for files in list(sharing._files.values())
        )

    def _replaced(self) -> str:
        return (
            f"{self.path}: its files were replaced, and another thread still uses the old ones; "
            "try again"
        )

    def _drop_writer(self) -> None:
        if self._writer is not None:
            db, self._writer = self._writer, None
            self._close(db, tidy=False)

    def _note_files(self, db: apsw.Connection) -> None:
        """Remember the files of a connection that has used them, and say that they are in use.

        A file without a log yet has to be locked as a whole before it gets one.
        """
        files = identify(self.path, self._real)
        if files.shared is not None:
            hold(self._real)
        self._files[db] = files

    def _close(self, db: apsw.Connection, *, tidy: bool) -> None:
        """Close a connection; without `tidy` leave its files alone, because an old log must not be
        moved into the file, nor a new one be removed.
        """
        if not tidy:
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        files = self._files.pop(db, None)
        held = files is not None and files.shared is not None
        with released(self._real) if held else nullcontext():
            db.close(True)

    def _close_reader(self, db: apsw.Connection) -> None:
        self._close(db, tidy=self._files.get(db) == identify(self.path, self._real))

    def _close_writer(self) -> None:
        """Close the writing connection last: it moves the log into the file."""
        if self._writer is not None:
            db, self._writer = self._writer, None
            self._close(db, tidy=self._files.get(db) == identify(self.path, self._real))
        self._lock.close()

    def _connected(self, flags: int) -> apsw.Connection:
        if os.path.realpath(self.path) != self._real:
            raise StorageUnavailable(
                f"{self.path} leads to another file now (a symbolic link); open the campaign again"
            )
        db = apsw.Connection(self.path, flags=flags, vfs=self._vfs)
        db.set_busy_timeout(round(_LOCK_TIMEOUT_S * 1000))
        # otherwise SQLite plans a statement again whenever other values are bound to it
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        return db

    def _new_reader(self) -> apsw.Connection:
        db = self._connected(apsw.SQLITE_OPEN_READONLY)
        db.execute("PRAGMA user_version").fetchone()  # the first use opens the log
        self._note_files(db)
        return db

    @abstractmethod
    def _opened(self) -> apsw.Connection:
        """Return a connection that writes, to tables of this version."""

    def _version(self) -> int:
        """Return the version of the tables; -1 if a writer has to undo a half transaction first."""
        try:
            with self._view() as db:
                return cast(int, db.execute("PRAGMA user_version").get)
        except StorageUnavailable:
            return -1

    def danger(self) -> str | None:
        """Return the danger to the file, for people; None if there is none."""
        return danger(self.path)

    def copy(self, to: Path) -> None:
        """Copy the file, as the last commit has left it, to a new one for its owner alone."""
        to.unlink(missing_ok=True)
        os.close(os.open(to, os.O_RDWR | os.O_CREAT, PRIVATE))
        with (
            self._view() as db,
            closing(apsw.Connection(str(to))) as target,
            target.backup("main", db, "main") as backup,
        ):
            backup.step()

    def shrink(self) -> str | None:
        """Write the file anew, and empty its log; say why that is not empty; None: it is."""

        def work() -> str | None:
            db = self.begin()
            db.execute("COMMIT; VACUUM")
            is_busy = cast(Any, db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())[0]
            self._end_turn()
            return f"{self.path}-wal: another process has read it for long" if is_busy else None

        return self.retried(work)

    def close(self) -> None:
        """Let go of the file."""
        with self._write_lock, self._translated, self._readers.drained(self._close_reader):
            self._close_writer()

    def __del__(self, suppress: Any = suppress) -> None:  # the name is gone when Python ends
        with suppress(Exception):  # it may never have begun
            self.close()


_open: WeakSet[SqliteFile] = WeakSet()


@atexit.register
def _close_all() -> None:
    """Close all files. The last connection to a file moves the log into it: then a copy of the file
    alone is whole, and a backup in its place meets no old log.
    """
    for storage in list(_open):
        with suppress(Exception):  # whatever it is, a process must not be kept from ending
            storage.close()


class TranslatedErrors:
    """A context, which can be entered again within itself, that raises errors of SQLite and of the
    file system as `PurseError` and `StorageUnavailable`. As a generator it would take six times as
    long, in every transaction.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, apsw.ConstraintError):
            raise PurseError(
                f"{self._path} rejected the write: it would violate a constraint ({error})"
            ) from error
        if isinstance(error, (apsw.Error, OSError)):
            raise StorageUnavailable(f"{self._path}: {error}") from error
