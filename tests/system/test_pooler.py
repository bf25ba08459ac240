"""PostgreSQL behind PgBouncer in transaction mode: each transaction may have another session than
the one before, and a session comes from another client.
"""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import connect
from purse.campaign.terms import calendar
from purse.errors import StorageUnavailable
from tests.conftest import program
from tests.support.client_log import SHORT_HOUR
from tests.support.soak import scale
from tests.system.test_kills import check_after, started

SESSIONS = 3  # for all clients
databases = count()


@contextmanager
def pooling(folder: Path, server: Any) -> Iterator[subprocess.Popen[bytes]]:
    """PgBouncer in a folder of its own. Root may not run it; the server's user can reach both."""
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"""[databases]
* = host={server.pgdata} user=postgres
[pgbouncer]
unix_socket_dir = {folder}
auth_type = any
pool_mode = transaction
default_pool_size = {SESSIONS}
server_round_robin = 1
ignore_startup_parameters = options
"""
    )
    user = []
    if os.getuid() == 0:
        user = ["-u", Path(server.pgdata).owner()]
        for path in (folder, settings):
            os.chown(path, Path(server.pgdata).stat().st_uid, -1)
    process = subprocess.Popen([program("pgbouncer"), "-q", *user, str(settings)])
    try:
        while not (folder / ".s.PGSQL.6432").exists():
            assert process.poll() is None
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.wait()
        (folder / ".s.PGSQL.6432").unlink(missing_ok=True)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the server's user may go, too."""
    with tempfile.TemporaryDirectory(prefix="purse-pool-") as made:
        yield Path(made)


@pytest.fixture
def address(postgres_server: Any, folder: Path) -> str:
    """A database of its own: a pooler takes no schema in an address."""
    name = f"pooled_{next(databases)}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}".encode())
    return f"postgresql://postgres@/{name}?host={folder}&port=6432"


def test_transactions_that_change_sessions(
    postgres_server: Any, folder: Path, address: str
) -> None:
    with pooling(folder, postgres_server) as pooler:
        campaigns = [
            Campaign.create(f"c{k}", arms={"a": 1, "b": 3}, budget=1000, storage=address)
            for k in range(6)
        ]
        database: Any = campaigns[0].storage.db

        def play(campaign: Campaign) -> list[int]:
            for k in range(8):  # more often than psycopg does something before it prepares it
                campaign.tell(campaign.ask(f"r{k}"), 1, 1)
            return [campaign.ask(f"r{k}").id for k in range(8)]

        with ThreadPoolExecutor(6) as threads:
            assert list(threads.map(play, campaigns)) == [[*range(1, 9)]] * 6
        settings = [(f"SHOW {name}", ()) for name in ("lock_timeout", "statement_timeout")]
        sessions = set()
        for _ in range(2 * SESSIONS):
            with database.writing() as session:
                pid, *limits = session.read([("SELECT pg_backend_pid()", ()), *settings])
                sessions.add(pid[0])
                assert limits == [[("30s",)], [("30s",)]]
        assert len(sessions) == SESSIONS
        with psycopg.connect(address, autocommit=True) as other:  # meets none of these
            for _ in range(SESSIONS):
                assert other.execute("SHOW lock_timeout").fetchall() == [("0",)]
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                "current_database() AND pid <> pg_backend_pid()"
            )
        assert campaigns[0].ask("r8").id == 9
        pooler.kill()
        pooler.wait()
        with pytest.raises(StorageUnavailable):
            campaigns[0].ask("r9")
    with pooling(folder, postgres_server):
        assert [campaigns[0].ask(f"r{k}").id for k in range(11)] == [*range(1, 12)]
        for campaign in campaigns:
            assert campaign.audit().ok
        database.close()


def test_a_schema_that_a_pooler_ignores_is_refused(
    postgres_server: Any, folder: Path, address: str
) -> None:
    with (
        pooling(folder, postgres_server),
        pytest.raises(StorageUnavailable, match="a pooler, which does not keep '-csearch_path=me'"),
    ):
        connect(f"{address}&options=-csearch_path%3Dme")


def test_killed_clients_behind_a_pooler(
    tmp_path: Path,
    postgres_server: Any,
    folder: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calendar, "_HOUR", SHORT_HOUR)
    kills = scale(46, 1_200)
    with pooling(folder, postgres_server):
        check_after(address, tmp_path, started(address, tmp_path, kills), kills)
