"""A lock that processes get in the order in which they came.

SQLite lets writers try again at random: with 32 processes some wait for seconds. So they queue up
at a side file first. Each draws a number and locks the byte of that number; its turn has come when
no lower byte is locked. The kernel frees the bytes of a process that dies. Nothing but the order
depends on this lock, because SQLite's own lock still guards the file. Only
Linux has locks of an open file description; elsewhere SQLite's lock is all there is.
"""

import os
import stat
import struct
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from purse.errors import StorageUnavailable

if sys.platform == "linux":
    from fcntl import F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW, F_RDLCK, F_UNLCK, F_WRLCK, fcntl

_LOCK = struct.Struct("hhqqi4x")  # kind, whence, first byte, number of bytes, process
_COUNTER = struct.Struct("<q")  # the next number, at the beginning of the file
_DRAWING = 0  # the byte that is locked while a number is drawn
_FIRST = 1 << 32  # the byte of number 0


class FileLock:
    """A fair lock among processes; one thread of a process may use it at a time.

    path   the side file, which is made if it is missing
    like   the file whose owner and rights it gets
    """

    def __init__(self, path: str, like: str) -> None:
        self._path, self._like = path, like
        self._file: int | None = None
        self._waiter: _Waiter | None = None

    def acquire(self, timeout: float) -> None:
        """Wait until it is our turn. Raise `TimeoutError` after `timeout` seconds."""
        if sys.platform != "linux":
            return
        if self._file is None:
            self._file = _open_lock_file(self._path, self._like)
        number = _draw(self._file, F_OFD_SETLK)
        if number is not None and _is_first(self._file, number):
            return
        waiter = self._waiter = self._waiter or _Waiter()
        try:
            acquired = waiter.acquire(self._file, number, timeout)
        finally:
            if waiter.given_up:  # it still waits with the file, and closes it
                self._file = self._waiter = None
        if not acquired:
            raise TimeoutError(
                f"could not lock {self._path}: another process has held it for {timeout:g} seconds"
            )

    def release(self) -> None:
        """Let the next one have it."""
        if self._file is not None:
            _unlock(self._file)

    def close(self) -> None:
        """Release the lock and close the file."""
        self.release()
        self.renew()

    def renew(self) -> None:
        """Close the file and leave the lock alone: in a child process it is the parent's."""
        if self._waiter is not None:
            self._waiter.stop()
            self._waiter = None
        if self._file is not None:
            os.close(self._file)
            self._file = None


class _Waiter:
    """A thread that waits for the lock in the place of another, which can give up: the kernel's own
    wait has no end.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[tuple[int, int | None] | None] = SimpleQueue()
        self._decided = threading.Lock()
        self._acquired = threading.Lock()  # freed by the thread; a signal can leave no event's
        self._acquired.acquire()
        self._got = self.given_up = False
        threading.Thread(target=self._run, daemon=True).start()

    def acquire(self, file: int, number: int | None, timeout: float) -> bool:
        """Return whether the lock was got in time. Interrupted, or too late, the thread closes the
        file when the kernel lets it go, and is of no more use.
        """
        acquired = self._got = False
        try:
            self._work.put((file, number))
            acquired = self._acquired.acquire(timeout=timeout)
        finally:
            if not acquired:
                self.given_up = True
                self._give_up(file)
        return acquired

    def _give_up(self, file: int) -> None:
        with self._decided:
            _unlock(file)
            if self._got:
                os.close(file)
                self.stop()

    def stop(self) -> None:
        """Let the thread end."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            file, number = work
            if number is None:
                number = _draw(file, F_OFD_SETLKW)
            # only the one before us wakes us; the others before him have gone, or give up too
            _set_lock(file, F_OFD_SETLKW, F_RDLCK, _FIRST + max(0, number - 1), 1)
            _set_lock(file, F_OFD_SETLKW, F_RDLCK, _FIRST, number)
            with self._decided:
                if self.given_up:
                    # a child that was forked meanwhile has the file, and with it the lock, too
                    _unlock(file)
                    os.close(file)
                    return
                self._got = True
                self._acquired.release()


