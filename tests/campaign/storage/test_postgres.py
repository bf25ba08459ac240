from __future__ import annotations

import sys
import time
from typing import Any

import pytest

from purse import (
    Campaign,
    MissingExtra,
    NoSuchCampaign,
    StorageUnavailable,
)
from purse.campaign.storage.connect import connect

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


def test_postgres_without_its_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"needs the extra 'postgres'"):
        connect("postgresql://localhost/purse")


def test_a_password_is_not_in_an_error() -> None:
    with pytest.raises(StorageUnavailable) as caught:
        connect("postgresql://me:secret@127.0.0.1:1/purse?connect_timeout=2")
    assert "secret" not in str(caught.value)


def test_the_time_is_the_servers(make_harness: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All machines share it, whatever their own clocks say."""
    now = time.time()
    harness = make_harness("postgres")
    monkeypatch.setattr(time, "time_ns", lambda: round((now - 86_400) * 1e9))
    storage = harness.connect()
    campaign = Campaign.create("late", **TERMS, storage=storage)
    ticket = campaign.ask()
    assert now - 1 < ticket.asked_at < now + 600
    storage._clock.set(5_000)  # until the next answer
    assert 5_000 <= storage.now() < 6_000
    assert campaign.status().name == "late"
    assert storage.now() / 1000 > now - 1
    storage.close()


def test_a_refusal_leaves_a_connection_that_works(make_harness: Any) -> None:
    harness = make_harness("postgres")
    campaign = harness.create("c", **TERMS)
    campaign.ask()
    harness.execute("UPDATE purse_campaigns SET name = 'elsewhere' WHERE name = 'c'")
    with pytest.raises(NoSuchCampaign):
        campaign.ask()
    harness.execute("UPDATE purse_campaigns SET name = 'c' WHERE name = 'elsewhere'")
    assert campaign.ask().id == 2


def test_a_lost_connection_is_made_anew(make_harness: Any) -> None:
    harness = make_harness("postgres")
    campaign = harness.create("c", **TERMS)
    campaign.ask("r")
    harness.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()"
    )
    assert campaign.ask("r").id == 1
    assert campaign.ask("s").id == 2
    harness.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
        "current_database() AND pid <> pg_backend_pid()"
    )
    assert campaign.status().counts["held"] == 2


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
    assert ticket.request_id == "über"
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
    with storage._view() as db:
        assert db.execute("SHOW synchronous_commit").fetchone() == ("on",)
