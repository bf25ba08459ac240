"""Campaigns in one SQLite file: the statements. Every commit is on disk before it is acknowledged;
readers never wait for writers, nor writers for readers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import apsw

from purse.base.files import sync_folder
from purse.base.json import compact
from purse.campaign.checkpoint import Checkpoint, checkpoint
from purse.campaign.journal import Entry
from purse.campaign.labels import LabelRow
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.states import CAMPAIGN, OPEN, LevelKind
from purse.campaign.storage import schema
from purse.campaign.storage.base import (
    MOST_DUE,
    UNUSED,
    Join,
    LabelTable,
    LockedAccount,
    LockedState,
    Overview,
    ReadSet,
    Reports,
    WriteSet,
    among,
    entries_of,
    missing,
    reports_since,
    ticket_record,
)
from purse.campaign.storage.file_identity import refuse_dangerous
from purse.campaign.storage.sqlite_accounts import (
    SqliteAccounts,
    accounts_above,
    accounts_up,
    parent_of,
    write_accounts,
)
from purse.campaign.storage.sqlite_rows import (
    ENTRY,
    LEVEL,
    add_entries,
    add_name,
    add_purses,
    move_purses,
    names_of,
    put_head,
)
from purse.campaign.storage.sqlite_tables import check_library, check_tables
from purse.errors import (
    NoSuchStorage,
    StorageUnavailable,
    invalid,
)

HEAD = f"{LEVEL} WHERE c.name = ? AND c.kind = 'campaign' ORDER BY p.resource"
TICKET = "SELECT id, state, at, deadline, body FROM purse_tickets WHERE campaign = ?"
OPEN_TICKET = TICKET.replace("WHERE", "INDEXED BY purse_open WHERE")
UNUSED_TICKET = TICKET.replace("WHERE", "INDEXED BY purse_unused WHERE")
DUE = f"{OPEN_TICKET} AND {among(('held',))} AND deadline <= ? ORDER BY deadline LIMIT {MOST_DUE}"
DUE_REWARDS = (
    f"{TICKET.replace('WHERE', 'INDEXED BY purse_due_rewards WHERE')} AND state = 'settled' "
    f"AND deadline IS NOT NULL AND deadline <= ? ORDER BY deadline LIMIT {MOST_DUE}"
)
TOLD = (
    "SELECT seq, body FROM purse_journal WHERE campaign = ? AND seq > ? AND kind = 'told' "
    "ORDER BY seq"
)
# an entry, with its digest for its body, and the reports after it
SINCE = (
    "SELECT seq, CASE seq WHEN ?2 THEN lower(hex(digest)) ELSE body END FROM purse_journal "
    "WHERE campaign = ?1 AND seq >= ?2 AND (+kind = 'told' OR +seq = ?2) ORDER BY seq"
)
DIGEST = "SELECT lower(hex(digest)) FROM purse_journal WHERE campaign = ? AND seq = ?"
PUT_TICKET = """INSERT INTO purse_tickets VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (campaign, id) DO UPDATE
SET state = excluded.state, deadline = excluded.deadline, body = excluded.body"""
LABEL = """SELECT key, value, resource, tickets, spent, held, presumed, overrun
FROM purse_labels WHERE campaign = ?"""
ADD_LABEL = """INSERT INTO purse_labels VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (campaign, key, value, resource) DO UPDATE
SET tickets = tickets + excluded.tickets, spent = spent + excluded.spent,
  held = held + excluded.held, presumed = presumed + excluded.presumed,
  overrun = overrun + excluded.overrun"""
PUT_CHECKPOINT = "INSERT OR REPLACE INTO purse_checkpoints VALUES (?, ?, ?, ?, ?, ?)"


class Sqlite(SqliteAccounts):
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
        check_library(apsw.sqlite_lib_version())
        self.now: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        path = Path(parts.path[1:]).absolute()
        super().__init__(str(path), options.get("vfs", [None])[0])
        if not path.parent.is_dir():
            raise StorageUnavailable(f"there is no folder {path.parent}")
        refuse_dangerous(self.path)
        if not create and (not path.exists() or self._version() == 0):
            raise NoSuchStorage(
                f"there is no file {self.path} with campaigns; name another with storage=..., on "
                "the command line with --storage or PURSE_STORAGE"
            )
        if not path.exists() or self._version() != schema.VERSION:
            with self._locked():
                pass  # makes the tables, or refuses those of another version
            self._lock.close()  # opened again, it is for those for whom the file is
            sync_folder(path.parent)

    def create(
        self, name: str, changes: Iterable[WriteSet], account: str = "", join: Join | None = None
    ) -> None:
        """A new campaign."""
        with self._locked() as db:
            above = accounts_above(db, account)
            campaign = add_name(db, CAMPAIGN, name, parent_of(above))
            before: list[Balance] = []
            for change in changes:
                if not before:
                    before = add_purses(db, campaign, len(change.balances))
                write(db, campaign, before, change)
                before = list(change.balances)
            if join is not None:
                write_accounts(db, above, join([each.state for each in above]))

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock, read, decide, write and commit."""
        with self._locked() as db:
            campaign, seq, head, purses, parent = read_head(db, name)
            above = () if parent is None else accounts_up(db, parent)
            accounts = [each.state for each in above]
            change = decide(found(db, campaign, seq, head, purses, wants, accounts))
            if change is not None:
                write(db, campaign, purses, change)
                write_accounts(db, above, change.accounts)

    def names(self) -> list[str]:
        """The names of all campaigns."""
        with self._view() as db:
            return names_of(db, CAMPAIGN)

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""
        with self._view() as db:
            campaign, seq, head, purses, _ = read_head(db, name)
            query = (
                "SELECT sum(deadline <= ?), min(at) FROM purse_tickets INDEXED BY purse_open "
                f"WHERE campaign = ? AND {among(('held',))}"
            )
            overdue, oldest = cast(Any, db.execute(query, (self.now(), campaign)).fetchone())
            return Overview(seq, head, purses, overdue or 0, oldest, self.danger())

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow."""
        with self._view() as db:
            rows = db.execute(
                f"{ENTRY} AND seq > ? ORDER BY seq LIMIT ?", (read_head(db, name)[0], after, limit)
            )
            return entries_of(rows)

    def told(self, name: str, after: int, limit: int) -> Reports:
        """The reports that follow."""
        with self._view() as db:
            campaign, *_ = read_head(db, name)
            before = digest_at(db, campaign, after)
            rows: Any = db.execute(f"{TOLD} LIMIT ?", (campaign, after, limit)).fetchall()
            seq = rows[-1][0] if rows else after
            return Reports(before, rows, seq, digest_at(db, campaign, seq))

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        with self._view() as db:
            query = (
                OPEN_TICKET
                if set(states) <= set(OPEN)
                else UNUSED_TICKET
                if set(states) <= set(UNUSED)
                else TICKET
            )
            rows = db.execute(
                f"{query} AND {among(states)} AND id > ? ORDER BY id LIMIT ?",
                (read_head(db, name)[0], after, limit),
            )
            return [ticket_record(row) for row in rows]

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """The last checkpoint of a kind."""
        with self._view() as db:
            row = db.execute(
                "SELECT kind, seq, digest, checksum, body FROM purse_checkpoints "
                "WHERE campaign = ? AND kind = ?",
                (level_key(db, name), kind),
            ).fetchone()
            return Checkpoint(*cast(Any, row)) if row else None

    def keep(self, name: str, kind: str, seq: int, digest: str, body: bytes) -> None:
        """Store a checkpoint."""
        with self._locked() as db:
            db.execute(PUT_CHECKPOINT, (level_key(db, name), *checkpoint(kind, seq, digest, body)))

    def journals(self) -> list[tuple[LevelKind, str, int]]:
        """Kind, name and last entry of each journal."""
        with self._view() as db:
            check_tables(db)
            return cast(Any, db.execute("SELECT kind, name, seq FROM purse_campaigns").fetchall())

    def labels(self, name: str) -> LabelTable:
        """The sums of all labels."""
        with self._view() as db:
            campaign, seq, *_ = read_head(db, name)
            rows: Any = db.execute(LABEL, (campaign,))
            return LabelTable(seq, sorted(LabelRow(*row) for row in rows))


def read_head(
    db: apsw.Connection, name: str
) -> tuple[int, int, CampaignRecord, list[Balance], int | None]:
    """A campaign's key, length, head, purses, and the key of the account above it."""
    check_tables(db)
    rows: list[Any] = db.execute(HEAD, (name,)).fetchall()
    if not rows:
        raise missing(CAMPAIGN, name)
    return (
        rows[0][0],
        rows[0][1],
        CampaignRecord.from_json(rows[0][2]),
        [Balance(*row[5:]) for row in rows],
        rows[0][3],
    )


