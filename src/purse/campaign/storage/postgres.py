"""Campaigns in PostgreSQL, for several machines. A campaign's row is locked while it changes; only
the primary is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from purse.campaign.checkpoint import Checkpoint, checkpoint
from purse.campaign.journal import Entry
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.states import CAMPAIGN, LevelKind
from purse.campaign.storage.base import (
    MOST_DUE,
    Join,
    LabelTable,
    LockedState,
    Overview,
    ReadSet,
    Reports,
    WriteSet,
    among,
    entries_of,
    reports_since,
    ticket_record,
)
from purse.campaign.storage.postgres_accounts import PostgresAccounts
from purse.campaign.storage.postgres_levels import (
    HEAD,
    LOCK,
    PURSES,
    lock_accounts,
    names_of,
    write_accounts,
)
from purse.campaign.storage.postgres_rows import (
    ENTRY,
    PUT_CHECKPOINT,
    add_purses,
    digest_at,
    label_rows,
    write,
)

if TYPE_CHECKING:
    import psycopg

SLOT = "SELECT id, state, at, deadline, body FROM purse_tickets WHERE campaign = %s"
DUE = f"{SLOT} AND state = 'held' AND deadline <= %s ORDER BY deadline LIMIT {MOST_DUE}"
DUE_REWARDS = DUE.replace("'held'", "'settled'")
# said in such a way that the index of reports, which is not in their order, is left alone
TOLD = (
    "SELECT seq, body FROM purse_journal WHERE campaign = %s AND seq > %s AND kind || '' = "
    "'told' ORDER BY seq"
)
# an entry, with its digest for its body, and the reports after it
SINCE = (
    "SELECT seq, CASE seq WHEN %s THEN encode(digest, 'hex') ELSE body END FROM purse_journal "
    "WHERE campaign = %s AND seq >= %s AND (kind || '' = 'told' OR seq = %s) ORDER BY seq"
)


class Postgres(PostgresAccounts):
    """A storage for the processes of several machines."""

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

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock, read, decide, write and commit; once more where the connection was lost, since
        repeats have no second effect.

        Each campaign that changes has a connection of its own, so that one that is stuck delays no
        other.
        """
        self._with_writer(lambda db: self._change(db, name, wants, decide))

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
            since = None if after is None else db.execute(SINCE, (after, campaign, after, after))
        row = lock.fetchone()
        if row is None:
            raise self._gone(name)
        self._check(row)
        head = CampaignRecord.from_json(row[1])
        late = [ticket_record(each) for found in due for each in found]
        answered = {entry.request or "": entry for entry in entries_of(requests or ())}
        slots = [*late, *map(ticket_record, tickets or ()), *self._issued(db, campaign, answered)]
        found_tickets = {record.id: record for record in slots}
        before = [Balance(*each) for each in purses]
        accounts = [each.read(self._check) for each in above]
        told: Sequence[tuple[int, str]] = ()
        digest = None
        if since is not None and after is not None:
            told, digest = reports_since(since.fetchall(), after)
        found = LockedState(
            row[0],
            head,
            list(before),
            found_tickets,
            answered,
            told,
            late,
            digest,
            accounts,
        )
        change = self._decided(db, decide, found)
        if change is not None:
            with db.pipeline():
                write(db, campaign, before, change)
                write_accounts(db, place.above, accounts, change.accounts)
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

    def names(self) -> list[str]:
        """The names of all campaigns."""
        with self._view() as db:
            return names_of(db, CAMPAIGN)

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

    def told(self, name: str, after: int, limit: int) -> Reports:
        """The reports that follow."""
        with self._view() as db:
            campaign = self._key(db, name)
            if db.execute(HEAD, (campaign, name)).fetchone() is None:
                raise self._gone(name)
            rows = db.execute(f"{TOLD} LIMIT %s", (campaign, after, limit)).fetchall()
            seq = rows[-1][0] if rows else after
            before, last = (digest_at(db, campaign, each) for each in (after, seq))
            return Reports(before, rows, seq, last)

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        with self._view() as db:
            query = f"{SLOT} AND {among(states)} AND id > %s ORDER BY id LIMIT %s"
            return [
                ticket_record(row) for row in db.execute(query, (self._key(db, name), after, limit))
            ]

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """The last checkpoint of a kind."""
        with self._view() as db:
            row = db.execute(
                "SELECT kind, seq, digest, checksum, body FROM purse_checkpoints "
                "WHERE campaign = %s AND kind = %s",
                (self._place(db, name).key, kind),
            ).fetchone()
            return Checkpoint(*row) if row else None

    def keep(self, name: str, kind: str, seq: int, digest: str, body: bytes) -> None:
        """Store a checkpoint."""
        row = checkpoint(kind, seq, digest, body)
        self._with_writer(
            lambda db: db.execute(PUT_CHECKPOINT, (self._place(db, name).key, *row)).close()
        )

    def journals(self) -> list[tuple[LevelKind, str, int]]:
        """Kind, name and last entry of each journal."""
        with self._view() as db:
            return db.execute("SELECT kind, name, seq FROM purse_campaigns").fetchall()

    def labels(self, name: str) -> LabelTable:
        """The sums of all labels."""
        with self._view() as db:
            campaign = self._key(db, name)
            row = db.execute(HEAD, (campaign, name)).fetchone()
            if row is None:
                raise self._gone(name)
            return LabelTable(row[0], label_rows(db, campaign))
