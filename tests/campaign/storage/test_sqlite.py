from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import apsw
import pytest

from purse import (
    Campaign,
    StorageUnavailable,
)
from purse.campaign import fork_safety
from purse.campaign.storage import sqlite, sqlite_tables
from purse.campaign.storage.connect import connect
from tests.support.storages import SqliteHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


def test_several_threads_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            connect(f"sqlite:///{tmp_path}/new-{number}.db").names()
        except Exception as error:  # told to the test
            errors.append(error)

    for number in range(10):  # threads that wait for each other's turns meet by chance
        threads = [threading.Thread(target=work, args=(number,)) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert errors == []


def test_opening_a_campaign_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match=r"there is no file .*typo\.db"):
        Campaign.open("c", storage=f"sqlite:///{tmp_path}/typo.db")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("not a database, but long enough to be taken for one" * 20)
    with pytest.raises(StorageUnavailable, match="not a database"):
        connect(f"sqlite:///{path}")
    assert path.read_text().startswith("not a database")


@pytest.mark.parametrize(
    ("version", "sound"),
    [
        ("3.44.5", False),
        ("3.44.6", True),
        ("3.50.7", True),
        ("3.51.2", False),
        ("3.51.3", True),
        ("3.52.0", False),
        ("3.54.1", True),
    ],
)
def test_versions_of_sqlite_that_corrupt_files_are_refused(version: str, sound: bool) -> None:
    if sound:
        sqlite_tables.check_library(version)
    else:
        with pytest.raises(StorageUnavailable, match="upgrade apsw"):
            sqlite_tables.check_library(version)


def test_every_commit_is_synced_and_readers_cannot_write(tmp_path: Path) -> None:
    storage = sqlite.Sqlite(f"sqlite:///{tmp_path}/purse.db")
    with storage._locked() as db:
        assert db.execute("PRAGMA synchronous").get == 2
        assert db.execute("PRAGMA journal_mode").get == "wal"
    with pytest.raises(StorageUnavailable, match="readonly"), storage._view() as db:
        db.execute("DELETE FROM purse_campaigns")


def test_opening_and_looking_take_no_write_lock(tmp_path: Path) -> None:
    harness = SqliteHarness(tmp_path / "purse.db")
    harness.create("c", **TERMS).ask()
    foreign = apsw.Connection(str(harness.path))
    foreign.execute("BEGIN IMMEDIATE")
    campaign = Campaign.open("c", storage=harness.address)
    assert campaign.status().counts["held"] == 1
    assert len(campaign.tickets()) == 1
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked"]
    foreign.execute("ROLLBACK")


def test_connections_of_the_parent_are_kept_open_in_a_child(make_harness: Any) -> None:
    storage = make_harness("postgres").storage()
    storage.names()
    (reader,) = storage._readers.idle
    storage.renew()
    assert reader in fork_safety.left_behind
    assert storage.names() == []
    fork_safety.left_behind.remove(reader)
    reader.close()
