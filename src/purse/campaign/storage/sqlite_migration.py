"""A SQLite file brought to the newest version of its tables."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import cast

import apsw

from purse.base.json import compact
from purse.campaign.records import CampaignRecord
from purse.campaign.storage import schema
from purse.campaign.storage.base import chain_rows
from purse.errors import StorageUnavailable

# versions of SQLite without the bug that corrupts a WAL
SOUND = (((3, 44, 6), (3, 45)), ((3, 50, 7), (3, 51)), ((3, 51, 3), (3, 52)), ((3, 53), (9,)))
PAGE_SIZE = 5_000  # entries


def migrate(db: apsw.Connection, path: str) -> None:
    """Make the tables, or bring them to the newest version, in one transaction.

    Raise `StorageUnavailable` where they are newer than this version of the library.
    """
    version = cast(int, db.execute("PRAGMA user_version").get)
    steps = schema.steps_from(version, schema.SQLITE, path)
    with db:
        for number, script in steps:
            db.execute(script)
            if number == schema.NEEDS_DIGESTS and version:
                fill_digests(db)
            db.execute(f"PRAGMA user_version = {number}")
    if version == 1:
        with suppress(OSError):  # of version 0.1.0, where processes left notes to each other
            os.remove(f"{os.path.realpath(path)}-gate")


def fill_digests(db: apsw.Connection) -> None:
    """Write the digest of every entry, and that of the whole journal into each campaign's head."""
    for campaign, head in list(db.execute("SELECT id, head FROM purse_campaigns")):
        record, seq = CampaignRecord.from_json(cast(str, head)), 0
        while rows := db.execute(
            "SELECT seq, at, kind, request, ticket, body FROM purse_journal "
            "WHERE campaign = ? AND seq > ? ORDER BY seq LIMIT ?",
            (campaign, seq, PAGE_SIZE),
        ).fetchall():
            record.digest, made = chain_rows(record.digest, rows)
            seq = made[-1][1]
            db.executemany(
                "UPDATE purse_journal SET digest = ? WHERE seq = ? AND campaign = ?",
                [(*each, campaign) for each in made],
            )
        record.snapshot = 0
        db.execute(
            "UPDATE purse_campaigns SET head = ? WHERE id = ?",
            (compact(record.as_dict()), campaign),
        )


def check_version(version: str) -> None:
    """Refuse a SQLite whose write-ahead log may corrupt a file that two connections write."""
    number = tuple(map(int, version.split(".")))
    if not any(low <= number < high for low, high in SOUND):
        raise StorageUnavailable(
            f"SQLite {version} may corrupt a file that several processes write: upgrade "
            "apsw to 3.51.3 or later"
        )
