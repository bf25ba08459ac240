"""A server of a socket in a thread of this process, or in a process of its own."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.server.socket_file import SocketFile
from purse.campaign.server.socket_server import SocketServer

LONG = 30.0  # seconds after which something that should have happened never will
Serving = Callable[..., Any]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short name: the path of a socket has at most 107 bytes."""
    made = Path(tempfile.mkdtemp(prefix="purse-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def path(folder: Path) -> str:
    """Where the socket is."""
    return str(folder / "s")


@contextmanager
def serving(storage: Any, path: str) -> Iterator[SocketServer]:
    """A server in a thread, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = SocketServer(storage, SocketFile(path))
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(LONG)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(LONG)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(LONG)
        loop.close()


def started(storage: str, path: str) -> subprocess.Popen[str]:
    """A server in a process of its own, which listens."""
    command = [sys.executable, "-m", "purse", "serve", "--socket", path, "--storage", storage]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = process.stderr.readline()
    assert '"listening"' in line, line + process.stderr.read()
    return process


def ended(process: subprocess.Popen[str]) -> str:
    """What the process still says; it has to end by itself."""
    _, said = process.communicate(timeout=LONG)
    assert process.returncode == 0, said
    return said
