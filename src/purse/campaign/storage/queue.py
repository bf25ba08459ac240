"""The queue of processes in front of a storage: the gate, and the board on which those who wait say
what they want.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from purse.campaign.storage.base import Turn
from purse.campaign.storage.board import Board
from purse.campaign.storage.file_lock import FileLock
from purse.campaign.storage.places import Notice


class Queue:
    """Lets processes, and their threads, in one at a time; who is inside does what those want who
    wait, too.
    """

    def __init__(self, path: str, patience: float, like: str | None = None) -> None:
        self._gate, self._board, self._patience = FileLock(path, like), Board(patience), patience
        self._lock, self._inside = threading.RLock(), False

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Within this, no other process is. Raises `TimeoutError` where another stands still inside
        for longer than our patience.
        """
        with self._lock:
            if self._inside:
                yield
                return
            try:
                if not self._gate.enter():
                    self._gate.wait(self._patience)
                self._inside = True
                yield
            finally:
                self._leave([])

    @contextmanager
    def turn(self, notice: Callable[[], bytes | None]) -> Iterator[Turn]:
        """The same, or what another did for us meanwhile. Where there are no bells to call with,
        nobody does anything for another.
        """
        if sys.platform != "linux":
            yield Turn()
            return
        gate, board = self._gate, self._board
        answers: list[Notice] = []
        with self._lock:
            try:
                reply = self._come_in(notice)
                if reply is not None:
                    yield Turn(reply)
                    return
                self._inside = True
                notices = board.notices(gate.file)
                turn = Turn(
                    None,
                    [each.text for each in notices],
                    found=board.kept(gate.file) if notices else None,
                )
                yield turn
                if turn.left is not None:
                    board.keep(gate.file, turn.left)
                answers = [
                    each._replace(text=text)
                    for each, text in zip(notices, turn.answers, strict=False)
                    if text is not None
                ]
                board.answer(gate.file, answers)
            finally:
                self._leave(answers)

    def _come_in(self, notice: Callable[[], bytes | None]) -> bytes | None:
        """Be inside, or have the reply of one who was."""
        gate, board = self._gate, self._board
        if board.crowded(gate.file) or not gate.enter():
            try:
                if board.post(gate.file, notice()):
                    return board.wait(gate, self._patience)
            finally:
                board.take_down(gate.file)
            gate.wait(self._patience)
            board.take_place(gate.file)
        return None

    def _leave(self, answered: list[Notice]) -> None:
        """Be outside, wherever we were; who was inside calls others."""
        self._gate.leave()
        if self._inside:
            self._inside = False
            if sys.platform == "linux":
                self._board.call(self._gate.file, answered)

    def close(self) -> None:
        """Leave the queue."""
        with self._lock:
            if self._gate.is_open and sys.platform == "linux":
                self._board.leave(self._gate.file)
            self._board.renew()
            self._gate.close()

    def renew(self) -> None:
        """Be somebody else, in a child process: what was open belongs to the parent, and a thread
        of it may have been inside.
        """
        self._lock, self._inside = threading.RLock(), False
        self._board.renew()
        self._gate.forget()


def meeting_place(about: str, patience: float) -> Queue | None:
    """A queue of this user's processes on this machine that are about the same thing; None where
    there cannot be one.
    """
    if sys.platform != "linux":
        return None
    folder = Path(
        os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir(), f"purse-{os.getuid()}"
    )
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        return None  # somebody else could read along, and answer
    return Queue(str(folder / sha256(about.encode()).hexdigest()), patience)
