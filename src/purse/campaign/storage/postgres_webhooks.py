"""Webhooks in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from purse.campaign.journal import Entry
from purse.campaign.storage import webhook_sql as sql
from purse.campaign.storage.base import entries_of
from purse.campaign.storage.postgres_database import PostgresDatabase
from purse.campaign.webhooks.records import Lease, NewWebhook, Settlement, WebhookRecord
from purse.campaign.webhooks.retry import times_ahead

if TYPE_CHECKING:
    import psycopg


def bound(statement: str) -> bytes:
    """A statement with values as this database marks them."""
    return statement.replace("?", "%s").encode()


ADD, FIND, REMOVE, LIST, ANY_DUE, SETTLE, EVENTS = map(
    bound, (sql.ADD, sql.FIND, sql.REMOVE, sql.LIST, sql.ANY_DUE, sql.SETTLE, sql.EVENTS)
)
# two deliverers at once take two rows, and neither waits
LEASE = bound(sql.LEASE.format(first=f"{sql.FIRST_DUE} FOR UPDATE OF w SKIP LOCKED"))


class PostgresWebhooks(PostgresDatabase):
    """The part of the storage that is about webhooks."""

    @contextmanager
    def _short(self) -> Iterator[psycopg.Connection[Any]]:
        """A transaction of a few rows."""
        begin = "SELECT 1"  # finds a connection that was lost
        with (
            self._translate_errors(),
            self._writers.use(lambda db: db.execute(begin)) as db,
            db.transaction(),
        ):
            yield db

    def add_webhook(self, name: str, made: NewWebhook) -> str:
        """Store a webhook; return its id, or that of the one that is there already."""
        with self._short() as db:
            campaign = self._place(db, name).key
            db.execute(ADD, (*made, campaign))
            ((found,),) = db.execute(FIND, (campaign, made.url, made.secret)).fetchall()
            return found

    def remove_webhook(self, name: str, webhook: str) -> bool:
        """Let go of a webhook; return whether it was there."""
        with self._short() as db:
            return bool(db.execute(REMOVE, (self._place(db, name).key, webhook)).fetchall())

    def webhooks(self, name: str) -> list[WebhookRecord]:
        """The webhooks of a campaign."""
        with self._view() as db:
            return list(records(db, self._place(db, name).key))

    def lease_webhook(self, lease: str, now: int, until: int) -> Lease | None:
        """Lease a webhook that is due; nothing is written where there is none."""
        ahead = times_ahead(now)
        with self._view() as db:
            if not db.execute(ANY_DUE, ahead * 2).fetchall():
                return None
        with self._short() as db:
            rows = db.execute(LEASE, (lease, until, *ahead, *ahead)).fetchall()
            return Lease(*rows[0]) if rows else None

    def settle_webhook(self, webhook: str, lease: str, settled: Settlement) -> bool:
        """End a lease; return whether it was still there."""
        with self._short() as db:
            return bool(db.execute(SETTLE, (*settled, webhook, lease)).fetchall())

    def events(self, name: str, after: int, limit: int) -> list[Entry]:
        """The events that follow an entry."""
        with self._view() as db:
            return entries_of(db.execute(EVENTS, (self._place(db, name).key, after, limit)))


def records(db: psycopg.Connection[Any], campaign: int) -> tuple[WebhookRecord, ...]:
    """What may be shown of the webhooks of a campaign."""
    return tuple(WebhookRecord(*row) for row in db.execute(LIST, (campaign,)))
