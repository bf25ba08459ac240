"""Locks by which every other SQLite library sees that a file is in use, even one in this process.

SQLite's own locks belong to the process. A second library in the same process, such as Python's
`sqlite3`, does not see them, and takes itself for the only user: when it opens the file it empties
the shared memory, and when it closes the file it removes the write-ahead log. Locks of an open file
description, which Linux has, belong to the one who opened the file, so everybody sees them. They
stand on the bytes that SQLite asks about, and let everybody read.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

if sys.platform == "linux":  # elsewhere only `file_identity` helps
    from fcntl import F_OFD_SETLK, F_RDLCK, F_UNLCK, fcntl

# the bytes of SQLite's file format that mean "in use": first byte and number
IN_USE = (0x40000002, 510)  # of the file
SHARED_IN_USE = (128, 1)  # of FILE-shm

_lock = threading.RLock()
_guards: dict[str, Guard] = {}


class Guard:
    """The locks on a file and its shared memory, for all connections of this process."""

    def __init__(self, path: str) -> None:
        self.users = 0
        self._files: list[tuple[int, tuple[int, int]]] = []
        for name, place in ((path, IN_USE), (f"{path}-shm", SHARED_IN_USE)):
            with suppress(OSError):  # without it, things are as SQLite leaves them
                self._files.append((os.open(name, os.O_RDONLY | os.O_CLOEXEC), place))
        self._set(lock=True)

    def unlock(self) -> None:
        """Let SQLite itself find out whether it is the last user."""
        self._set(lock=False)

    def close(self) -> None:
        """Close the files. To close a file drops SQLite's own locks on it in this process, so no
        connection to it may be open.
        """
        for file, _ in self._files:
            os.close(file)

    def _set(self, *, lock: bool) -> None:
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
            guard = _guards.get(path) or _guards.setdefault(path, Guard(path))
            guard.users += 1


@contextmanager
def released(path: str) -> Iterator[None]:
    """Count one connection less, which is to be closed inside."""
    with _lock:
        guard = _guards.get(path)
        if guard is not None:
            guard.users -= 1
            if guard.users == 0:
                guard.unlock()
        try:
            yield
        finally:
            if guard is not None and guard.users == 0:
                del _guards[path]
                guard.close()
