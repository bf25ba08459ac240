"""A fuse that kills its own process at a labelled point, laid through the library from outside:
gate, statements, disk, decision and answer.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from purse.campaign.group_commit import GroupCommitter
from purse.campaign.storage import board
from purse.campaign.storage.board import Board
from purse.campaign.storage.file_lock import FileLock
from purse.campaign.storage.queue import Queue

ANYWHERE = ("before the decision", "after the decision", "before the answer")
STATEMENTS = (
    "BEGIN",
    "INSERT INTO purse_journal",
    "INTO purse_tickets",
    "UPDATE purse_purses",
    "UPDATE purse_campaigns",
    "COMMIT",
)
ON_DISK = ("write", "half a write", "sync", "after a sync")
IN_THE_GATE = ("before the gate", "in the gate", "before the gate opens", "after the gate")
ON_THE_BOARD = (
    "before it is on the board",
    "after it is on the board",
    "before the answers",
    "after the answers",
)
LABELS = {
    "sqlite": (
        *ANYWHERE,
        *IN_THE_GATE,
        *ON_THE_BOARD,
        *ON_DISK,
        *(f"before {statement}" for statement in STATEMENTS),
    ),
    "postgresql": (
        *ANYWHERE,
        *(f"{when} {statement}" for statement in STATEMENTS for when in ("before", "after")),
    ),
}


class Fuse:
    """Kills its own process when a point has been reached so many times."""

    def __init__(self, label: str, n: int) -> None:
        self.label, self.n = label, n
        self.disk: Any = None  # where there is one: it lives as long as the fuse

    def __call__(self, label: str) -> None:
        self.n -= label == self.label
        if self.n == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def wrap(
        self, owner: Any, name: str, before: Callable[..., str], after: Callable[..., str]
    ) -> None:
        """Reach points before and after a method."""
        method = getattr(owner, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            self(before(*arguments))
            answer = method(*arguments, **named)
            self(after(*arguments))
            return answer

        setattr(owner, name, wrapped)


def always(label: str) -> Callable[..., str]:
    """The same point whatever the arguments."""
    return lambda *_: label


def statement_of(when: str, query: object) -> str:
    """The point that a statement of SQL is."""
    return next((f"{when} {statement}" for statement in STATEMENTS if statement in str(query)), "")


def lay(fuse: Fuse, address: str) -> str:
    """Lay a fuse through this process; the address to be used with it."""
    fuse.wrap(
        GroupCommitter, "_decide", always("before the decision"), always("after the decision")
    )
    fuse.wrap(GroupCommitter, "do", always(""), always("before the answer"))
    return (
        lay_sqlite(fuse, address) if address.startswith("sqlite") else lay_postgres(fuse, address)
    )


def lay_postgres(fuse: Fuse, address: str) -> str:
    """Through every statement."""
    import psycopg

    fuse.wrap(
        psycopg.Connection,
        "execute",
        lambda _, query, *__: statement_of("before", query),
        lambda _, query, *__: statement_of("after", query),
    )
    return address


def lay_sqlite(fuse: Fuse, address: str) -> str:
    """Through the gate, every statement that writes, and the disk."""
    from power_vfs import Disk, DiskFile

    from purse.campaign.storage.sqlite import Sqlite

    opened = Sqlite._opened
    fuse.wrap(Queue, "_come_in", always("before the gate"), always("in the gate"))
    fuse.wrap(FileLock, "leave", always("before the gate opens"), always("after the gate"))
    fuse.wrap(Board, "answer", always("before the answers"), always("after the answers"))
    fuse.wrap(board, "put", always("before it is on the board"), always("after it is on the board"))

    def traced(storage: Sqlite) -> Any:
        db = opened(storage)
        db.exec_trace = lambda _cursor, query, _bindings: (
            fuse(statement_of("before", query)) is None
        )
        return db

    write = DiskFile.xWrite

    def halved(file: DiskFile, data: bytes, offset: int) -> None:
        fuse("write")
        half = len(data) // 2
        write(file, data[:half], offset)
        fuse("half a write")
        write(file, data[half:], offset + half)

    Sqlite._opened = traced  # type: ignore[method-assign]
    if fuse.label not in ON_DISK:
        return address
    DiskFile.xWrite = halved  # type: ignore[method-assign]
    fuse.wrap(DiskFile, "xSync", always("sync"), always("after a sync"))
    fuse.disk = Disk()
    return f"{address}?vfs={fuse.disk.name}"
