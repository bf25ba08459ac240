"""A process that kills itself at a labelled point, patched into the library from outside: lock,
statements, disk, decision and answer.
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


class KillPoint:
    """Kills its own process when a point has been reached so many times."""

    def __init__(self, label: str, n: int) -> None:
        self.label, self.n = label, n
        self.disk: Any = None  # where there is one: it lives as long as this does

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


def install(point: KillPoint, address: str) -> str:
    """Patch this process; the address to be used with it."""
    point.wrap(
        GroupCommitter, "_decide", always("before the decision"), always("after the decision")
    )
    point.wrap(GroupCommitter, "do", always(""), always("before the answer"))
    return (
        install_sqlite(point, address)
        if address.startswith("sqlite")
        else install_postgres(point, address)
    )


def install_postgres(point: KillPoint, address: str) -> str:
    """Through every statement."""
    import psycopg

    point.wrap(
        psycopg.Connection,
        "execute",
        lambda _, query, *__: statement_of("before", query),
        lambda _, query, *__: statement_of("after", query),
    )
    return address


def install_sqlite(point: KillPoint, address: str) -> str:
    """Through the gate, every statement that writes, and the disk."""
    from purse.campaign.storage.sqlite import Sqlite
    from tests.support.crash_vfs import Disk, DiskFile

    opened = Sqlite._opened
    point.wrap(Queue, "_come_in", always("before the gate"), always("in the gate"))
    point.wrap(FileLock, "leave", always("before the gate opens"), always("after the gate"))
    point.wrap(Board, "answer", always("before the answers"), always("after the answers"))
    point.wrap(
        board, "put", always("before it is on the board"), always("after it is on the board")
    )

    def traced(storage: Sqlite) -> Any:
        db = opened(storage)
        db.exec_trace = lambda _cursor, query, _bindings: (
            point(statement_of("before", query)) is None
        )
        return db

    write = DiskFile.xWrite

    def halved(file: DiskFile, data: bytes, offset: int) -> None:
        point("write")
        half = len(data) // 2
        write(file, data[:half], offset)
        point("half a write")
        write(file, data[half:], offset + half)

    setattr(Sqlite, "_opened", traced)  # noqa: B010
    if point.label not in ON_DISK:
        return address
    setattr(DiskFile, "xWrite", halved)  # noqa: B010
    point.wrap(DiskFile, "xSync", always("sync"), always("after a sync"))
    point.disk = Disk()
    return f"{address}?vfs={point.disk.name}"
