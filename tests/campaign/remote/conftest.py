"""A server of a socket in a thread of this process, or in a process of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.socket_server import LONG as LONG
from tests.support.socket_server import serving as serving

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
