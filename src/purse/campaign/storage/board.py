"""A notice board at the gate: who has to wait says there what he wants, and who is inside may do it
for him, in one transaction with his own.

Nothing depends on it. A notice that is damaged, overwritten or not answered is as good as none: who
left it does the work when it is his turn, and what is asked or told twice counts once. It lies in
the gate's file, which nobody needs to keep. Who waits is called by a bell, a socket with a name
that goes when he does; when no call comes, he looks by himself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress

from purse.campaign.storage.base import ROOM
from purse.campaign.storage.file_lock import FileLock
from purse.campaign.storage.places import (
    ANSWER,
    EMPTY,
    NOTICE,
    PLACES,
    SHELF,
    SILENT,
    Notice,
    mark,
    now,
    put,
    read,
)

# seconds after which one looks by oneself; then one queues at the gate like those who cannot be
# called
PAUSES = (0.01, 0.02, 0.04)
# ms after which one who was called, and does not come, keeps nobody waiting any more
ABSENT = 1_000


class Board:
    """The board, as one process sees it. A place belongs to who took it, until he has been silent
    for longer than anybody waits.
    """

    def __init__(self, patience: float) -> None:
        self._patience = round(1000 * patience)  # ms that anybody waits
        self._bell: socket.socket | None = None
        self.renew()

    def renew(self) -> None:
        """Be somebody else: in a child process, or when one comes again."""
        if self._bell is not None:
            self._bell.close()
        self._bell, self._me, self._number, self._place, self._full = None, os.urandom(16), 0, -1, 0

    def leave(self, file: int) -> None:
        """Give one's place to others."""
        with suppress(OSError):
            if self._keeps_place(file):
                put(file, EMPTY, Notice(self._place, self._me, self._number, 0, b""))

    def crowded(self, file: int) -> bool:
        """Whether others have said what they want, and so come first."""
        return bool(waiting(file, besides=self._place))

    def take_place(self, file: int) -> None:
        """Inside: take a place that nobody has, or whose owner is gone; none where all are taken,
        which is not looked for again at once.
        """
        gone = now() - 2 * self._patience
        with suppress(OSError):
            for place in range(PLACES) if self._place < 0 and self._full < now() - ABSENT else ():
                there = read(file, place)
                if there is None or there.at < gone:
                    self._bell = self._bell or bell(self._me)
                    put(file, EMPTY, Notice(place, self._me, self._number, now(), b""))
                    self._place = place
                    return
            self._full = now()

    def post(self, file: int, text: bytes | None) -> bool:
        """Before one waits: leave a notice. Not done where it is too long, or as long as one has no
        place.
        """
        with suppress(OSError):
            if text is not None and len(text) <= ROOM and self._keeps_place(file):
                self._number += 1
                put(file, NOTICE, Notice(self._place, self._me, self._number, now(), text))
                return True
        return False

    def take_down(self, file: int) -> None:
        """Take one's notice, or the answer, down."""
        if self._place >= 0:
            with suppress(OSError):
                mark(file, EMPTY, self._place)

    def _keeps_place(self, file: int) -> bool:
        """Whether one has a place, and nobody else has taken it in a long silence."""
        if self._place >= 0 and (
            (there := read(file, self._place)) is None or there.who != self._me
        ):
            self._place = -1
        return self._place >= 0

    def wait(self, gate: FileLock, patience: float) -> bytes | None:
        """What became of our notice; None where nothing did and we are inside. Raises
        `TimeoutError`, as the gate does.
        """
        # those before us may have gone in the meantime, and then nobody would call us
        if self.crowded(gate.file) or not gate.enter():
            for pause in PAUSES:
                self._listen(pause)
                if (answer := self._answer(gate.file)) is not None:
                    return answer
                if gate.enter():
                    break
            else:
                gate.wait(patience)
        answer = self._answer(gate.file)  # who was inside may just have said so
        if answer is not None:
            gate.leave()
            self.call(gate.file, ())
        return answer

    def _listen(self, pause: float) -> None:
        assert self._bell is not None
        self._bell.settimeout(pause)
        with suppress(OSError):
            self._bell.recv(1)

    def _answer(self, file: int) -> bytes | None:
        with suppress(OSError):
            if os.pread(file, 1, self._place)[0] == ANSWER:
                there = read(file, self._place)
                if there is not None and (there.who, there.number) == (self._me, -self._number):
                    return there.text
        return None

    def notices(self, file: int) -> list[Notice]:
        """Inside: what others want who wait. Who has said so longer ago than anybody waits has
        given up.
        """
        found, oldest = [], now() - self._patience
        with suppress(OSError):
            for place, what in enumerate(os.pread(file, PLACES, 0)):
                if what in (NOTICE, SILENT):
                    notice = read(file, place)
                    if notice is not None and notice.at > oldest:
                        found.append(notice)
                    else:
                        mark(file, EMPTY, place)
        return found

    def answer(self, file: int, answers: Sequence[Notice]) -> None:
        """Inside: say what became of notices."""
        for answer in answers:
            with suppress(OSError):
                put(file, ANSWER, answer._replace(number=-answer.number))

    def keep(self, file: int, text: bytes) -> None:
        """Inside: keep something for who comes next."""
        with suppress(OSError):
            put(file, EMPTY, Notice(SHELF, self._me, self._number, now(), text))

    def kept(self, file: int) -> bytes | None:
        """Inside: what was kept last."""
        with suppress(OSError):
            there = read(file, SHELF)
            return None if there is None else there.text
        return None

    def call(self, file: int, answered: Sequence[Notice]) -> None:
        """Outside again: call those who have an answer, and one who waits still: the next after our
        own place, round and round.
        """
        with suppress(OSError):
            for each in answered:
                self._ring(each.who)
            for place in sorted(
                waiting(file), key=lambda place: (place - self._place - 1) % PLACES
            ):
                there = read(file, place)
                if there is not None and self._ring(there.who) and there.at > now() - ABSENT:
                    return
                mark(file, SILENT, place)

    def _ring(self, who: bytes) -> bool:
        """Call somebody; False where he does not hear it."""
        self._bell = self._bell or bell(self._me)
        try:
            self._bell.sendto(b"!", socket.MSG_DONTWAIT, address_of(who))
        except (BlockingIOError, ConnectionRefusedError):
            return False
        return True


def waiting(file: int, besides: int = -1) -> list[int]:
    """The places of those who wait, and can be called."""
    with suppress(OSError):
        held = os.pread(file, PLACES, 0)
        return (
            [place for place, what in enumerate(held) if what == NOTICE and place != besides]
            if NOTICE in held
            else []
        )
    return []


def bell(who: bytes) -> socket.socket:
    """What somebody can be called by."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.bind(address_of(who))
    return made


def address_of(who: bytes) -> str:
    """Where he listens: a name without a file, which the kernel takes back."""
    return f"\0purse-{who.hex()}"
