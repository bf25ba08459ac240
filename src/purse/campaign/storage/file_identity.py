"""The files of a SQLite database: the file itself, its write-ahead log and its shared memory.

A connection goes on writing to files that it has open when they are removed or replaced, and what
it writes then is lost. Another SQLite library in the same process does that by merely
closing the file: neither library sees the other's locks. So the storage compares the files with
those that the connection opened, before a transaction and after the commit, before the answer.
"""

import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_MOUNTS = Path("/proc/self/mountinfo")  # of Linux; elsewhere mount points are not known


class FileIdentity(NamedTuple):
    """The device and inode of each file; None if the file is missing."""

    database: tuple[int, int] | None
    log: tuple[int, int] | None  # FILE-wal
    shared: tuple[int, int] | None  # FILE-shm


def identify(path: str, real: str | None = None) -> FileIdentity:
    """Find the files of the database at this path.

    real   the file that symbolic links led to, if that is known: SQLite keeps log and shared memory
           beside it; if they lead to another one now, the file itself differs
    """
    real = real or os.path.realpath(path)
    return FileIdentity(_inode(path), _inode(f"{real}-wal"), _inode(f"{real}-shm"))


def _inode(path: str) -> tuple[int, int] | None:
    """Return the device and inode of a file; None if it is missing."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def danger(path: str) -> str | None:
    """Say why others may see this file under another name, with a log of their own beside it.

    Two such names are two ledgers that both spend the budget. Return None if nothing is wrong.
    """
    real = os.path.realpath(path)
    try:
        if os.stat(real).st_nlink > 1:
            return (
                f"{path} has another name (a hard link), and a program that uses that one has "
                "a write-ahead log of its own; remove one of the names"
            )
    except FileNotFoundError:
        return None
    if real in _mount_points():
        return (
            f"{path} is a mount point, and its write-ahead log is not mounted with it; mount its "
            "folder instead"
        )
    return None


def _mount_points() -> set[str]:
    """Return the paths that something is mounted on, as this process sees them."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return set()
    # the kernel writes a space as \040, and other such characters likewise
    return {_unescape(line.split()[4]) for line in lines}


def _unescape(path: str) -> str:
    r"""Turn \040 and the like into the characters that they stand for."""
    for code in ("040", "011", "012", "134"):
        path = path.replace(f"\\{code}", chr(int(code, 8)))
    return path


if sys.platform == "linux":  # elsewhere only `file_identity` helps
    from fcntl import F_OFD_SETLK, F_RDLCK, F_UNLCK, fcntl

# the bytes of SQLite's file format that mean "in use": first byte and number
_IN_USE = (0x40000002, 510)  # of the file
_SHARED_IN_USE = (128, 1)  # of FILE-shm

_lock = threading.RLock()
_guards: "dict[str, _FileGuard]" = {}


class _FileGuard:
    """The locks on a file and its shared memory, for all connections of this process."""

    def __init__(self, path: str) -> None:
        self.users = 0
        self._files: list[tuple[int, tuple[int, int]]] = []
        for name, bytes_in_use in ((path, _IN_USE), (f"{path}-shm", _SHARED_IN_USE)):
            with suppress(OSError):  # without it, things are as SQLite leaves them
                self._files.append((os.open(name, os.O_RDONLY | os.O_CLOEXEC), bytes_in_use))
        self.set(lock=True)

    def close(self) -> None:
        """Close the files. To close a file drops SQLite's own locks on it in this process, so no
        connection to it may be open.
        """
        for file, _ in self._files:
            os.close(file)

    def set(self, *, lock: bool) -> None:
        """Lock, or let SQLite itself find out whether it is the last user."""
        if sys.platform == "linux":
            kind = F_RDLCK if lock else F_UNLCK
            for file, (start, length) in self._files:
                with suppress(OSError):
                    fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", kind, 0, start, length, 0))


def hold(path: str) -> None:
    """Count one more connection to the file, which has used it already.

    path   the file's own path, no symbolic link: a file has one guard, whatever it is called
    """
    if sys.platform == "linux":
        with _lock:
            guard = _guards.get(path) or _guards.setdefault(path, _FileGuard(path))
            guard.users += 1


@contextmanager
def released(path: str) -> Iterator[None]:
    """Count one connection less, which is to be closed inside."""
    with _lock:
        guard = _guards.get(path)
        if guard is not None:
            guard.users -= 1
            if guard.users == 0:
                guard.set(lock=False)
        try:
            yield
        finally:
            if guard is not None and guard.users == 0:
                del _guards[path]
                guard.close()