def level_key(db: apsw.Connection, name: str) -> int:
    """The key of a campaign or an account."""
    check_tables(db)
    key = db.execute("SELECT id FROM purse_campaigns WHERE name = ?", (name,)).get
    if key is None:
        raise missing(CAMPAIGN, name)
    return cast(int, key)


def found(
    db: apsw.Connection,
    campaign: int,
    seq: int,
    head: CampaignRecord,
    purses: list[Balance],
    wants: ReadSet,
    accounts: Sequence[LockedAccount],
) -> LockedState:
    """What is wanted, and the accounts above."""
    known = {
        request: entry
        for request in wants.requests
        for entry in entries_of(db.execute(f"{ENTRY} AND request = ?", (campaign, request)))
    }
    due = [
        ticket_record(row)
        for query in (DUE, DUE_REWARDS)[: 1 + wants.due_rewards]
        for row in (db.execute(query, (campaign, wants.due)) if wants.due is not None else ())
    ]
    tickets = {record.id: record for record in due}
    issued = (each["id"] for entry in known.values() for each in entry.body.get("tickets", ()))
    for number in (*wants.tickets, *issued):
        for row in db.execute(f"{TICKET} AND id = ?", (campaign, number)):
            tickets[number] = ticket_record(row)
    told: Sequence[tuple[int, str]] = ()
    digest = None
    if (after := wants.told_after) is not None:
        rows: Any = db.execute(SINCE, (campaign, after)).fetchall()
        told, digest = reports_since(rows, after)
    return LockedState(seq, head, purses, tickets, known, told, due, digest, accounts)


def digest_at(db: apsw.Connection, campaign: int, seq: int) -> str | None:
    """The digest of the journal up to an entry; None where there is no such entry."""
    return cast(str | None, db.execute(DIGEST, (campaign, seq)).get) if seq else ""


def write(db: apsw.Connection, campaign: int, before: list[Balance], change: WriteSet) -> None:
    """What was decided. Purses move by what changed: whatever the caller believed, the file's own
    counters decide.
    """
    add_entries(db, campaign, change.entries, change.digests)
    if change.tickets:
        slots = [(campaign, *record[:4], compact(record.body)) for record in change.tickets]
        db.executemany(PUT_TICKET, slots)
    move_purses(db, campaign, before, change.balances)
    for each in change.checkpoints:
        db.execute(PUT_CHECKPOINT, (campaign, *each))
    if change.labels:
        db.executemany(ADD_LABEL, [(campaign, *row) for row in change.labels])
    put_head(db, campaign, change.seq, change.head)
