"""A fair queue of processes in front of a file: a lock that the kernel gives out in order, and takes back from a process that dies."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue


class Gate:
    """Lets one process through at a time, first come, first served. The side file stays empty.

    SQLite alone lets writers try again at random: with 32 processes some wait for seconds. Where there is no `flock`, on Windows, that is what remains.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None
        self._porter: Porter | None = None

    @contextmanager
    def passed(self, patience: float) -> Iterator[None]:
        """Within this, no other process is. Raises `TimeoutError` where another stands still inside for longer than our patience, in seconds."""
        if sys.platform == "win32":
            yield
        else:
            import fcntl

            file = self._file = self._file if self._file is not None else os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    self._wait(file, patience)
                yield
            finally:
                if self._file is not None:
                    fcntl.flock(file, fcntl.LOCK_UN)

    def _wait(self, file: int, patience: float) -> None:
        porter = self._porter = self._porter or Porter()
        inside = False
        try:
            inside = porter.lock(file, patience)
        finally:
            if not inside:
                self._file = self._porter = None  # the porter still stands there, and closes the file when he gets in
        if not inside:
            raise TimeoutError(f"another process has stood in {self._path} for {patience:g} seconds")

    def close(self) -> None:
        """Leave the queue."""
        if self._porter is not None:
            self._porter.dismiss()
            self._porter = None
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Porter:
    """A thread that waits for a lock in the place of another, which can give up: the kernel's own wait has no end."""

    def __init__(self) -> None:
        self._files: SimpleQueue[int | None] = SimpleQueue()
        self._decided = threading.Lock()
        self._inside, self._given_up = threading.Event(), False
        threading.Thread(target=self._work, daemon=True).start()

    def lock(self, file: int, patience: float) -> bool:
        """Whether the lock was got in time. Interrupted, or too late, the porter gives it back when he gets it, and is of no more use."""
        self._inside.clear()
        self._files.put(file)
        got = False
        try:
            got = self._inside.wait(patience)
        finally:
            if not got:
                self.give_up(file)
        return got

    def give_up(self, file: int) -> None:
        """Have the lock given back, now or when it is got."""
        with self._decided:
            self._given_up = True
            if self._inside.is_set():
                os.close(file)
                self._files.put(None)

    def dismiss(self) -> None:
        """Let the thread end."""
        self._files.put(None)

    def _work(self) -> None:
        import fcntl

        while (file := self._files.get()) is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
            with self._decided:
                if self._given_up:
                    os.close(file)
                    return
                self._inside.set()
