"""Campaigns in PostgreSQL, for several machines. A campaign's row is locked while it changes; only
the primary is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from purse.base.optional import needs
from purse.campaign.account.records import AccountRecord
from purse.campaign.archived_ticket import ArchivedTicket, told_body
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.fork_safety import left_behind, reset_after_fork
from purse.campaign.journal import Entry
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.states import ACCOUNT, CAMPAIGN
from purse.campaign.storage import schema
from purse.campaign.storage.base import (
    MOST_DUE,
    AccountOverview,
    AccountWrite,
    Join,
    LockedAccount,
    LockedState,
    Overview,
    ReadSet,
    Reports,
    WriteSet,
    among,
    entries_of,
    missing,
    taken,
    ticket_record,
)
from purse.campaign.storage.connection_pool import ConnectionPool
from purse.campaign.storage.postgres_accounts import (
    ADD_NAME,
    HEAD,
    LOCK,
    PURSES,
    Place,
    add_account,
    below,
    find_place,
    lock_accounts,
    names_of,
    write_account,
    write_accounts,
)
from purse.campaign.storage.postgres_migration import migrate
from purse.campaign.storage.postgres_rows import (
    ARCHIVED,
    DIGEST,
    add_purses,
    archived_asks,
    archived_records,
    archived_tickets,
    digest_at,
    write,
)
from purse.campaign.storage.server_clock import MILLISECONDS, ServerClock
from purse.errors import (
    InvalidInput,
    NoSuchCampaign,
    PurseError,
    StorageUnavailable,
)

if TYPE_CHECKING:
    import psycopg

Found = TypeVar("Found")
Wanted = TypeVar("Wanted")

LOCK_TIMEOUT_S = 30  # seconds to wait for a lock or an answer
ATTEMPTS = 2  # a lost connection is replaced once
IDLE = 0  # a connection without a transaction
# connections of a process; a server takes 100 in all, unless it is told otherwise
MOST_WRITERS, MOST_READERS = 16, 8
SESSION = (
    f"SET lock_timeout = '{LOCK_TIMEOUT_S}s'; SET statement_timeout = '{LOCK_TIMEOUT_S}s'; SET "
    f"idle_in_transaction_session_timeout = '{LOCK_TIMEOUT_S}s';"
    # P2
    "SELECT set_config('synchronous_commit', 'on', false) WHERE "
    "current_setting('synchronous_commit') = 'off'"
)
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
ENTRY = "SELECT seq, at, kind, request, ticket, body FROM purse_journal WHERE campaign = %s"
SLOT = "SELECT id, state, at, deadline, body FROM purse_tickets WHERE campaign = %s"
DUE = f"{SLOT} AND state = 'held' AND deadline <= %s ORDER BY deadline LIMIT {MOST_DUE}"
DUE_REWARDS = DUE.replace("'held'", "'settled'")
# said in such a way that the index of reports, which is not in their order, is left alone
TOLD = (
    "SELECT seq, body FROM purse_journal WHERE campaign = %s AND seq > %s AND kind || '' = "
    "'told' ORDER BY seq"
)


class New(NamedTuple):
    """A row that is being made."""

    db: psycopg.Connection[Any]
    key: int
    above: tuple[tuple[int, str], ...]  # keys and names of the accounts, from the top down
    accounts: list[LockedAccount]  # these


class Postgres:
    """A storage for the processes of several machines."""

    def __init__(self, address: str) -> None:
        with needs("a campaign in PostgreSQL", "postgres"):
            import psycopg

            from purse.campaign.storage.postgres_timeout import TimeoutConnection
        self._psycopg, self._patient = psycopg, TimeoutConnection
        self._clock = ServerClock()
        self.now: Callable[[], int] = self._clock.now
        self.address = address
        try:
            self._where()
        except psycopg.ProgrammingError:  # whose text may hold the password
            raise InvalidInput(
                "storage: this is not an address of PostgreSQL; it looks like "
                "postgresql://USER@HOST/DATABASE, and special characters in it are written as %XX"
            ) from None
        self._places: dict[str, Place] = {}  # as far as they are known
        self._writers, self._readers = (
            ConnectionPool(self._connected, self._close, most, LOCK_TIMEOUT_S)
            for most in (MOST_WRITERS, MOST_READERS)
        )
        reset_after_fork(self)
        with self._translate_errors(), self._connected() as db:
            migrate(db, self._where())
            ((now,),) = db.execute(f"SELECT {MILLISECONDS}".encode()).fetchall()
            self._clock.set(now)

    def renew(self) -> None:
        """Begin without connections in a child process."""
        for pool in (self._writers, self._readers):
            left_behind.extend(pool.idle)
            pool.renew()

    def _where(self) -> str:
        parts = self._psycopg.conninfo.conninfo_to_dict(self.address)
        # without the password
        return f"PostgreSQL {parts.get('dbname', '')!r} at {parts.get('host', 'localhost')}"

    def _connected(self) -> psycopg.Connection[Any]:
        """A connection to the primary, that waits for nothing longer than it should."""
        db = self._patient.connect(
            self.address,
            autocommit=True,
            client_encoding="utf8",  # or text of a database without an encoding comes as bytes
            target_session_attrs="read-write",
            connect_timeout=LOCK_TIMEOUT_S,
        )
        db.execute(SESSION)
        return db

    def _check(self, row: Sequence[Any]) -> None:
        """Refuse tables of another version, and take over the server's time."""
        if row[2] != len(schema.POSTGRES):
            schema.check_version(row[2], len(schema.POSTGRES), self._where())
        self._clock.set(row[3])

    def _close(self, db: psycopg.Connection[Any]) -> None:
        with suppress(self._psycopg.Error):
            db.close()

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

    def identity(self) -> str:
        """Tell this database from every other one."""
        with self._view() as db:
            ((found,),) = db.execute("SELECT id FROM purse_identity").fetchall()
            return found

    def create(
        self, name: str, changes: Iterable[WriteSet], account: str = "", join: Join | None = None
    ) -> None:
        """A new campaign."""
        with self._creating(CAMPAIGN, name, account) as new:
            db, campaign, above, accounts = new
            before: list[Balance] = []
            for change in changes:
                if not before:
                    before = add_purses(db, campaign, len(change.balances))
                write(db, campaign, before, change)
                before = list(change.balances)
            if join is not None:
                write_accounts(db, above, accounts, join(accounts))

    def create_account(self, first: AccountWrite, account: str = "") -> None:
        """A new account."""
        with self._creating(ACCOUNT, first.name, account) as new:
            add_account(new.db, new.key, first)

    @contextmanager
    def _creating(self, kind: str, name: str, account: str) -> Iterator[New]:
        """A transaction with a new row."""
        self._places.pop(name, None)
        with self._translate_errors(), self._connected() as db, db.transaction():
            above: tuple[tuple[int, str], ...] = ()
            if account:
                place = self._place(db, account, ACCOUNT)
                above = (*place.above, (place.key, account))
            found = [each.read(self._check) for each in lock_accounts(db, above)]
            row = db.execute(ADD_NAME, (name, kind, above[-1][0] if above else None)).fetchone()
            if row is None:
                raise taken(self._place(db, name).kind, name)
            yield New(db, row[0], above, found)

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock, read, decide, write and commit; once more where the connection was lost, since
        repeats have no second effect.

        Each campaign that changes has a connection of its own, so that one that is stuck delays no
        other.
        """
        self._with_writer(lambda db: self._change(db, name, wants, decide))

    def _with_writer(self, work: Callable[[psycopg.Connection[Any]], None]) -> None:
        """Have something done with a connection that writes; once more where that was lost."""
        with self._translate_errors():
            for attempt in range(1, ATTEMPTS + 1):
                broken = False
                try:
                    with self._writers.use() as db:
                        try:
                            return work(db)
                        finally:
                            broken = db.broken
                            if not broken and db.info.transaction_status != IDLE:
                                self._undo(db)
                except self._psycopg.OperationalError:
                    self._writers.close_idle()
                    if not broken or attempt == ATTEMPTS:
                        raise

    def _undo(self, db: psycopg.Connection[Any]) -> None:
        """Give up a transaction, so that the connection can be used again.

        Raise `psycopg.Error` where that cannot be: then the connection is closed.
        """
        try:
            db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise

    def _change(
        self,
        db: psycopg.Connection[Any],
        name: str,
        wants: ReadSet,
        decide: Callable[[LockedState], WriteSet | None],
    ) -> None:
        """In two trips: the reads behind the lock, then the writes with the commit."""
        place = self._place(db, name, CAMPAIGN)
        campaign = place.key
        with db.pipeline():
            # each statement behind the lock sees what was committed before it was got
            db.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            above = lock_accounts(db, place.above)
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
            due = [
                db.execute(query, (campaign, wants.due))
                for query in (DUE, DUE_REWARDS)[: 1 + wants.due_rewards]
                if wants.due is not None
            ]
            after = wants.told_after
            told = db.execute(TOLD, (campaign, after)) if after is not None else None
            marks = db.execute(DIGEST, (campaign, after)) if after is not None else None
        row = lock.fetchone()
        if row is None:
            raise self._gone(name)
        self._check(row)
        head = CampaignRecord.from_json(row[1])
        late = [ticket_record(each) for found in due for each in found]
        answered = {entry.request or "": entry for entry in entries_of(requests or ())}
        if head.archived:
            answered |= archived_asks(db, campaign, set(wants.requests) - set(answered))
        slots = [*late, *map(ticket_record, tickets or ()), *self._issued(db, campaign, answered)]
        found_tickets = {record.id: record for record in slots}
        if head.archived:
            found_tickets |= archived_records(
                db, campaign, set(wants.tickets) - set(found_tickets), answered
            )
        before = [Balance(*each) for each in purses]
        accounts = [each.read(self._check) for each in above]
        found = LockedState(
            row[0],
            head,
            list(before),
            found_tickets,
            answered,
            told.fetchall() if told else [],
            late,
            None
            if marks is None or after is None or after < head.archived
            else digest_at(head, after, marks.fetchone()),
            accounts,
        )
        change = self._decided(db, decide, found)
        if change is not None:
            with db.pipeline():
                write(db, campaign, before, change)
                write_accounts(db, place.above, accounts, change.accounts)
                db.execute("COMMIT")

    def _decided(
        self, db: psycopg.Connection[Any], decide: Callable[[Found], Wanted | None], found: Found
    ) -> Wanted | None:
        """What is to be written; where that is nothing, the transaction ends."""
        try:
            change = decide(found)
        except Exception:
            db.execute("ROLLBACK")
            raise
        if change is None:
            db.execute("ROLLBACK")
        return change

    def change_account(
        self,
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        """Lock, read, decide, write and commit, as `change` does."""
        self._with_writer(lambda db: self._change_account(db, name, requests, decide))

    def _change_account(
        self,
        db: psycopg.Connection[Any],
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        key = self._place(db, name, ACCOUNT).key
        with db.pipeline():
            db.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            (locked,) = lock_accounts(db, [(key, name)])
            answers = db.execute(f"{ENTRY} AND request = ANY(%s)", (key, list(requests)))
        found = locked.read(self._check)
        known = {entry.request or "": entry for entry in entries_of(answers)}
        change = self._decided(db, decide, found._replace(requests=known))
        if change is not None:
            with db.pipeline():
                write_account(db, key, found.balances, change)
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
        return self._place(db, name, CAMPAIGN).key

    def _place(self, db: psycopg.Connection[Any], name: str, kind: str | None = None) -> Place:
        """Where a name stands, of one kind or of any."""
        if name not in self._places:
            found = find_place(db, name)
            if found is None:
                raise missing(kind or CAMPAIGN, name)
            self._places[name] = found
        place = self._places[name]
        return place if kind is None else place.checked(kind)

    def _gone(self, name: str) -> NoSuchCampaign:
        """A campaign that was there."""
        self._places.pop(name, None)
        return NoSuchCampaign(
            f"campaign {name!r} was deleted, or deleted and recreated; open it again"
        )

    @contextmanager
    def _view(self) -> Iterator[psycopg.Connection[Any]]:
        """The database as it is at one moment, read only."""
        with (
            self._translate_errors(),
            self._readers.use(lambda db: db.execute(SNAPSHOT)) as db,
        ):
            try:
                yield db
            finally:
                if not db.broken:
                    db.execute("ROLLBACK")

    def names(self) -> list[str]:
        """The names of all campaigns."""
        with self._view() as db:
            return names_of(db, CAMPAIGN)

    def accounts(self) -> list[str]:
        """The names of all accounts."""
        with self._view() as db:
            return names_of(db, ACCOUNT)

    def account(self, name: str) -> AccountOverview:
        """A glance at an account."""
        with self._view() as db:
            place = self._place(db, name, ACCOUNT)
            row = db.execute(HEAD, (place.key, name)).fetchone()
            if row is None:
                raise self._gone(name)
            self._check(row)
            return AccountOverview(
                place.above[-1][1] if place.above else "",
                row[0],
                AccountRecord.from_json(row[1]),
                [Balance(*each) for each in db.execute(PURSES, (place.key,))],
                below(db, place.key),
            )

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""
        with self._view() as db:
            campaign = self._key(db, name)
            row = db.execute(HEAD, (campaign, name)).fetchone()
            if row is None:
                raise self._gone(name)
            self._check(row)
            query = (
                "SELECT count(*) FILTER (WHERE deadline <= %s), min(at) FROM "
                "purse_tickets WHERE campaign = %s AND " + among(("held",))
            )
            ((overdue, oldest),) = db.execute(query, (self.now(), campaign)).fetchall()
            return Overview(
                row[0],
                CampaignRecord.from_json(row[1]),
                [Balance(*row) for row in db.execute(PURSES, (campaign,))],
                overdue,
                oldest,
            )

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow."""
        return self._entries(CAMPAIGN, name, after, limit)

    def account_entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries of an account that follow."""
        return self._entries(ACCOUNT, name, after, limit)

    def _entries(self, kind: str, name: str, after: int, limit: int) -> list[Entry]:
        with self._view() as db:
            key = self._place(db, name, kind).key
            query = f"{ENTRY} AND seq > %s ORDER BY seq LIMIT %s"
            return entries_of(db.execute(query, (key, after, limit)))

    def told(self, name: str, after: int, limit: int) -> Reports:
        """The reports that follow."""
        with self._view() as db:
            campaign = self._key(db, name)
            row = db.execute(HEAD, (campaign, name)).fetchone()
            if row is None:
                raise self._gone(name)
            head = CampaignRecord.from_json(row[1])
            rows: Any = []
            if after < head.archived:
                found = db.execute(
                    f"{ARCHIVED} AND told > %s AND told <= %s ORDER BY told LIMIT %s",
                    (campaign, after, head.archived, limit),
                )
                rows = [(each.told, told_body(each)) for each in archived_tickets(found)]
            rows = rows or db.execute(f"{TOLD} LIMIT %s", (campaign, after, limit)).fetchall()
            seq = rows[-1][0] if rows else max(after, head.archived)
            digests = [
                digest_at(head, each, db.execute(DIGEST, (campaign, each)).fetchone())
                for each in (after, seq)
            ]
            return Reports(digests[0], rows, seq, digests[1])

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        with self._view() as db:
            query = f"{SLOT} AND {among(states)} AND id > %s ORDER BY id LIMIT %s"
            return [
                ticket_record(row) for row in db.execute(query, (self._key(db, name), after, limit))
            ]

    def archived(self, name: str, after: int, limit: int) -> list[ArchivedTicket]:
        """The archived tickets that follow."""
        with self._view() as db:
            rows = db.execute(
                f"{ARCHIVED} AND id > %s ORDER BY id LIMIT %s", (self._key(db, name), after, limit)
            )
            return archived_tickets(rows)

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """The last checkpoint of a kind."""
        with self._view() as db:
            row = db.execute(
                "SELECT kind, seq, digest, checksum, body FROM purse_checkpoints "
                "WHERE campaign = %s AND kind = %s",
                (self._key(db, name), kind),
            ).fetchone()
            return Checkpoint(*row) if row else None

    def close(self) -> None:
        """Let go of the connections."""
        with self._writers.drained(self._close), self._readers.drained(self._close):
            pass

    def __del__(self, suppress: Any = suppress) -> None:  # the name is gone when Python ends
        with suppress(Exception):  # it may never have begun
            self.close()
