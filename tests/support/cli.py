"""The command as a user types it."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from purse import cli

WORLD = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
Command = Callable[..., tuple[int, str, str]]  # words -> exit code, stdout, stderr


# a machine that compiles slowly says so after some seconds, which is no complaint
PROGRESS = re.compile(r"^.*: \d+% after \d+ s\n", re.MULTILINE)


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["purse", *words])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def check_mistake(command: Command, folder: Path, words: str, message: str) -> None:
    """One line, exit code 2, and nothing is written."""
    (folder / "taken").write_text("")
    code, out, err = command(*shlex.split(words))
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("purse: ")
    assert message in err
    assert [path.name for path in folder.iterdir()] == ["taken"]
