"""The queue of processes in front of a storage: the gate, and the board on which those who wait say what they want."""

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

from purse.campaign.storage import Turn
from purse.campaign.storage.board import Board
from purse.campaign.storage.gate import Gate
from purse.campaign.storage.places import ROOM


class Queue:
    """Lets processes, and their threads, in one at a time; who is inside does what those want who wait, too."""

    def __init__(self, path: str, patience: float) -> None:
        self._gate, self._board, self._patience = Gate(path), Board(patience), patience
        self._lock, self._inside = threading.RLock(), False

    @contextmanager
    def passed(self) -> Iterator[None]:
        """Within this, no other process is. Raises `TimeoutError` where another stands still inside for longer than our patience."""
        with self._lock:
            if self._inside:
                yield
                return
            try:
                if not self._gate.enter():
                    self._gate.wait(self._patience)
                yield
            finally:
                self._gate.leave()

    @contextmanager
    def turn(self, notice: Callable[[], bytes | None]) -> Iterator[Turn]:
        """The same, or what another did for us meanwhile. Where there are no bells to call with, nobody does anything for another."""
        if sys.platform != "linux":
            yield Turn()
            return
        gate, board, answers = self._gate, self._board, []
        with self._lock:
            try:
                reply = self._come_in(notice)
                if reply is not None:
                    yield Turn(reply)
                    return
                self._inside = True
                notices = board.notices(gate.file)
                turn = Turn(None, [each.text for each in notices], found=board.kept(gate.file) if notices else None, room=ROOM)
                yield turn
                if turn.left is not None:
                    board.keep(gate.file, turn.left)
                answers = [each._replace(text=text) for each, text in zip(notices, turn.answers, strict=False) if text is not None]
                board.answer(gate.file, answers)
            finally:
                gate.leave()
                if self._inside:
                    self._inside = False
                    board.call(gate.file, answers)

    def _come_in(self, notice: Callable[[], bytes | None]) -> bytes | None:
        """Be inside, or have the reply of one who was."""
        gate, board = self._gate, self._board
        if board.crowded(gate.file) or not gate.enter():
            if board.post(gate.file, notice()):
                return board.wait(gate, self._patience)
            gate.wait(self._patience)
            board.take_place(gate.file)
        return None

    def close(self) -> None:
        """Leave the queue."""
        if self._gate.is_open:
            self._board.leave(self._gate.file)
        self._gate.close()


def meeting_place(about: str, patience: float) -> Queue | None:
    """A queue of this user's processes on this machine that are about the same thing; None where there cannot be one."""
    if sys.platform != "linux":
        return None
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir(), f"purse-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        return None  # somebody else could read along, and answer
    return Queue(str(folder / sha256(about.encode()).hexdigest()), patience)
