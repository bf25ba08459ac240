from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Command, check_mistake

VERBS = "compare init run status show report replay simulate regret bounds policies worlds"


@pytest.mark.parametrize("verb", ["", *VERBS.split()])
def test_help_helps(command: Command, verb: str) -> None:
    code, out, _ = command(f"{verb} --help")
    assert code == 0
    assert "Usage: purse" in out


def test_without_words_it_helps(command: Command) -> None:
    code, out, _ = command()
    assert code == 0
    assert out.startswith("Usage: purse")


def test_an_unknown_verb_is_a_mistake(command: Command, tmp_path: Path) -> None:
    check_mistake(command, tmp_path, "compere", "No such command 'compere'")