def _draw(file: int, command: int) -> Any:
    """Draw a number and lock its byte; None if another draws and `command` does not wait."""
    if not _set_lock(file, command, F_WRLCK, _DRAWING, 1):
        return None
    drawn = os.pread(file, _COUNTER.size, 0)
    number = max(0, _COUNTER.unpack(drawn)[0]) if len(drawn) == _COUNTER.size else 0
    while not _set_lock(file, F_OFD_SETLK, F_WRLCK, _FIRST + number, 1):
        # the counter is wrong, as the file was cut: begin behind those that wait already
        query = _LOCK.pack(F_WRLCK, os.SEEK_SET, _FIRST + number, 1, 0)
        kind, _, start, length, _ = _LOCK.unpack(fcntl(file, F_OFD_GETLK, query))
        number = start + length - _FIRST if kind != F_UNLCK else number
    with suppress(OSError):  # a full disk: the next one finds the byte locked, and goes on from it
        os.pwrite(file, _COUNTER.pack(number + 1), 0)
    _set_lock(file, F_OFD_SETLK, F_UNLCK, _DRAWING, 1)
    return number


def _is_first(file: int, number: int) -> bool:
    """Return whether no lower number is waiting; then no later one can come before us either."""
    return number == 0 or _set_lock(file, F_OFD_SETLK, F_RDLCK, _FIRST, number)


def _set_lock(file: int, command: int, kind: int, start: int, length: int) -> bool:
    """Lock bytes; False if another has locked them and `command` does not wait."""
    try:
        fcntl(file, command, _LOCK.pack(kind, os.SEEK_SET, start, length, 0))
    except BlockingIOError:
        return False
    return True


def _unlock(file: int) -> None:
    """Free all bytes."""
    if sys.platform == "linux":
        _set_lock(file, F_OFD_SETLK, F_UNLCK, 0, 0)


_PRIVATE = 0o600


def _open_lock_file(path: str, like: str) -> int:
    """Open the lock file, and make it if it is missing; return its descriptor.

    path   of the lock file; a symbolic link is not followed
    like   the path of the database; the lock file gets its owner and group

    Raise `StorageUnavailable` if it is no plain file, has another name, or belongs to a user who
    may not write the database.
    """
    try:
        database: os.stat_result | None = os.stat(like)
    except FileNotFoundError:
        database = None
    mode = _PRIVATE if database is None else _writers_only(database.st_mode)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(path, flags, mode)
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            raise StorageUnavailable(f"{path} must be a plain file with one name; remove it")
        if database is not None:
            _adopt(file, database, mode)
            _check_owner(path, os.fstat(file), like, database)
    except BaseException:
        os.close(file)
        raise
    return file


def _adopt(file: int, database: os.stat_result, mode: int) -> None:
    """Give the lock file the owner, group and rights of the database, as far as we may."""
    status = os.fstat(file)
    with suppress(PermissionError):
        if os.geteuid() == 0 and status.st_uid != database.st_uid:
            os.fchown(file, database.st_uid, -1)
        if status.st_gid != database.st_gid and os.geteuid() in (0, status.st_uid):
            os.fchown(file, -1, database.st_gid)
    if os.geteuid() in (0, status.st_uid) and stat.S_IMODE(status.st_mode) != mode:
        os.fchmod(file, mode)


def _check_owner(path: str, status: os.stat_result, like: str, database: os.stat_result) -> None:
    """Refuse a lock file of a user who may not write the database."""
    is_trusted = (
        status.st_uid in (0, database.st_uid)
        or (database.st_mode & stat.S_IWGRP and status.st_gid == database.st_gid)
        or database.st_mode & stat.S_IWOTH
    )
    if not is_trusted:
        raise StorageUnavailable(
            f"{path} belongs to user {status.st_uid}, who may not write {like}; remove it"
        )


def _writers_only(mode: int) -> int:
    """Leave out the rights of those who may read and not write.

    >>> oct(_writers_only(0o644)), oct(_writers_only(0o664))
    ('0o600', '0o660')
    """
    return sum(0o6 << shift for shift in (6, 3, 0) if (mode >> shift) & 0o6 == 0o6)
