"""Storages as they were with tables of version 9, when the part of a bill above its hold was an
`overrun` and no part of what was spent: asks went on after it.

`schema-9/` has them as a file of SQLite, and the same campaigns as a dump of PostgreSQL. Commit
34e4eb69 has the games and the script that wrote both, with the `src` of commit c4fdcf25.
"""

import gzip
from pathlib import Path

from tests.support.storages import START, SqliteHarness, StorageHarness

FOLDER = Path(__file__).parent / "schema-9"
DAY = 86_400_000  # ms


def load(harness: StorageHarness) -> None:
    """Put the stored tables into the place of a harness, which has none yet."""
    if isinstance(harness, SqliteHarness):
        harness.path.write_bytes(gzip.decompress((FOLDER / "sqlite.db.gz").read_bytes()))
    else:
        harness.execute((FOLDER / "postgres.sql").read_text())
    harness.clock = START + 10 * DAY
