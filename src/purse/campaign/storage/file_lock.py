"""A lock that processes get in the order in which they came.

SQLite lets writers try again at random: with 32 processes some wait for seconds. So they queue up
at a side file first. Each draws a number and locks the byte of that number; its turn has come when
no lower byte is locked. The kernel frees the bytes of a process that dies. Nothing but the order
depends on this lock, because SQLite's own lock still guards the file. Where there are no locks of
an open file description (elsewhere than on Linux), SQLite's lock is all there is.
"""

from __future__ import annotations

import os
import struct
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from purse.campaign.storage.lock_file import open_lock_file

if sys.platform == "linux":
    from fcntl import (
        F_OFD_GETLK,
        F_OFD_SETLK,
        F_OFD_SETLKW,
        F_RDLCK,
        F_UNLCK,
        F_WRLCK,
        fcntl,
    )

LOCK = struct.Struct("hhqqi4x")  # kind, whence, first byte, number of bytes, process
COUNTER = struct.Struct("<q")  # the next number, at the beginning of the file
DRAWING = 0  # the byte that is locked while a number is drawn
FIRST = 1 << 32  # the byte of number 0


class FileLock:
    """A fair lock among processes; one thread of a process may use it at a time.

    path   the side file, which is made where it is missing
    like   the file whose owner and rights it gets
    """

    def __init__(self, path: str, like: str) -> None:
        self._path, self._like = path, like
        self._file: int | None = None
        self._waiter: Waiter | None = None

    def acquire(self, timeout: float) -> None:
        """Wait until it is our turn. Raise `TimeoutError` after `timeout` seconds."""
        if sys.platform != "linux":
            return
        if self._file is None:
            self._file = open_lock_file(self._path, self._like)
        number = draw(self._file, F_OFD_SETLK)
        if number is not None and is_first(self._file, number):
            return
        waiter = self._waiter = self._waiter or Waiter()
        acquired = False
        try:
            acquired = waiter.acquire(self._file, number, timeout)
        finally:
            if not acquired:  # the waiter still waits with the file, and closes it
                self._file = self._waiter = None
        if not acquired:
            raise TimeoutError(
                f"could not lock {self._path}: another process has held it for {timeout:g} seconds"
            )

    def release(self) -> None:
        """Let the next one have it."""
        if self._file is not None:
            unlock(self._file)

    def close(self) -> None:
        """Release the lock and close the file."""
        self.release()
        self.renew()

    def renew(self) -> None:
        """Close the file and leave the lock alone: in a child process, where it is the parent's."""
        if self._waiter is not None:
            self._waiter.stop()
            self._waiter = None
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Waiter:
    """A thread that waits for the lock in the place of another, which can give up: the kernel's own
    wait has no end.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[tuple[int, int | None] | None] = SimpleQueue()
        self._decided = threading.Lock()
        self._acquired, self._given_up = threading.Event(), False
        threading.Thread(target=self._run, daemon=True).start()

    def acquire(self, file: int, number: int | None, timeout: float) -> bool:
        """Whether the lock was got in time. Interrupted, or too late, the thread closes the file
        when the kernel lets it go, and is of no more use.
        """
        self._acquired.clear()
        self._work.put((file, number))
        acquired = False
        try:
            acquired = self._acquired.wait(timeout)
        finally:
            if not acquired:
                self._give_up(file)
        return acquired

    def _give_up(self, file: int) -> None:
        with self._decided:
            self._given_up = True
            unlock(file)
            if self._acquired.is_set():
                os.close(file)
                self.stop()

    def stop(self) -> None:
        """Let the thread end."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            file, number = work
            if number is None:
                number = draw(file, F_OFD_SETLKW)
            # only the one before us wakes us; the others before him have gone, or give up too
            set_lock(file, F_OFD_SETLKW, F_RDLCK, FIRST + max(0, number - 1), 1)
            set_lock(file, F_OFD_SETLKW, F_RDLCK, FIRST, number)
            with self._decided:
                if self._given_up:
                    # a child that was forked meanwhile has the file, and with it the lock, too
                    unlock(file)
                    os.close(file)
                    return
                self._acquired.set()


def draw(file: int, command: int) -> Any:
    """Draw a number and lock its byte; None where another draws and `command` does not wait."""
    if not set_lock(file, command, F_WRLCK, DRAWING, 1):
        return None
    drawn = os.pread(file, COUNTER.size, 0)
    number = max(0, COUNTER.unpack(drawn)[0]) if len(drawn) == COUNTER.size else 0
    while not set_lock(file, F_OFD_SETLK, F_WRLCK, FIRST + number, 1):
        # the counter is wrong, as somebody cut the file: begin behind those who are there
        asked = LOCK.pack(F_WRLCK, os.SEEK_SET, FIRST + number, 1, 0)
        kind, _, start, length, _ = LOCK.unpack(fcntl(file, F_OFD_GETLK, asked))
        number = start + length - FIRST if kind != F_UNLCK else number
    with suppress(OSError):  # a full disk: the next one finds the byte locked, and goes on from it
        os.pwrite(file, COUNTER.pack(number + 1), 0)
    set_lock(file, F_OFD_SETLK, F_UNLCK, DRAWING, 1)
    return number


def is_first(file: int, number: int) -> bool:
    """Whether nobody with a lower number is there; then nobody can come before us either."""
    return number == 0 or set_lock(file, F_OFD_SETLK, F_RDLCK, FIRST, number)


def set_lock(file: int, command: int, kind: int, start: int, length: int) -> bool:
    """Lock bytes; False where another has locked them and `command` does not wait."""
    try:
        fcntl(file, command, LOCK.pack(kind, os.SEEK_SET, start, length, 0))
    except BlockingIOError:
        return False
    return True


def unlock(file: int) -> None:
    """Free all bytes."""
    if sys.platform == "linux":
        set_lock(file, F_OFD_SETLK, F_UNLCK, 0, 0)
