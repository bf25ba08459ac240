"""A PostgreSQL database brought to the newest version of its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purse.base.json import compact
from purse.campaign.records import CampaignRecord
from purse.campaign.storage import schema
from purse.campaign.storage.base import chain_rows

if TYPE_CHECKING:
    import psycopg

MIGRATING = 5_784_213  # any number, the same in all processes
PAGE_SIZE = 5_000  # entries


def migrate(db: psycopg.Connection[Any], where: str) -> None:
    """Bring the tables to the newest version; processes that start together wait for the first.
    Where they are, no right to make tables is needed.
    """
    if version(db) == len(schema.POSTGRES):
        return
    with db.transaction():
        db.execute("SET LOCAL statement_timeout = 0")  # an index reads the whole journal
        db.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
        for number, script in schema.steps_from(version(db), schema.POSTGRES, where):
            db.execute("CREATE TABLE IF NOT EXISTS purse_schema (version INTEGER NOT NULL)")
            db.execute(script.encode())
            if number == schema.NEEDS_DIGESTS:
                fill_digests(db)
            db.execute("INSERT INTO purse_schema VALUES (%s)", (number,))


def version(db: psycopg.Connection[Any]) -> int:
    """Of the tables; 0 where there are none."""
    row = db.execute("SELECT to_regclass('purse_schema')").fetchone()
    if row is None or row[0] is None:
        return 0
    newest = db.execute("SELECT max(version) FROM purse_schema").fetchone()
    return newest[0] or 0 if newest else 0


def fill_digests(db: psycopg.Connection[Any]) -> None:
    """Write the digest of every entry, and that of the whole journal into each campaign's head."""
    for campaign, head in db.execute("SELECT id, head FROM purse_campaigns").fetchall():
        record, seq = CampaignRecord.from_json(head), 0
        while rows := db.execute(
            "SELECT seq, at, kind, request, ticket, body FROM purse_journal "
            "WHERE campaign = %s AND seq > %s ORDER BY seq LIMIT %s",
            (campaign, seq, PAGE_SIZE),
        ).fetchall():
            record.digest, made = chain_rows(record.digest, rows)
            seq = made[-1][1]
            with db.cursor() as cursor:
                cursor.executemany(
                    "UPDATE purse_journal SET digest = %s WHERE seq = %s AND campaign = %s",
                    [(*each, campaign) for each in made],
                )
        record.snapshot = 0
        db.execute(
            "UPDATE purse_campaigns SET head = %s WHERE id = %s",
            (compact(record.as_dict()), campaign),
        )
