"""A fair queue of processes in front of a file: a lock that the kernel gives out in order, and takes back from a process that dies."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


class Gate:
    """Lets one process through at a time, first come, first served. The side file stays empty.

    SQLite alone lets writers try again at random: with 32 processes some wait for seconds. Where there is no `flock`, on Windows, that is what remains.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None

    if sys.platform == "win32":

        @contextmanager
        def passed(self) -> Iterator[None]:
            """Within this, all is as it would be without a gate."""
            yield

    else:

        @contextmanager
        def passed(self) -> Iterator[None]:
            """Within this, no other process is."""
            import fcntl

            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Leave the queue. In a child this does not let others in: the lock goes with the last copy of the file that is closed."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
