"""The places on a notice board: in a file, written and read with plain calls, for there a full disk
is an error and not a signal.
"""

from __future__ import annotations

import os
import time
from struct import Struct
from typing import NamedTuple
from zlib import crc32

PLACES = 128  # processes that can leave a notice
SHELF = PLACES  # a place more, for what one leaves to the next
PAGE = 4096  # bytes; the first one says what each place holds
SIZE = 4 * PAGE  # bytes of a place: `ROOM`, and what is in front of it
# who, number, when and length of the text; a checksum of these and the text
FORM, SUM = Struct("<16sqqI"), Struct("<I")
FRONT = FORM.size + SUM.size
# the last: a notice of one who cannot be called, as he is dead or in another container
EMPTY, NOTICE, ANSWER, SILENT = b"\0nas"


class Notice(NamedTuple):
    """What somebody left on the board."""

    place: int
    who: bytes
    number: int  # of an answer: that of its notice, with a minus
    at: int  # ms since 1970
    text: bytes


def now() -> int:
    """The time, for all processes."""
    return time.time_ns() // 1_000_000


def put(file: int, what: int, notice: Notice) -> None:
    """Write a text, and then that it is there. Who reads meanwhile finds that the checksum is
    wrong.
    """
    head = FORM.pack(notice.who, notice.number, notice.at, len(notice.text))
    os.pwrite(
        file,
        b"".join((head, SUM.pack(crc32(notice.text, crc32(head))), notice.text)),
        PAGE + notice.place * SIZE,
    )
    mark(file, what, notice.place)


def mark(file: int, what: int, place: int) -> None:
    """Say what a place holds."""
    os.pwrite(file, bytes((what,)), place)


def read(file: int, place: int) -> Notice | None:
    """What a place holds, where that is whole."""
    block = os.pread(file, SIZE, PAGE + place * SIZE)
    if len(block) < FRONT:
        return None
    who, number, at, length = FORM.unpack_from(block)
    text = block[FRONT : FRONT + length]
    if len(text) != length or SUM.unpack_from(block, FORM.size)[0] != crc32(
        text, crc32(block[: FORM.size])
    ):
        return None
    return Notice(place, who, number, at, text)
