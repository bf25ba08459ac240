"""Addresses, files and servers: what is found there, made there, and refused."""

import gc
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from purse import InvalidInput
from purse.base import fork_safety
from purse.campaign.campaign import Campaign
from purse.campaign.storage import schema
from purse.campaign.storage.connect import connect
from purse.campaign.storage.postgres import Postgres, _monotonic
from purse.campaign.storage.sql import ReadRequest
from purse.campaign.storage.sqlite import _check_library
from purse.errors import MissingExtra, NotFound, StorageUnavailable
from tests.support.storages import TERMS, counts, kinds


@pytest.mark.parametrize(
    "address", ["purse.db", "sqlite://purse.db", "sqlite:///", "mysql://host/db", "unix:x", ""]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="storage="):
        connect(address)


def test_memory_has_an_address_too() -> None:
    Campaign.create("kept", **TERMS, storage="memory:kept")
    opened = Campaign.open("kept", storage="memory:kept")
    opened.storage.close()
    assert opened.ask().id == 1
    with pytest.raises(NotFound, match="'kept'"):
        Campaign.open("kept", storage="memory:other")


def test_an_address_that_cannot_be_read_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="this is not an address of PostgreSQL") as caught:
        connect("postgresql://me:secret%ZZ@[::1/base")
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidInput, match="must be sqlite:///FILE"):
        connect("sqlite://[::1/purse.db")


# SQLite


def test_several_threads_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(12) as threads:
        for number in range(10):  # threads that wait for each other's turns meet by chance
            opened = [f"sqlite:///{tmp_path}/new-{number}.db"] * 12
            assert list(threads.map(lambda address: connect(address).names(), opened)) == [[]] * 12


def test_opening_a_campaign_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StorageUnavailable, match=r"there is no file .*typo\.db with campaigns"):
        Campaign.open("c", storage=f"sqlite:///{tmp_path}/typo.db")
    assert list(tmp_path.iterdir()) == []
    apsw.Connection(str(tmp_path / "other.db")).close()
    with pytest.raises(StorageUnavailable, match="with campaigns"):
        Campaign.open("c", storage=f"sqlite:///{tmp_path}/other.db")
    with pytest.raises(StorageUnavailable, match="there is no folder"):
        connect(f"sqlite:///{tmp_path}/nowhere/purse.db")


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
        _check_library(version)
    else:
        with pytest.raises(StorageUnavailable, match="upgrade apsw"):
            _check_library(version)


def test_every_commit_is_synced_and_readers_cannot_write(tmp_path: Path) -> None:
    database = connect(f"sqlite:///{tmp_path}/purse.db").db
    with database.writing() as session:
        names = ("synchronous", "journal_mode", "foreign_keys")
        rows = session.read([(f"PRAGMA {name}", ()) for name in names])
    assert rows == [[(2,)], [("wal",)], [(1,)]]
    with pytest.raises(StorageUnavailable, match="readonly"), database.reading() as session:
        session.read([("DELETE FROM purse_levels", ())])


# PostgreSQL


def test_postgres_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(
        MissingExtra, match=r"PostgreSQL needs psycopg: pip install 'purse-bandits\[postgres\]'$"
    ):
        connect("postgresql://localhost/purse")


def test_a_password_is_not_in_an_error() -> None:
    with pytest.raises(StorageUnavailable, match="PostgreSQL 'purse' at 127") as caught:
        connect("postgresql://me:secret@127.0.0.1:1/purse?connect_timeout=2")
    assert "secret" not in str(caught.value)


def test_a_database_that_is_not_there_is_named(postgres_server: Any) -> None:
    with pytest.raises(StorageUnavailable, match='database "nowhere" does not exist') as caught:
        connect(postgres_server.get_uri(database="nowhere"))
    assert "\n" not in str(caught.value)


def test_where_the_tables_are_no_right_to_make_any_is_needed(
    make_harness: Any, postgres_server: Any
) -> None:
    harness = make_harness("postgres")
    harness.create("c", **TERMS)
    schema = harness.address.rpartition("%3D")[2]
    rights = f"""DO $$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'worker') THEN CREATE ROLE worker LOGIN;
      END IF; END $$;
      GRANT USAGE ON SCHEMA {schema} TO worker;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO worker;
      CREATE SCHEMA {schema}_empty; GRANT USAGE ON SCHEMA {schema}_empty TO worker"""
    harness.execute(rights)
    address = harness.address.replace("postgres:@", "worker:@")
    assert address != harness.address
    campaign = Campaign.open("c", storage=address)
    campaign.tell(campaign.ask(), 1, 1)
    campaign.storage.close()
    with pytest.raises(StorageUnavailable, match="permission denied for schema"):
        connect(f"{address}_empty")


