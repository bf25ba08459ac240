"""The worked example of a company's budgets, followed literally from an empty folder."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "company.md").read_text()
FILES = (
    "receiver.py",
    "webhooks.toml",
    "traffic.py",
)  # of the page, in their order
BLOCK = re.compile(r"```(console|python|toml|text)\n(.*?)```", re.DOTALL)
# dates, ids and what follows from them
VARIES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|digest [0-9a-f]{32}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    page = PAGE.replace("8099", str(free_port()))
    (tmp_path / "bin").mkdir()
    for name, words in (("purse", "-m purse"), ("python", "")):
        command = tmp_path / "bin" / name
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        command.chmod(0o755)
    path = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    folder, files, said = tmp_path / "company", iter(FILES), list[str]()
    folder.mkdir()
    for kind, block in BLOCK.findall(page):
        if kind in ("python", "toml"):
            (folder / next(files)).write_text(block)
        elif kind == "text" and said:
            printed = "".join(said)
            for line in VARIES.sub("...", block).splitlines():
                assert line in printed, (line, printed)
        elif kind == "console":
            said = [done(line[2:], folder, path) for line in block.splitlines()]


def done(command: str, folder: Path, path: dict[str, str]) -> str:
    """Run a command of the page, and return what it printed, without what varies."""
    ran = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, **path},
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,
        check=True,
    )
    return VARIES.sub("...", ran.stdout)
