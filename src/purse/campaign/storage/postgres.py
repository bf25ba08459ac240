"""Campaigns in PostgreSQL, for several machines. A campaign's row is locked while it changes; only
the primary is asked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import orjson

from purse.base.json import compact
from purse.base.optional import needs
from purse.campaign.fork_safety import left_behind, reset_after_fork
from purse.campaign.journal import Entry
from purse.campaign.learner import Snapshot
from purse.campaign.ledger import Balance, CampaignRecord, TicketRecord
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
from purse.campaign.storage.queue import Queue, meeting_place
from purse.errors import (
    CampaignExists,
    InvalidInput,
    NoSuchCampaign,
    PurseError,
    StorageUnavailable,
)

if TYPE_CHECKING:
    import psycopg

LOCK_TIMEOUT_S = 30  # seconds to wait for a lock or an answer
MEETING = 2  # seconds to wait for others of this machine
ATTEMPTS = 2  # a connection that was lost is made anew once
IDLE = 0  # a connection without a transaction
MIGRATING = 5_784_213  # any number, the same in all processes
SESSION = (
    f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'; SET statement_timeout = '{LOCK_TIMEOUT_S}s'; SET "
    f"idle_in_transaction_session_timeout = '{LOCK_TIMEOUT_S}s';"
    # P2
    "SELECT set_config('synchronous_commit', 'on', false) WHERE "
    "current_setting('synchronous_commit') = 'off'"
)
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
HEAD = "SELECT seq, head FROM purse_campaigns WHERE id = %s AND name = %s"
LOCK = f"{HEAD} FOR UPDATE"
PURSES = (
    "SELECT budget, spent, held, presumed, overrun FROM purse_purses WHERE campaign = %s "
    "ORDER BY resource"
)
ENTRY = "SELECT seq, at, kind, request, ticket, body FROM purse_journal WHERE campaign = %s"
SLOT = "SELECT id, state, at, deadline, body FROM purse_tickets WHERE campaign = %s"
DUE = f"{SLOT} AND state = 'held' AND deadline <= %s ORDER BY deadline LIMIT {MOST_DUE}"
# said in such a way that the index of reports, which is not in their order, is left alone
TOLD = (
    "SELECT seq, body FROM purse_journal WHERE campaign = %s AND seq > %s AND kind || '' = "
    "'told' ORDER BY seq"
)
ADD_ENTRIES = """INSERT INTO purse_journal
SELECT %s, (e ->> 0)::bigint, (e ->> 1)::bigint, e ->> 2, e ->> 3, (e ->> 4)::bigint, e ->> 5
FROM json_array_elements(%s::json) e"""
PUT_TICKETS = """INSERT INTO purse_tickets
SELECT %s, (e ->> 0)::bigint, e ->> 1, (e ->> 2)::bigint, (e ->> 3)::bigint, e ->> 4
FROM json_array_elements(%s::json) e
ON CONFLICT (campaign, id) DO UPDATE SET state = excluded.state, body = excluded.body"""
MOVE = """UPDATE purse_purses
SET budget = budget + %s, spent = spent + %s, held = held + %s,
  presumed = presumed + %s, overrun = overrun + %s
