"""The tables of a SQLite file, and the library that may write them."""

from __future__ import annotations

from typing import cast

import apsw

from purse.campaign.storage import schema
from purse.errors import StorageUnavailable

# versions of SQLite without the bug that corrupts a WAL
SOUND = (((3, 44, 6), (3, 45)), ((3, 50, 7), (3, 51)), ((3, 51, 3), (3, 52)), ((3, 53), (9,)))


def make_tables(db: apsw.Connection) -> None:
    """Make the tables where there are none, in one transaction. Raise `StorageUnavailable` where
    they have another version.
    """
    if db.execute("PRAGMA user_version").get == 0:
        with db:
            db.execute(schema.SQLITE)
            db.execute(f"PRAGMA user_version = {schema.VERSION}")
    check_tables(db)


def check_tables(db: apsw.Connection) -> None:
    """Refuse tables of another version than this library's."""
    schema.check_version(cast(int, db.execute("PRAGMA user_version").get), db.filename)


def check_library(version: str) -> None:
    """Refuse a SQLite whose write-ahead log may corrupt a file that two connections write."""
    number = tuple(map(int, version.split(".")))
    if not any(low <= number < high for low, high in SOUND):
        raise StorageUnavailable(
            f"SQLite {version} may corrupt a file that several processes write: upgrade "
            "apsw to 3.51.3 or later"
        )
