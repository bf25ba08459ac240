"""A fair queue of processes in front of a file: a lock that the kernel gives out in order, and
takes back from a process that dies.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue

if sys.platform != "win32":
    import fcntl

PRIVATE = 0o600


class FileLock:
    """Lets one process through at a time, first come, first served.

    SQLite alone lets writers try again at random: with 32 processes some wait for seconds. Where
    there is no `flock`, on Windows, that is what remains.
    """

    def __init__(self, path: str, like: str | None = None) -> None:
        # who may come here is who may use the file that this is the gate of
        self._path, self._like = path, like
        self._file: int | None = None
        self._porter: Porter | None = None

    @property
    def file(self) -> int:
        """The side file. The gate itself needs nothing of it but the lock."""
        if self._file is None:
            mode = PRIVATE
            if self._like is not None:
                with suppress(FileNotFoundError):
                    mode = os.stat(self._like).st_mode & 0o666
            self._file = os.open(
                self._path,
                os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0),
                mode,
            )
            found = os.fstat(self._file)
            if (
                sys.platform != "win32"
                and found.st_uid == os.geteuid()
                and found.st_mode & 0o666 != mode
            ):
                os.fchmod(self._file, mode)
        return self._file

    @property
    def is_open(self) -> bool:
        """Whether we have come near it."""
        return self._file is not None

    def enter(self) -> bool:
        """Go in, where nobody is inside."""
        if sys.platform != "win32":
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True

    def wait(self, patience: float) -> None:
        """Go in when it is our turn. Raises `TimeoutError` where another stands still inside for
        longer than our patience, in seconds.
        """
        porter = self._porter = self._porter or Porter()
        inside = False
        try:
            inside = porter.lock(self.file, patience)
        finally:
            if not inside:
                # the porter still stands there, and closes the file when he gets in
                self._file = self._porter = None
        if not inside:
            raise TimeoutError(
                f"could not lock {self._path}: another process has held it for {patience:g} seconds"
            )

    def leave(self) -> None:
        """Let the next one in."""
        if sys.platform != "win32" and self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Go away."""
        self.leave()
        self.forget()

    def forget(self) -> None:
        """Go away and leave the lock alone: in a child process, where it is the parent's."""
        if self._porter is not None:
            self._porter.dismiss()
            self._porter = None
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Porter:
    """A thread that waits for a lock in the place of another, which can give up: the kernel's own
    wait has no end.
    """

    def __init__(self) -> None:
        self._files: SimpleQueue[int | None] = SimpleQueue()
        self._decided = threading.Lock()
        self._inside, self._given_up = threading.Event(), False
        threading.Thread(target=self._work, daemon=True).start()

    def lock(self, file: int, patience: float) -> bool:
        """Whether the lock was got in time. Interrupted, or too late, the porter gives it back when
        he gets it, and is of no more use.
        """
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
                give_back(file)
                self._files.put(None)

    def dismiss(self) -> None:
        """Let the thread end."""
        self._files.put(None)

    def _work(self) -> None:
        while (file := self._files.get()) is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
            with self._decided:
                if self._given_up:
                    give_back(file)
                    return
                self._inside.set()


def give_back(file: int) -> None:
    """Unlock and close: a child process that was forked meanwhile has the file open, too, and with
    it the lock.
    """
    fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)
