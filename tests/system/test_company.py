"""The worked example of a company's budgets, followed literally from an empty folder."""

from __future__ import annotations

import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli import main
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "company.md").read_text()
FILES = ("receiver.py", "webhooks.toml", "traffic.py")  # of the page, in their order
BLOCK = re.compile(r"```(console|python|toml|text)\n(.*?)```", re.DOTALL)
# dates, ids and what follows from them
VARIES = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|digest [0-9a-f]{32}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_the_page_does_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = PAGE.replace("8099", str(free_port()))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    files, said = iter(FILES), list[str]()
    for kind, block in BLOCK.findall(page):
        if kind in ("python", "toml"):
            (tmp_path / next(files)).write_text(block)
        elif kind == "text" and said:
            printed = "".join(said)
            for line in VARIES.sub("...", block).splitlines():
                assert line in printed, (line, printed)
        elif kind == "console":
            said = [
                VARIES.sub("...", done(line[2:], monkeypatch, capsys))
                for line in block.splitlines()
            ]


def done(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command of the page, and return what it printed. Those of purse run in this process:
    each would load it for half a second.
    """
    variables, purse, words = line.rpartition("purse ")
    if not purse:
        return subprocess.run(
            ["bash", "-c", line], stdout=subprocess.PIPE, text=True, timeout=300, check=True
        ).stdout
    with monkeypatch.context() as patch:
        for variable in variables.split():
            patch.setenv(*variable.split("=", 1))
        assert main(patch, *shlex.split(words)) == 0
    return capsys.readouterr().out
