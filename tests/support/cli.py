"""The command as a user types it."""

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from purse import cli

WORLD = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
NEW = "new prompts --arm small=0.01 --arm large=0.05 --budget 25 --cost-min 0.0001 --policy uniform"
Command = Callable[..., tuple[int, str, str]]  # words -> exit code, stdout, stderr
Run = Callable[..., str]  # words of `purse campaign` -> stdout


# a machine that compiles slowly says so after some seconds, which is no complaint
PROGRESS = re.compile(r"^.*: \d+(% after \d+ s| s so far)\n", re.MULTILINE)


def main(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["purse", *words])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


def complaint(command: Command, line: str, code: int = 2) -> str:
    """What the command says on stderr, which is one line, with an exit code and nothing on
    stdout.
    """
    found, out, err = command(line)
    assert (found, out, err.count("\n")) == (code, "", 1), err
    return err


def check_mistake(command: Command, folder: Path, words: str, message: str) -> None:
    """One line, exit code 2, and nothing is written."""
    (folder / "taken").write_text("")
    before = sorted(folder.rglob("*"))
    said = complaint(command, words)
    assert said.startswith("purse: ")
    assert message in said
    assert sorted(folder.rglob("*")) == before
