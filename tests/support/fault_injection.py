"""A process that kills itself at a labelled point, patched into the library from outside: lock,
statements, disk, decision and answer.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from purse.campaign.commit import Committer
from purse.campaign.storage.file_lock import FileLock

ANYWHERE = ("before the decision", "after the decision", "before the answer")
STATEMENTS = (
    "BEGIN",
    "INSERT INTO purse_journal",
    "UPDATE purse_balances",
    "DELETE FROM purse_open_tickets",
    "INSERT INTO purse_open_tickets",
    "INSERT INTO purse_checkpoints",
    "UPDATE purse_levels",
    "COMMIT",
)
ON_DISK = ("write", "half a write", "sync", "after a sync")
AT_THE_LOCK = ("before the lock", "with the lock", "before the release", "after the release")
LABELS = {
    "sqlite": (
        *ANYWHERE,
        *AT_THE_LOCK,
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
    point.wrap(Committer, "_decide", always("before the decision"), always("after the decision"))
    point.wrap(Committer, "do", always(""), always("before the answer"))
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
    """Through the lock, every statement that writes, and the disk."""
    from purse.campaign.storage.sqlite import Sqlite
    from tests.support.crash_vfs import Disk, DiskFile

    opened = Sqlite._opened
    point.wrap(FileLock, "acquire", always("before the lock"), always("with the lock"))
    point.wrap(FileLock, "release", always("before the release"), always("after the release"))

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