def test_the_time_is_the_servers(make_harness: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All machines share it, whatever their own clocks say."""
    now = time.time()
    harness = make_harness("postgres")
    monkeypatch.setattr(time, "time_ns", lambda: round((now - 86_400) * 1e9))
    storage = harness.connect()
    campaign = Campaign.create("late", **TERMS, storage=storage)
    campaign.ask()
    (entry,) = list(storage.entries("late", 1, 1))
    assert now - 1 < entry.at / 1000 < now + 600
    storage.db._check(_monotonic(), 5_000_000, schema.VERSION)  # until the next answer
    assert 5_000 <= storage.now() < 6_000
    storage.names()
    assert storage.now() / 1000 > now - 1
    storage.close()


def test_a_slow_answer_does_not_set_the_clock_back(
    make_harness: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What others have asked for expires in time, however late the last answer was here."""
    harness = make_harness("postgres")
    here, there = connect(harness.address), connect(f"{harness.address}&application_name=there")
    other = Campaign.create("c", **TERMS, expires_after=0.001, storage=there)
    campaign = Campaign.open("c", storage=here)
    for _ in range(5):
        here.names()  # one of these is quick, on a busy machine, too
    check = Postgres._check

    def late(*given: Any) -> None:
        time.sleep(0.5)
        check(*given)

    with monkeypatch.context() as patch:
        patch.setattr(Postgres, "_check", late)
        here.names()
    other.ask()
    time.sleep(0.1)
    assert campaign.expire() == 1
    for storage in (here, there):
        storage.close()


def test_a_refusal_leaves_a_connection_that_works(make_harness: Any) -> None:
    harness = make_harness("postgres")
    campaign = harness.create("c", **TERMS)
    campaign.ask()
    harness.execute("UPDATE purse_levels SET name = 'elsewhere' WHERE name = 'c'")
    with pytest.raises(NotFound):
        campaign.ask()
    harness.execute("UPDATE purse_levels SET name = 'c' WHERE name = 'elsewhere'")
    assert campaign.ask().id == 2


def lose_connections(harness: Any) -> None:
    harness.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()"
    )


def test_a_lost_connection_is_made_anew(make_harness: Any) -> None:
    harness = make_harness("postgres")
    campaign = harness.create("c", **TERMS)
    campaign.ask("r")
    lose_connections(harness)
    assert campaign.ask("r").id == 1
    assert campaign.ask("s").id == 2
    lose_connections(harness)
    assert counts(campaign)["held"] == 2
    lose_connections(harness)
    assert Campaign.create("d", **TERMS, storage=campaign.storage).ask().id == 1
    lose_connections(harness)
    campaign.storage.keep("c", "mine", 1, "", b"")
    assert campaign.audit().ok


def test_a_connection_lost_in_the_middle_repeats_the_transaction_once(make_harness: Any) -> None:
    """A repeat finds out what was done: here, nothing."""
    harness = make_harness("postgres")
    campaign = harness.create("c", **TERMS)
    campaign.ask()
    storage, change, decided = campaign.storage, campaign.storage.change, []

    def losing(name: str, wants: ReadRequest, decide: Any) -> None:
        def decide_and_lose(locked: Any) -> Any:
            made = decide(locked)
            decided.append(locked.levels[-1].seq)
            if len(decided) == 1:
                lose_connections(harness)
            return made

        change(name, wants, decide_and_lose)

    storage.change = losing
    assert campaign.tell(1, 1, 1).duplicate is False
    assert decided == [2, 2]
    assert kinds(campaign) == ["created", "asked", "told"]
    decided.clear()
    assert campaign.ask("again").id == 2
    assert len(decided) == 2
    assert campaign.audit().ok


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_of_another_encoding_keeps_a_campaign(
    postgres_server: Any, encoding: str
) -> None:
    """A server that was set up without a locale makes databases without an encoding."""
    import psycopg

    name = f"purse_{encoding.lower()}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        words = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        connection.execute(f"CREATE DATABASE {name} {words}".encode())
    storage = connect(postgres_server.get_uri(database=name))
    campaign = Campaign.create("c", **TERMS, storage=storage)
    ticket = campaign.ask("über")
    assert [each.request for each in storage.entries("c", 1, 1)] == ["über"]
    assert campaign.tell(ticket, reward=1, cost=1).state == "told"
    assert storage.names() == ["c"]
    assert campaign.audit().ok
    storage.close()


