from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Command, check_mistake


@pytest.mark.parametrize(
    "verb",
    [
        (),
        ("compare",),
        ("init",),
        ("run",),
        ("status",),
        ("show",),
        ("report",),
        ("replay",),
        ("simulate",),
        ("regret",),
        ("bounds",),
        ("policies",),
        ("worlds",),
    ],
)
def test_help_helps(command: Command, verb: tuple[str, ...]) -> None:
    code, out, _ = command(*verb, "--help")
    assert code == 0
    assert "Usage: purse" in out


def test_without_words_it_helps(command: Command) -> None:
    code, out, _ = command()
    assert code == 0
    assert out.startswith("Usage: purse")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compere", "No such command 'compere'"),
    ],
)
def test_mistakes(command: Command, tmp_path: Path, words: str, message: str) -> None:
    check_mistake(command, tmp_path, words, message)
