"""Campaigns in one SQLite file. Every commit is on disk before it is acknowledged; readers never
wait for writers, nor writers for readers.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit
from weakref import WeakSet

import apsw
import orjson

from purse.base.json import compact
from purse.campaign.fork_safety import quiesce_before_fork
from purse.campaign.journal import Entry
from purse.campaign.learner import Snapshot
from purse.campaign.ledger import Balance, CampaignRecord, TicketRecord
from purse.campaign.states import OPEN
from purse.campaign.storage import schema
from purse.campaign.storage.base import (
    MOST_DUE,
    LockedState,
    Overview,
    ReadSet,
    Turn,
    WriteSet,
    among,
    entries_of,
    ticket_record,
)
from purse.campaign.storage.file_guard import hold, released
from purse.campaign.storage.file_identity import (
    FileIdentity,
    danger,
    identify,
    refuse_dangerous,
)
from purse.campaign.storage.queue import Queue
from purse.errors import CampaignExists, NoSuchCampaign, PurseError, StorageUnavailable, invalid

READER, WRITER = "reader", "writer"
RECONNECT_S = 5  # seconds to wait for threads that use files which were replaced
LOCK_TIMEOUT_S = 30_000  # ms to wait for a foreign program that has locked the file
# versions without the bug that corrupts a WAL
SOUND = (((3, 44, 6), (3, 45)), ((3, 50, 7), (3, 51)), ((3, 51, 3), (3, 52)), ((3, 53), (9,)))
HEAD = """SELECT c.id, c.seq, c.head, p.budget, p.spent, p.held, p.presumed, p.overrun
FROM purse_campaigns c JOIN purse_purses p ON p.campaign = c.id
WHERE c.name = ? ORDER BY p.resource"""
ENTRY = "SELECT seq, at, kind, request, ticket, body FROM purse_journal WHERE campaign = ?"
SLOT = "SELECT id, state, at, deadline, body FROM purse_tickets WHERE campaign = ?"
OPEN_SLOT = SLOT.replace("WHERE", "INDEXED BY purse_open WHERE")
DUE = f"{OPEN_SLOT} AND {among(('held',))} AND deadline <= ? ORDER BY deadline LIMIT {MOST_DUE}"
TOLD = (
    "SELECT seq, body FROM purse_journal WHERE campaign = ? AND seq > ? AND kind = 'told' "
    "ORDER BY seq"
)
PUT_TICKET = """INSERT INTO purse_tickets VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (campaign, id) DO UPDATE SET state = excluded.state, body = excluded.body"""


class Sqlite:
    """A storage for the processes of one machine."""

    def __init__(self, address: str, *, create: bool = True) -> None:
        allowed = "must be sqlite:///FILE, or sqlite:////ABSOLUTE/FILE"
        try:
            parts = urlsplit(address)
        except ValueError:
            raise invalid("storage", address, allowed) from None
        options = parse_qs(parts.query)
        if parts.netloc or len(parts.path) < 2 or parts.fragment or set(options) - {"vfs"}:
            raise invalid("storage", address, allowed)
        check_version(apsw.sqlite_lib_version())
        self.now: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        self.epoch = -1  # the first connection is no new one
        self.path = str(Path(parts.path[1:]).absolute())
        self._real = os.path.realpath(self.path)  # several names may lead to one file
        self._vfs = options.get("vfs", [None])[0]
        self._queue = Queue(f"{self.path}-gate", LOCK_TIMEOUT_S / 1000, like=self.path)
        self._begin()
        quiesce_before_fork(self)
        _open.add(self)
        if not Path(self.path).parent.is_dir():
            raise StorageUnavailable(f"there is no folder {Path(self.path).parent}")
        refuse_dangerous(self.path)
        if not create and (not Path(self.path).exists() or self._version() == 0):
            raise StorageUnavailable(f"there is no file {self.path} with campaigns")
        if not Path(self.path).exists() or self._version() != len(schema.SQLITE):
            with self._locked():
                pass  # makes the tables, or refuses a file that is newer
            self._queue.close()  # opened again, its gate is for those for whom the file is
            sync_folder(Path(self.path).parent)

    def _version(self) -> int:
        """Of the tables; -1 where a half transaction has to be undone first, which a reader
        cannot.
        """
        try:
            with self._view() as db:
                return cast(int, db.execute("PRAGMA user_version").get)
        except StorageUnavailable:
            return -1

    def _begin(self) -> None:
        self._writer: apsw.Connection | None = None
        self._reader: apsw.Connection | None = None
        self._files: dict[str, FileIdentity] = {}  # of each open connection
        self._write_lock, self._read_lock = threading.RLock(), threading.Lock()

    def settle(self) -> None:
        """Before a fork: close the file. SQLite keeps its locks in the memory of the process, and a
        child would take the parent's for its own.
        """
        self._write_lock.acquire()
        self._read_lock.acquire()
        with suppress(apsw.Error):  # whatever it is, a fork must not be kept from happening
            self._close_connections()

    def go_on(self) -> None:
        """After a fork, in the parent."""
        self._read_lock.release()
        self._write_lock.release()

    def renew(self) -> None:
        """Begin anew in a child process."""
        self._begin()
        self._queue.renew()

    @contextmanager
    def turn(self, _: str, notice: Callable[[], bytes | None]) -> Iterator[Turn]:
        """One transaction, one sync and one policy for all who wait."""
        with self._write_lock, self._translate_errors(), self._queue.turn(notice) as turn:
            yield turn

    @contextmanager
    def _locked(self) -> Iterator[apsw.Connection]:
        """A transaction that nobody else writes beside; committed at the end, undone where anything
        is raised.
        """
        with self._write_lock, self._translate_errors(), self._queue.passed():
            self._follow_files()
            db = self._writer = self._writer or self._opened()
            try:
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
            except BaseException as error:
                if isinstance(error, apsw.Error) and not isinstance(error, apsw.ConstraintError):
                    self._drop_writer()  # whatever it remembers of the file may be wrong now
                elif db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            if self._files[WRITER] != identify(self.path):
                self._drop_writer()
                raise StorageUnavailable(
                    f"{self.path}: the file or its write-ahead log was replaced while this was "
                    "written, so it may be lost; do it again with the same request_id"
                )

    def _follow_files(self) -> None:
        """Let go of the file where one of its connections has other files open than the path
        names: what is written to those, nobody finds again.

        All connections of this process have to go, because SQLite shares memory among them.
        Raise `StorageUnavailable` where another thread does not leave the file.
        """
        found = identify(self.path)
        sharing = [each for each in list(_open) if each._real == self._real]
        if all(known == found for each in sharing for known in list(each._files.values())):
            return
        for each in sharing:
            with ExitStack() as held:
                for lock in (each._write_lock, each._read_lock):
                    if not lock.acquire(timeout=RECONNECT_S):
                        raise StorageUnavailable(
                            f"{self.path}: its files were replaced, and another thread still uses "
                            "the old ones; try again"
                        )
                    held.callback(lock.release)
                each._drop_writer()
                each._drop_reader()

    def _drop_writer(self) -> None:
        self._close(WRITER, self._writer, tidy=False)
        self._writer = None

    def _drop_reader(self) -> None:
        self._close(READER, self._reader, tidy=False)
        self._reader = None

    def _note_files(self, role: str) -> None:
        """Remember the files of a connection that has used them, and say that they are in use.

        A file without a log yet has to be locked as a whole before it gets one.
        """
        self._files[role] = identify(self.path)
        if self._files[role].shared is not None:
            hold(self._real)

    def _close(self, role: str, db: apsw.Connection | None, *, tidy: bool) -> None:
        """Close a connection; without `tidy` leave its files alone, because an old log must not be
        moved into the file, nor a new one be removed.
        """
        if db is None:
            return
        if not tidy:
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        files = self._files.pop(role, None)
        held = files is not None and files.shared is not None
        with released(self._real) if held else nullcontext():
            db.close(True)

    @contextmanager
    def _view(self) -> Iterator[apsw.Connection]:
        """The file as it is at one moment, through a connection that cannot write."""
        with self._translate_errors():
            self._follow_files()
        with self._read_lock, self._translate_errors():
            db = self._reader
            if db is None:
                db = self._connected(apsw.SQLITE_OPEN_READONLY)
                db.execute("PRAGMA user_version").fetchone()  # the first use opens the log
                self._reader = db
                self._note_files(READER)
            try:
                db.execute("BEGIN")
                yield db
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except apsw.ConstraintError as error:
            raise PurseError(
                f"{self.path} rejected the write: it would violate a constraint ({error})"
            ) from error
        except (apsw.Error, OSError) as error:
            raise StorageUnavailable(f"{self.path}: {error}") from error

    def _connected(self, flags: int) -> apsw.Connection:
        db = apsw.Connection(self.path, flags=flags, vfs=self._vfs)
        db.set_busy_timeout(LOCK_TIMEOUT_S)
        # otherwise SQLite plans a statement anew whenever other values are bound to it
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        return db

    def _opened(self) -> apsw.Connection:
        """A connection that writes, to tables of the newest version."""
        db = self._connected(apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        self.epoch += 1
        if db.execute("PRAGMA journal_mode = WAL").fetchone() != ("wal",):
            raise StorageUnavailable(
                f"{self.path}: this file system does not support a write-ahead log"
            )
        db.execute("PRAGMA synchronous = FULL")  # with less, a power cut takes acknowledged commits
        db.execute("PRAGMA fullfsync = ON")  # on a Mac, too
        db.execute("PRAGMA foreign_keys = ON")
        version = cast(int, db.execute("PRAGMA user_version").get)
        with db:
            for number, script in schema.steps_from(version, schema.SQLITE, self.path):
                db.execute(script)
                db.execute(f"PRAGMA user_version = {number}")
        self._note_files(WRITER)
        return db

    def create(self, name: str, change: WriteSet) -> None:
        """A new campaign."""
        with self._locked() as db:
            if db.execute("SELECT 1 FROM purse_campaigns WHERE name = ?", (name,)).fetchone():
                raise CampaignExists(f"there is a campaign {name!r} already")
            campaign = cast(
                int,
                db.execute(
                    "INSERT INTO purse_campaigns (name, seq, head) VALUES (?, 0, '') RETURNING id",
                    (name,),
                ).get,
            )
            nothing = [Balance(0) for _ in change.balances]
            db.executemany(
                "INSERT INTO purse_purses VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(campaign, m, *purse) for m, purse in enumerate(nothing)],
            )
            write(db, campaign, nothing, change)

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock, read, decide, write and commit."""
        with self._locked() as db:
            campaign, seq, head, purses = read_head(db, name)
            change = decide(found(db, campaign, seq, head, purses, wants))
            if change is not None:
                write(db, campaign, purses, change)

    def names(self) -> list[str]:
        """The names of all campaigns."""
        with self._view() as db:
            return [
                name for (name,) in db.execute("SELECT name FROM purse_campaigns ORDER BY name")
            ]

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""
        with self._view() as db:
            campaign, seq, head, purses = read_head(db, name)
            query = (
                "SELECT sum(deadline <= ?), min(at) FROM purse_tickets INDEXED BY purse_open "
                f"WHERE campaign = ? AND {among(('held',))}"
            )
            overdue, oldest = cast(Any, db.execute(query, (self.now(), campaign)).fetchone())
            return Overview(seq, head, purses, overdue or 0, oldest, danger(self.path))

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow."""
        with self._view() as db:
            rows = db.execute(
                f"{ENTRY} AND seq > ? ORDER BY seq LIMIT ?", (read_head(db, name)[0], after, limit)
            )
            return entries_of(rows)

    def told(self, name: str, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """The reports that follow."""
        with self._view() as db:
            return cast(
                Any,
                db.execute(f"{TOLD} LIMIT ?", (read_head(db, name)[0], after, limit)).fetchall(),
            )

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        with self._view() as db:
            query = OPEN_SLOT if set(states) <= set(OPEN) else SLOT
            rows = db.execute(
                f"{query} AND {among(states)} AND id > ? ORDER BY id LIMIT ?",
                (read_head(db, name)[0], after, limit),
            )
            return [ticket_record(row) for row in rows]

    def snapshot(self, name: str) -> Snapshot | None:
        """The last snapshot of the policy."""
        with self._view() as db:
            row = db.execute(
                "SELECT seq, code, digest, body FROM purse_snapshots WHERE campaign = ?",
                (read_head(db, name)[0],),
            ).fetchone()
            return Snapshot(*cast(Any, row)) if row else None

    def close(self) -> None:
        """Let go of the file."""
        with self._write_lock, self._read_lock, self._translate_errors():
            self._close_connections()

    def _close_connections(self) -> None:
        found = identify(self.path)
        for role, db in ((READER, self._reader), (WRITER, self._writer)):
            # the last one tidies up, and has to write for that
            self._close(role, db, tidy=self._files.get(role) == found)
        self._writer = self._reader = None
        self._queue.close()

    def __del__(self) -> None:
        with suppress(Exception):  # it may never have begun
            self.close()


_open: WeakSet[Sqlite] = WeakSet()


@atexit.register
def close_all() -> None:
    """Whoever closes a file last moves its log into it: a copy of the file alone is whole then, and
    a backup in its place meets no old log.
    """
    for storage in list(_open):
        with suppress(Exception):  # whatever it is, a process must not be kept from ending
            storage.close()


def check_version(version: str) -> None:
    """Refuse a SQLite whose write-ahead log may corrupt a file that two connections write."""
    number = tuple(map(int, version.split(".")))
    if not any(low <= number < high for low, high in SOUND):
        raise StorageUnavailable(
            f"SQLite {version} may corrupt a file that several processes write: upgrade "
            "apsw to 3.51.3 or later"
        )


def sync_folder(folder: Path) -> None:
    """Have the name of a new file on disk, too."""
    if hasattr(os, "O_DIRECTORY"):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def read_head(db: apsw.Connection, name: str) -> tuple[int, int, CampaignRecord, list[Balance]]:
    """A campaign's key, length, head and purses."""
    rows: list[Any] = db.execute(HEAD, (name,)).fetchall()
    if not rows:
        raise NoSuchCampaign(f"there is no campaign {name!r}")
    return (
        rows[0][0],
        rows[0][1],
        CampaignRecord(**orjson.loads(rows[0][2])),
        [Balance(*row[3:]) for row in rows],
    )


