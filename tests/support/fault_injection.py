"""Faults from outside: a disk that loses power, as a file system of SQLite, and processes that die
at labelled points.
"""

import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from purse.campaign.run.committer import Committer
from purse.campaign.storage.file_lock import FileLock

SECTOR = 512  # bytes that a disk writes whole
Watch = Callable[[str, str], None]  # operation, file: may raise
numbers = count()
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


def nothing(_operation: str, _file: str) -> None:
    """All is well."""


class Track:
    """One file: what is surely on the disk, and what has been written since."""

    def __init__(self, content: bytes | None) -> None:
        self.synced = bytearray(content or b"")
        self.named = content is not None  # whether the folder was synced since it was made
        self.deleted = False  # and the folder not synced since
        # offset and data; None cuts the file off there
        self.pending: list[tuple[int, bytes | None]] = []

    def sync(self) -> None:
        """All of it is on the disk."""
        apply(self.synced, self.pending)
        self.pending.clear()

    def after_cut(self, rng: random.Random | None) -> bytes | None:
        """What is found when the power is back: only what was synced; or, where the disk wrote some
        of the rest in its own order, that too, torn anywhere.
        """
        there = (
            self.named if rng is None else (self.named and not self.deleted) or rng.random() < 0.5
        )
        if rng is not None:
            apply(self.synced, [part for write in self.pending for part in torn(*write, rng)])
        return bytes(self.synced) if there else None


def apply(image: bytearray, writes: list[tuple[int, bytes | None]]) -> None:
    for offset, data in writes:
        if len(image) < offset:
            image.extend(bytes(offset - len(image)))
        image[offset : offset + len(data) if data is not None else len(image)] = data or b""


def torn(offset: int, data: bytes | None, rng: random.Random) -> list[tuple[int, bytes | None]]:
    """What arrives of one write: all, nothing, or some of its sectors."""
    fate = rng.random()
    if fate < 0.4 or data is None:
        return [(offset, data)] if fate < 0.4 else []
    if fate < 0.7:
        return []
    return [
        (offset + start, data[start : start + SECTOR])
        for start in range(0, len(data), SECTOR)
        if rng.random() < 0.5
    ]


class Disk(apsw.VFS):
    """Files go where they would go anyway, so that the living see all that was written; `cut` shows
    what the next life finds.
    """

    def __init__(self) -> None:
        self.name = f"disk-{next(numbers)}"
        self.watch: Watch = nothing
        self.read_only = False
        self.files: dict[str, Track] = {}
        super().__init__(self.name, "")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is not None and (path not in self.files or self.files[path].deleted):
            self.files[path] = Track(Path(path).read_bytes() if Path(path).exists() else None)
        if self.read_only:
            flags[0] = (
                flags[0] & ~(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
                | apsw.SQLITE_OPEN_READONLY
            )
        return DiskFile(self, name, path, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:  # noqa: N802
        self.watch("delete", name)
        super().xDelete(name, syncdir)
        if name in self.files:
            self.files[name].deleted = True
        if syncdir:
            self.sync_folder()

    def sync_folder(self) -> None:
        """Which files there are is on the disk, too."""
        self.files = {path: track for path, track in self.files.items() if not track.deleted}
        for track in self.files.values():
            track.named = True

    def cut(self, folder: Path, rng: random.Random | None) -> None:
        """The disk as it is found after a power cut at this moment, in another folder. What is
        shared memory is gone.
        """
        folder.mkdir()
        for path, track in self.files.items():
            content = track.after_cut(rng)
            if content is not None and not path.endswith("-shm"):
                (folder / Path(path).name).write_bytes(content)


class DiskFile(apsw.VFSFile):
    """A file whose writes and syncs are followed."""

    def __init__(self, disk: Disk, name: Any, path: str | None, flags: list[int]) -> None:
        self.disk, self.path = disk, path or "temporary"
        # with its first sync, as SQLite does
        self.syncs_folder = self.path.endswith(("-journal", "-wal"))
        super().__init__("", name, flags)

    @property
    def track(self) -> Track:
        return self.disk.files.setdefault(self.path, Track(None))

    def xLock(self, level: int) -> None:  # noqa: N802
        try:
            super().xLock(level)
        # the last to close wants to tidy up, and may only read: SQLite itself passes over it
        except apsw.IOError:
            raise apsw.BusyError from None

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self.disk.watch("read", self.path)
        return super().xRead(amount, offset)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self.disk.watch("write", self.path)
        super().xWrite(data, offset)
        self.track.pending.append((offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self.disk.watch("truncate", self.path)
        super().xTruncate(newsize)
        self.track.pending.append((newsize, None))

    def xSync(self, _flags: int) -> None:  # noqa: N802
        self.disk.watch("sync", self.path)  # the disk below it needs no sync: it has power
        self.track.sync()
        if self.syncs_folder:
            self.disk.sync_folder()
            self.syncs_folder = False


@contextmanager
def mounted() -> Iterator[Disk]:
    disk = Disk()
    try:
        yield disk
    finally:
        disk.watch = nothing
        disk.unregister()


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