def test_postgres_waits_for_commits_even_where_the_server_does_not(make_harness: Any) -> None:
    harness = make_harness("postgres")
    harness.execute(
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', "
        "current_database()); END $$"
    )
    storage = harness.storage()
    with storage.db.writing() as session:
        assert session.read([("SHOW synchronous_commit", ())]) == [[("on",)]]


def test_connections_of_the_parent_are_kept_open_in_a_child(make_harness: Any) -> None:
    storage = make_harness("postgres").storage()
    storage.names()
    database: Any = storage.db
    (reader,) = database._readers.idle
    database.renew()
    assert reader in fork_safety.left_behind
    assert storage.names() == []
    fork_safety.left_behind.remove(reader)
    reader.close()


def test_campaigns_at_one_address_share_connections(
    postgres_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    def connections(name: str) -> int:
        count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
        with psycopg.connect(postgres_address) as db:
            return db.execute(count, (name,)).fetchall()[0][0]

    address = f"{postgres_address}&application_name=of-fifteen"
    names = [f"c{number}" for number in range(15)]
    campaigns = [Campaign.create(name, **TERMS, storage=address) for name in names]
    campaigns += [Campaign.open(name, storage=address) for name in names]
    for campaign in campaigns:
        campaign.tell(campaign.ask(), 1, 1)
    assert connections("of-fifteen") == 2  # one that reads and one that writes
    first, second = (campaign.storage for campaign in campaigns[:2])
    with first.db.writing() as session:
        session.read([("SELECT 1", ())])
        second.close()  # does not wait for others
        assert connections("of-fifteen") == 1
    assert second.names() == sorted(names)
    # what else decides who connects, and to what
    monkeypatch.setenv("PGAPPNAME", "another")
    Campaign.open("c0", storage=address)
    monkeypatch.setenv("PGOPTIONS", "-csearch_path=public")
    assert connect(address).db is not first.db
    del campaign, campaigns, first, second, session
    gc.collect()
    assert connections("of-fifteen") == 0  # nobody has the storage any more


def test_writers_of_a_tree_get_their_turns_in_the_order_in_which_they_came(
    make_harness: Any,
) -> None:
    """One waits for the row, and the others for it: no commit wakes them all."""
    import psycopg

    harness = make_harness("postgres")
    harness.account("top", budget=9)
    below = {"account": "top"}
    names = [harness.create(name, **TERMS, **below).name for name in ("c", "d")] * 2
    waits = "SELECT wait_event FROM pg_stat_activity WHERE application_name LIKE 'writer-%'"
    waits += " AND wait_event_type = 'Lock' ORDER BY application_name"
    with psycopg.connect(harness.address) as foreign, ThreadPoolExecutor(4) as threads:
        foreign.execute("SELECT 1 FROM purse_levels WHERE name = 'top' FOR UPDATE")
        calls = []
        for number, name in enumerate(names, 1):
            address = f"{harness.address}&application_name=writer-{number}"
            calls.append(threads.submit(Campaign.open(name, storage=address).ask))
            with psycopg.connect(harness.address, autocommit=True) as db:
                while len(waiting := [row[0] for row in db.execute(waits).fetchall()]) < number:
                    time.sleep(0.01)
        foreign.rollback()
        assert [call.result().id for call in calls] == [1, 1, 2, 2]
    assert waiting == ["transactionid", "advisory", "advisory", "advisory"]


def test_tables_that_were_removed_are_made_again_by_the_next_who_opens(make_harness: Any) -> None:
    harness = make_harness("postgres")
    old = harness.create("c", **TERMS)
    schema = harness.address.rpartition("%3D")[2]
    harness.execute(f"DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}")
    with pytest.raises(StorageUnavailable, match="purse_levels"):
        old.ask()
    assert harness.create("c", **TERMS).ask().id == 1
    with pytest.raises(NotFound, match="'c' was deleted and recreated"):
        old.ask()


def test_new_files_and_exports_are_for_their_owner_alone(tmp_path: Path) -> None:
    """Contexts and labels are nobody else's business, whatever the umask says."""
    before = os.umask(0o022)
    try:
        storage = f"sqlite:///{tmp_path}/x.db"
        campaign = Campaign.create("test", arms={"a": 1}, budget=1, storage=storage)
        campaign.ask()
        campaign.export(tmp_path / "x.jsonl")
    finally:
        os.umask(before)
    modes = {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()}
    assert modes == dict.fromkeys(["x.db", "x.db-wal", "x.db-shm", "x.db-lock", "x.jsonl"], "0o600")