def found(
    db: apsw.Connection,
    campaign: int,
    seq: int,
    head: CampaignRecord,
    purses: list[Balance],
    wants: ReadSet,
) -> LockedState:
    """What is wanted."""
    requests, tickets, due = {}, {}, []
    for request in wants.requests:
        for entry in entries_of(db.execute(f"{ENTRY} AND request = ?", (campaign, request))):
            requests[request] = entry
    if wants.due is not None:
        due = [ticket_record(row) for row in db.execute(DUE, (campaign, wants.due))]
        tickets.update({record.id: record for record in due})
    for number in (
        *wants.tickets,
        *(each["id"] for entry in requests.values() for each in entry.body.get("tickets", ())),
    ):
        for row in db.execute(f"{SLOT} AND id = ?", (campaign, number)):
            tickets[number] = ticket_record(row)
    told: Any = (
        db.execute(TOLD, (campaign, wants.told_after)).fetchall()
        if wants.told_after is not None
        else []
    )
    return LockedState(seq, head, purses, tickets, requests, told, due)


def write(db: apsw.Connection, campaign: int, before: list[Balance], change: WriteSet) -> None:
    """What was decided. Purses move by what changed: whatever the caller believed, the file's own
    counters decide.
    """
    rows = [(campaign, *entry[:5], compact(entry.body)) for entry in change.entries]
    db.executemany("INSERT INTO purse_journal VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    if change.tickets:
        slots = [(campaign, *record[:4], compact(record.body)) for record in change.tickets]
        db.executemany(PUT_TICKET, slots)
    for m, (old, new) in enumerate(zip(before, change.balances, strict=True)):
        if new != old:
            moves = [after - earlier for earlier, after in zip(old, new, strict=True)]
            update = (
                "UPDATE purse_purses SET budget = budget + ?, spent = spent + ?, held = held "
                "+ ?, presumed = presumed + ?, overrun = overrun + ?"
            )
            db.execute(f"{update} WHERE campaign = ? AND resource = ?", (*moves, campaign, m))
    if change.snapshot is not None:
        db.execute(
            "INSERT OR REPLACE INTO purse_snapshots VALUES (?, ?, ?, ?, ?)",
            (campaign, *change.snapshot),
        )
    db.execute(
        "UPDATE purse_campaigns SET seq = ?, head = ? WHERE id = ?",
        (change.seq, compact(vars(change.head)), campaign),
    )
