"""Every storage against the suite that ships, and what SQL itself refuses."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import apsw
import pytest
from houses import House, SqliteHouse

from purse import (
    Campaign,
    InvalidInput,
    MissingExtra,
    NoSuchCampaign,
    PurseError,
    StorageUnavailable,
)
from purse.campaign import fork_safety
from purse.campaign.storage import schema, sqlite
from purse.campaign.storage.base import connect
from purse.campaign.storage.queue import Queue
from purse.testing import check_storage

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


def test_does_what_every_storage_must_do(house: House) -> None:
    check_storage(house.storage)


@pytest.fixture(params=["sqlite", "postgres"])
def sql(request: pytest.FixtureRequest, make_house: Any) -> Any:
    return make_house(request.param)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE purse_purses SET held = 11000000000",
        "UPDATE purse_purses SET spent = -1",
        "UPDATE purse_purses SET spent = 6000000000, presumed = 5000000000",
        "UPDATE purse_purses SET budget = 0",
        "UPDATE purse_journal SET kind = 'paused'",
        "DELETE FROM purse_journal",
        "INSERT INTO purse_journal SELECT campaign, 9, at, kind, request, ticket, body "
        "FROM purse_journal WHERE kind = 'asked'",
        "INSERT INTO purse_journal SELECT campaign, 9, at, kind, request, ticket, body "
        "FROM purse_journal WHERE kind = 'told'",
        "INSERT INTO purse_journal SELECT * FROM purse_journal WHERE kind = 'created'",
        "INSERT INTO purse_tickets SELECT * FROM purse_tickets",
    ],
)
def test_the_database_itself_refuses_what_would_break_a_promise(sql: Any, statement: str) -> None:
    campaign = sql.create("c", **TERMS)
    campaign.tell(campaign.ask(), 0.5, "0.7")
    before = campaign.status()
    with pytest.raises(Exception, match=r"(?i)constraint|append-only|CHECK|unique"):
        sql.execute(statement)
    assert campaign.status() == before
    assert campaign.audit().ok


def test_a_newer_schema_is_refused(sql: Any) -> None:
    sql.create("c", **TERMS)
    newer = len(schema.SQLITE) + 1
    sql.execute(
        f"PRAGMA user_version = {newer}"
        if isinstance(sql, SqliteHouse)
        else f"INSERT INTO purse_schema VALUES ({newer})"
    )
    with pytest.raises(StorageUnavailable, match="upgrade purse"):
        sql.storage()


def test_an_older_schema_is_brought_up_to_date(sql: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sql.create("c", **TERMS).ask("r")
    name = "SQLITE" if isinstance(sql, SqliteHouse) else "POSTGRES"
    monkeypatch.setattr(
        schema, name, [*getattr(schema, name), "CREATE TABLE purse_news (id INTEGER)"]
    )
    campaign = sql.open("c")
    assert campaign.ask("r").id == 1
    sql.execute("INSERT INTO purse_news VALUES (1)")
    assert sql.open("c").ask("s").id == 2, "it is made once"


def test_several_processes_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    errors: list[Exception] = []

    def work() -> None:
        try:
            connect(f"sqlite:///{tmp_path}/new.db").names()
        except Exception as error:  # told to the test
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(12)]
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
    "address", ["purse.db", "sqlite://purse.db", "sqlite:///", "mysql://host/db", ""]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="storage="):
        connect(address)


def test_memory_has_an_address_too() -> None:
    Campaign.create("kept", **TERMS, storage="memory:kept")
    assert Campaign.open("kept", storage="memory:kept").ask().id == 1
    with pytest.raises(NoSuchCampaign, match="'kept'"):
        Campaign.open("kept", storage="memory:other")


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
        sqlite.check_version(version)
    else:
        with pytest.raises(StorageUnavailable, match="upgrade apsw"):
            sqlite.check_version(version)


def test_every_commit_is_synced_and_readers_cannot_write(tmp_path: Path) -> None:
    storage = sqlite.Sqlite(f"sqlite:///{tmp_path}/purse.db")
    with storage._locked() as db:
        assert db.execute("PRAGMA synchronous").get == 2
        assert db.execute("PRAGMA journal_mode").get == "wal"
    with pytest.raises(StorageUnavailable, match="readonly"), storage._view() as db:
        db.execute("DELETE FROM purse_campaigns")


def test_opening_and_looking_take_no_write_lock(tmp_path: Path) -> None:
    house = SqliteHouse(tmp_path / "purse.db")
    house.create("c", **TERMS).ask()
    foreign = apsw.Connection(str(house.path))
    foreign.execute("BEGIN IMMEDIATE")
    campaign = Campaign.open("c", storage=house.address)
    assert campaign.status().counts["held"] == 1
    assert len(campaign.tickets()) == 1
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked"]
    foreign.execute("ROLLBACK")


def test_a_gate_lets_one_through_at_a_time(tmp_path: Path) -> None:
    inside, most = [0], [0]

    def work() -> None:
        queue = Queue(str(tmp_path / "gate"), 60)
        for _ in range(20):
            with queue.passed():
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                inside[0] -= 1
        queue.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]


def test_a_dead_process_leaves_the_gate(tmp_path: Path) -> None:
    code = f"""
import os, signal
from purse.campaign.storage.queue import Queue
with Queue({str(tmp_path / "gate")!r}, 60).passed():
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with Queue(str(tmp_path / "gate"), 60).passed():
        pass


def test_connections_of_the_parent_are_kept_open_in_a_child(make_house: Any) -> None:
    storage = make_house("postgres").storage()
    storage.names()
    reader = storage._reader
    storage.renew()
    assert reader in fork_safety.left_behind
    assert storage.names() == []
    fork_safety.left_behind.remove(reader)
    reader.close()


def test_postgres_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"purse\[postgres\]"):
        connect("postgresql://localhost/purse")


def test_a_password_is_not_in_an_error() -> None:
    with pytest.raises(StorageUnavailable) as caught:
        connect("postgresql://me:secret@127.0.0.1:1/purse?connect_timeout=2")
    assert "secret" not in str(caught.value)


def test_a_lost_connection_is_made_anew(make_house: Any) -> None:
    house = make_house("postgres")
    campaign = house.create("c", **TERMS)
    campaign.ask("r")
    house.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()"
    )
    assert campaign.ask("r").id == 1
    assert campaign.ask("s").id == 2
    house.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()"
    )
    assert campaign.status().counts["held"] == 2


def test_postgres_waits_for_commits_even_where_the_server_does_not(make_house: Any) -> None:
    house = make_house("postgres")
    house.execute(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', "
        "current_database()); END $$"
    )
    storage = house.storage()
    with storage._view() as db:
        assert db.execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_two_campaigns_do_not_meet(house: House) -> None:
    first, second = house.create("one", **TERMS), house.create("two", **TERMS)
    first.tell(first.ask("r"), 1, 1)
    assert second.status().counts["tickets"] == 0
    assert second.ask("r").id == 1
    with pytest.raises(PurseError, match="must be one of campaign 'two'"):
        second.tell(first.ask(), 1, 1)
