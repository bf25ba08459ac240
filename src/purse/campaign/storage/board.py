"""A notice board at the gate: who has to wait says there what he wants, and who is inside may do it for him, in one transaction with his own.

Nothing depends on it. A notice that is damaged, overwritten or not answered is as good as none: who left it does the work when it is his turn, and
what is asked or told twice counts once. It lies in the gate's file, which nobody needs to keep.
Who waits is called by a bell, a socket with a name that goes when he does; when no call comes, he looks again by himself.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from contextlib import suppress

from purse.campaign.storage.gate import Gate
from purse.campaign.storage.places import ANSWER, EMPTY, NOTICE, PLACES, ROOM, SHELF, SILENT, Notice, mark, now, put, read

SHORTEST, LONGEST = 0.01, 0.05  # seconds until one looks again by oneself


class Board:
    """The board, as one storage sees it. A place belongs to who took it, until he has been silent for longer than anybody waits."""

    def __init__(self, patience: float) -> None:
        self._patience = round(1000 * patience)  # ms that anybody waits
        self._bell: socket.socket | None = None
        self.renew()

    def renew(self) -> None:
        """Be somebody else: in a child process, or in front of another file."""
        if self._bell is not None:
            self._bell.close()
        self._bell, self._me, self._number, self._place = None, os.urandom(16), 0, -1

    def leave(self, file: int) -> None:
        """Give one's place to others."""
        with suppress(OSError):
            if self._keeps_place(file):
                put(file, EMPTY, Notice(self._place, self._me, self._number, 0, b""))
        self.renew()

    def crowded(self, file: int) -> bool:
        """Whether others have said what they want, and so come first."""
        with suppress(OSError):
            return NOTICE in os.pread(file, PLACES, 0)
        return False

    def take_place(self, file: int) -> None:
        """Inside: take a place that nobody has, or whose owner is gone; none where all are taken."""
        with suppress(OSError):
            gone = now() - 2 * self._patience
            for place in range(PLACES) if self._place < 0 else ():
                there = read(file, place)
                if there is None or there.at < gone:
                    self._bell = self._bell or bell(self._me)
                    put(file, EMPTY, Notice(place, self._me, self._number, now(), b""))
                    self._place = place
                    return

    def post(self, file: int, text: bytes | None) -> bool:
        """Before one waits: leave a notice. Not done where it is too long, or as long as one has no place."""
        with suppress(OSError):
            if text is not None and len(text) <= ROOM and self._keeps_place(file):
                self._number += 1
                put(file, NOTICE, Notice(self._place, self._me, self._number, now(), text))
                return True
        return False

    def _keeps_place(self, file: int) -> bool:
        """Whether one has a place, and nobody else has taken it in a long silence."""
        if self._place >= 0 and ((there := read(file, self._place)) is None or there.who != self._me):
            self._place = -1
        return self._place >= 0

    def wait(self, gate: Gate, patience: float) -> bytes | None:
        """What became of our notice; None where nothing did and we are inside. Raises `TimeoutError`, as the gate does."""
        pause, end = SHORTEST, time.monotonic() + patience
        try:
            while True:
                self._listen(pause)
                if (answer := self._answer(gate.file)) is not None:
                    return answer
                if gate.enter():
                    if (answer := self._answer(gate.file)) is not None:  # he who was inside has just said so
                        gate.leave()
                        return answer
                    return None
                if time.monotonic() > end:
                    raise TimeoutError(f"another process has stood in the gate for {patience:g} seconds")
                pause = min(2 * pause, LONGEST)
        finally:
            with suppress(OSError):
                mark(gate.file, EMPTY, self._place)

    def _listen(self, pause: float) -> None:
        assert self._bell is not None
        self._bell.settimeout(pause)
        with suppress(OSError):
            self._bell.recv(1)

    def _answer(self, file: int) -> bytes | None:
        with suppress(OSError):
            if os.pread(file, 1, self._place)[0] == ANSWER:
                there = read(file, self._place)
                if there is not None and (there.who, there.number) == (self._me, self._number):
                    return there.text
        return None

    def notices(self, file: int) -> list[Notice]:
        """Inside: what others want who wait. Who has said so longer ago than anybody waits has given up."""
        found = []
        with suppress(OSError):
            oldest = now() - self._patience
            for place, what in enumerate(os.pread(file, PLACES, 0)):
                notice = read(file, place) if what in (NOTICE, SILENT) else None
                if notice is not None and notice.at > oldest:
                    found.append(notice)
        return found

    def answer(self, file: int, answers: Sequence[Notice]) -> None:
        """Inside: say what became of notices."""
        for answer in answers:
            with suppress(OSError):
                put(file, ANSWER, answer)

    def keep(self, file: int, text: bytes) -> None:
        """Inside: keep something for who comes next."""
        if len(text) <= ROOM:
            with suppress(OSError):
                put(file, EMPTY, Notice(SHELF, self._me, self._number, now(), text))

    def kept(self, file: int) -> bytes | None:
        """Inside: what was kept last."""
        with suppress(OSError):
            there = read(file, SHELF)
            return None if there is None else there.text
        return None

    def call(self, file: int, answered: Sequence[Notice]) -> None:
        """Outside again: call those who have an answer, and one who waits still: the next after our own place, round and round."""
        with suppress(OSError):
            for each in answered:
                self._ring(each.who)
            waiting = [place for place, what in enumerate(os.pread(file, PLACES, 0)) if what == NOTICE]
            for place in sorted(waiting, key=lambda place: (place - self._place - 1) % PLACES):
                there = read(file, place)
                if there is not None and self._ring(there.who):
                    return
                mark(file, SILENT, place)

    def _ring(self, who: bytes) -> bool:
        """Call somebody; False where he is no more."""
        self._bell = self._bell or bell(self._me)
        try:
            self._bell.sendto(b"!", socket.MSG_DONTWAIT, address_of(who))
        except BlockingIOError:
            return True  # he has been called often enough
        except ConnectionRefusedError:
            return False
        return True


def bell(who: bytes) -> socket.socket:
    """What somebody can be called by."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind(address_of(who))
    return made


def address_of(who: bytes) -> str:
    """Where he listens: a name without a file, which the kernel takes back."""
    return f"\0purse-{who.hex()}"