WHERE campaign = %s AND resource = %s"""
PUT_SNAPSHOT = """INSERT INTO purse_snapshots VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (campaign) DO UPDATE
SET seq = excluded.seq, code = excluded.code, digest = excluded.digest, body = excluded.body"""


class Postgres:
    """A storage for the processes of several machines."""

    def __init__(self, address: str) -> None:
        with needs("a campaign in PostgreSQL", "postgres"):
            import psycopg

            from purse.campaign.storage.postgres_timeout import TimeoutConnection
        self._psycopg, self._patient = psycopg, TimeoutConnection
        self.now: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        self.address = address
        try:
            self._where()
        except psycopg.ProgrammingError:  # whose text may hold the password
            raise InvalidInput(
                "storage: this is not an address of PostgreSQL; it looks like "
                "postgresql://USER@HOST/DATABASE, and special characters in it are written as %XX"
            ) from None
        self.epoch = -1  # the first connection is no new one
        self._keys: dict[str, int] = {}  # of campaigns, as far as they are known
        self._queues: dict[str, Queue | None] = {}
        self._begin()
        reset_after_fork(self)
        with self._translate_errors(), self._connected() as db:
            migrate(db, self._where())

    def _begin(self) -> None:
        self._writer: psycopg.Connection[Any] | None = None
        self._reader: psycopg.Connection[Any] | None = None
        self._write_lock, self._read_lock = threading.Lock(), threading.Lock()

    def renew(self) -> None:
        """Begin anew in a child process."""
        for queue in self._queues.values():
            if queue is not None:
                queue.renew()
        left_behind.extend((self._writer, self._reader))
        self._begin()

    def _where(self) -> str:
        parts = self._psycopg.conninfo.conninfo_to_dict(self.address)
        # without the password
        return f"PostgreSQL {parts.get('dbname', '')!r} at {parts.get('host', 'localhost')}"

    def _connected(self) -> psycopg.Connection[Any]:
        """A connection to the primary, that waits for nothing longer than it should."""
        db = self._patient.connect(
            self.address,
            autocommit=True,
            target_session_attrs="read-write",
            connect_timeout=LOCK_TIMEOUT_S,
        )
        db.execute(SESSION)
        return db

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.errors.IntegrityError as error:
            raise PurseError(
                f"{self._where()} rejected the write: it would violate a constraint ({error})"
            ) from error
        except self._psycopg.Error as error:
            raise StorageUnavailable(f"{self._where()}: {' '.join(str(error).split())}") from error

    def create(self, name: str, change: WriteSet) -> None:
        """A new campaign."""
        self._keys.pop(name, None)
        with self._write_lock, self._translate_errors(), self._connected() as db, db.transaction():
            try:
                row = db.execute(
                    "INSERT INTO purse_campaigns (name, seq, head) VALUES (%s, 0, '') RETURNING id",
                    (name,),
                ).fetchone()
            except self._psycopg.errors.UniqueViolation:
                raise CampaignExists(f"there is a campaign {name!r} already") from None
            nothing = [Balance(0) for _ in change.balances]
            for m, purse in enumerate(nothing):
                db.execute(
                    "INSERT INTO purse_purses VALUES (%s, %s, %s, %s, %s, %s, %s)",
                    (row[0] if row else 0, m, *purse),
                )
            write(db, row[0] if row else 0, nothing, change)

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock, read, decide, write and commit; once more where the connection was lost, since
        repeats have no second effect.
        """
        with self._write_lock, self._translate_errors():
            for attempt in range(1, ATTEMPTS + 1):
                if self._writer is None:
                    self._writer, self.epoch = self._connected(), self.epoch + 1
                db = self._writer
                try:
                    return self._change(db, name, wants, decide)
                except BaseException as error:
                    lost = isinstance(error, self._psycopg.OperationalError) and db.broken
                    if db.broken or db.info.transaction_status != IDLE:
                        self._writer = None  # whatever state it is in
                        with suppress(self._psycopg.Error):
                            db.close()
                    if not lost or attempt == ATTEMPTS:
                        raise

    def _change(
        self,
        db: psycopg.Connection[Any],
        name: str,
        wants: ReadSet,
        decide: Callable[[LockedState], WriteSet | None],
    ) -> None:
        """In two trips: the reads behind the lock, then the writes with the commit."""
        campaign = self._key(db, name)
        with db.pipeline():
            # each statement behind the lock sees what was committed before it was got
            db.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            lock = db.execute(LOCK, (campaign, name))
            purses = db.execute(PURSES, (campaign,))
            requests = (
                db.execute(f"{ENTRY} AND request = ANY(%s)", (campaign, list(wants.requests)))
                if wants.requests
                else None
            )
            tickets = (
                db.execute(f"{SLOT} AND id = ANY(%s)", (campaign, list(wants.tickets)))
                if wants.tickets
                else None
            )
            due = db.execute(DUE, (campaign, wants.due)) if wants.due is not None else None
            told = (
                db.execute(TOLD, (campaign, wants.told_after))
                if wants.told_after is not None
                else None
            )
        row = lock.fetchone()
        if row is None:
            raise self._gone(name)
        late = [ticket_record(each) for each in due] if due else []
        answered = {entry.request or "": entry for entry in entries_of(requests or ())}
        slots = [*late, *map(ticket_record, tickets or ()), *self._issued(db, campaign, answered)]
        before = [Balance(*each) for each in purses]
        found = LockedState(
            row[0],
            CampaignRecord(**orjson.loads(row[1])),
            list(before),
            {record.id: record for record in slots},
            answered,
            told.fetchall() if told else [],
            late,
        )
        try:
            change = decide(found)
        except Exception:
            db.execute("ROLLBACK")
            raise
        if change is None:
            db.execute("ROLLBACK")
            return
        with db.pipeline():
            write(db, campaign, before, change)
            db.execute("COMMIT")

    def _issued(
        self, db: psycopg.Connection[Any], campaign: int, answered: dict[str, Entry]
    ) -> list[TicketRecord]:
        """The tickets of requests that were answered before: a third trip, which only repeats
        make.
        """
        numbers = [
            each["id"] for entry in answered.values() for each in entry.body.get("tickets", ())
        ]
        return (
            [
                ticket_record(row)
                for row in db.execute(f"{SLOT} AND id = ANY(%s)", (campaign, numbers))
            ]
            if numbers
            else []
        )

    def _key(self, db: psycopg.Connection[Any], name: str) -> int:
        if name not in self._keys:
            row = db.execute("SELECT id FROM purse_campaigns WHERE name = %s", (name,)).fetchone()
            if row is None:
                raise NoSuchCampaign(f"there is no campaign {name!r}")
            self._keys[name] = row[0]
        return self._keys[name]

    def _gone(self, name: str) -> NoSuchCampaign:
        """A campaign that was there."""
        self._keys.pop(name, None)
        return NoSuchCampaign(
            f"campaign {name!r} was deleted, or deleted and recreated; open it again"
        )

    @contextmanager
    def _view(self) -> Iterator[psycopg.Connection[Any]]:
        """The database as it is at one moment, read only."""
        with self._read_lock, self._translate_errors():
            db = self._reader = self._reader or self._connected()
            try:
                db.execute(SNAPSHOT)
            except self._psycopg.OperationalError:  # it was lost since it was last used
                db.close()
                db = self._reader = self._connected()
                db.execute(SNAPSHOT)
            try:
                yield db
            finally:
                if db.broken:
                    self._reader = None
                else:
                    db.execute("ROLLBACK")

    @contextmanager
    def turn(self, name: str, notice: Callable[[], bytes | None]) -> Iterator[Turn]:
        """Processes of all machines queue up at the campaign's row. Those of this machine do so
        here before, so that one of them can go for all.

        Who cannot do so, or waits for long, goes to the row as if there were nobody else here.
        """
        if name not in self._queues:
            self._queues.setdefault(name, meeting_place(f"{self.address} {name}", MEETING))
        queue = self._queues[name]
        with ExitStack() as stack:
            turn = Turn()
            if queue is not None:
                with suppress(OSError):
                    turn = stack.enter_context(queue.turn(notice))
            yield turn

    def names(self) -> list[str]:
        """The names of all campaigns."""
        with self._view() as db:
            return [
                name for (name,) in db.execute("SELECT name FROM purse_campaigns ORDER BY name")
            ]

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""
        with self._view() as db:
            campaign = self._key(db, name)
            row = db.execute(HEAD, (campaign, name)).fetchone()
            if row is None:
                raise self._gone(name)
            query = (
                "SELECT count(*) FILTER (WHERE deadline <= %s), min(at) FROM "
                "purse_tickets WHERE campaign = %s AND " + among(("held",))
            )
            ((overdue, oldest),) = db.execute(query, (self.now(), campaign)).fetchall()
            return Overview(
                row[0],
                CampaignRecord(**orjson.loads(row[1])),
                [Balance(*row) for row in db.execute(PURSES, (campaign,))],
                overdue,
                oldest,
            )

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow."""
        with self._view() as db:
            return entries_of(
                db.execute(
                    f"{ENTRY} AND seq > %s ORDER BY seq LIMIT %s",
                    (self._key(db, name), after, limit),
                )
            )

    def told(self, name: str, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """The reports that follow."""
        with self._view() as db:
            return db.execute(f"{TOLD} LIMIT %s", (self._key(db, name), after, limit)).fetchall()

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        with self._view() as db:
            query = f"{SLOT} AND {among(states)} AND id > %s ORDER BY id LIMIT %s"
            return [
                ticket_record(row) for row in db.execute(query, (self._key(db, name), after, limit))
            ]

    def snapshot(self, name: str) -> Snapshot | None:
        """The last snapshot of the policy."""
        with self._view() as db:
            row = db.execute(
                "SELECT seq, code, digest, body FROM purse_snapshots WHERE campaign = %s",
                (self._key(db, name),),
            ).fetchone()
            return Snapshot(*row) if row else None

    def close(self) -> None:
        """Let go of the connections."""
        with self._write_lock, self._read_lock:
            for db in (self._writer, self._reader):
                if db is not None:
                    db.close()
            self._writer = self._reader = None
            for queue in self._queues.values():
                if queue is not None:
                    queue.close()

    def __del__(self) -> None:
        with suppress(Exception):  # it may never have begun
            self.close()


def migrate(db: psycopg.Connection[Any], where: str) -> None:
    """Bring the tables to the newest version; processes that start together wait for the first.
    Where they are, no right to make tables is needed.
    """
    if version(db) == len(schema.POSTGRES):
        return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        for number, script in schema.steps_from(version(db), schema.POSTGRES, where):
            db.execute("CREATE TABLE IF NOT EXISTS purse_schema (version INTEGER NOT NULL)")
            db.execute(script.encode())
            db.execute("INSERT INTO purse_schema VALUES (%s)", (number,))


def version(db: psycopg.Connection[Any]) -> int:
    """Of the tables; 0 where there are none."""
    row = db.execute("SELECT to_regclass('purse_schema')").fetchone()
    if row is None or row[0] is None:
        return 0
    newest = db.execute("SELECT max(version) FROM purse_schema").fetchone()
    return newest[0] or 0 if newest else 0


def write(
    db: psycopg.Connection[Any], campaign: int, before: list[Balance], change: WriteSet
) -> None:
    """What was decided. Purses move by what changed: whatever the caller believed, the database's
    own counters decide.
    """
    rows = [(*entry[:5], compact(entry.body)) for entry in change.entries]
    db.execute(ADD_ENTRIES, (campaign, compact(rows)))
    if change.tickets:
        slots = [(*record[:4], compact(record.body)) for record in change.tickets]
        db.execute(PUT_TICKETS, (campaign, compact(slots)))
    for m, (old, new) in enumerate(zip(before, change.balances, strict=True)):
        if new != old:
            db.execute(
                MOVE,
                (*(after - earlier for earlier, after in zip(old, new, strict=True)), campaign, m),
            )
    if change.snapshot is not None:
        db.execute(PUT_SNAPSHOT, (campaign, *change.snapshot))
    db.execute(
        "UPDATE purse_campaigns SET seq = %s, head = %s WHERE id = %s",
        (change.seq, compact(vars(change.head)), campaign),
    )
