"""Webhooks in a SQLite file."""

from __future__ import annotations

from typing import Any, cast

import apsw

from purse.campaign.journal import Entry
from purse.campaign.states import CAMPAIGN
from purse.campaign.storage import webhook_sql as sql
from purse.campaign.storage.base import entries_of, missing
from purse.campaign.storage.sqlite_file import SqliteFile
from purse.campaign.storage.sqlite_tables import check_tables
from purse.campaign.webhooks.records import Lease, NewWebhook, Settlement, WebhookRecord
from purse.campaign.webhooks.retry import times_ahead

FIND = "SELECT id FROM purse_campaigns WHERE name = ?"


class SqliteWebhooks(SqliteFile):
    """The part of the storage that is about webhooks."""

    def add_webhook(self, name: str, made: NewWebhook) -> str:
        """Store a webhook; return its id, or that of the one that is there already."""
        with self._locked() as db:
            campaign = key_of(db, name)
            db.execute(sql.ADD, (*made, campaign))
            return cast(str, db.execute(sql.FIND, (campaign, made.url, made.secret)).get)

    def remove_webhook(self, name: str, webhook: str) -> bool:
        """Let go of a webhook; return whether it was there."""
        with self._locked() as db:
            return bool(db.execute(sql.REMOVE, (key_of(db, name), webhook)).fetchall())

    def webhooks(self, name: str) -> list[WebhookRecord]:
        """The webhooks of a campaign."""
        with self._view() as db:
            return list(records(db, key_of(db, name)))

    def lease_webhook(self, lease: str, now: int, until: int) -> Lease | None:
        """Lease a webhook that is due; nobody waits where there is none."""
        ahead = times_ahead(now)
        with self._view() as db:
            check_tables(db)
            if not db.execute(sql.ANY_DUE, ahead * 2).fetchall():
                return None
        with self._locked() as db:
            statement = sql.LEASE.format(first=sql.FIRST_DUE)
            rows: list[Any] = db.execute(statement, (lease, until, *ahead, *ahead)).fetchall()
            return Lease(*rows[0]) if rows else None

    def settle_webhook(self, webhook: str, lease: str, settled: Settlement) -> bool:
        """End a lease; return whether it was still there."""
        with self._locked() as db:
            return bool(db.execute(sql.SETTLE, (*settled, webhook, lease)).fetchall())

    def events(self, name: str, after: int, limit: int) -> list[Entry]:
        """The events that follow an entry."""
        with self._view() as db:
            return entries_of(db.execute(sql.EVENTS, (key_of(db, name), after, limit)))


def key_of(db: apsw.Connection, name: str) -> int:
    """The key of a campaign or an account."""
    check_tables(db)
    found = db.execute(FIND, (name,)).get
    if found is None:
        raise missing(CAMPAIGN, name)
    return cast(int, found)


def records(db: apsw.Connection, campaign: int) -> tuple[WebhookRecord, ...]:
    """What may be shown of the webhooks of a campaign."""
    rows: Any = db.execute(sql.LIST, (campaign,))
    return tuple(WebhookRecord(*row) for row in rows)
