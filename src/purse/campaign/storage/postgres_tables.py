"""The tables of a PostgreSQL database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from purse.campaign.storage import schema

if TYPE_CHECKING:
    import psycopg

MAKING = 5_784_213  # any number, the same in all processes


def make_tables(db: psycopg.Connection[Any], where: str) -> None:
    """Make the tables where there are none; processes that start together wait for the first.
    Where they are, no right to make tables is needed. Raise `StorageUnavailable` where they have
    another version.
    """
    if version(db) == 0:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (MAKING,))
            if version(db) == 0:
                db.execute(schema.POSTGRES.encode())
                db.execute("CREATE TABLE purse_schema (version INTEGER NOT NULL)")
                db.execute("INSERT INTO purse_schema VALUES (%s)", (schema.VERSION,))
    schema.check_version(version(db), where)


def version(db: psycopg.Connection[Any]) -> int:
    """Of the tables; 0 where there are none."""
    row = db.execute("SELECT to_regclass('purse_schema')").fetchone()
    if row is None or row[0] is None:
        return 0
    newest = db.execute("SELECT max(version) FROM purse_schema").fetchone()
    return newest[0] or 0 if newest else 0
