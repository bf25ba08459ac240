from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Command, check_mistake


@pytest.mark.parametrize(("verb", "name"), [("policies", "exp3++.bwk"), ("worlds", "two_worlds")])
def test_lists_and_explanations(command: Command, verb: str, name: str) -> None:
    code, out, _ = command(verb)
    assert code == 0
    assert name in out
    assert name in [row["name"] for row in json.loads(command(verb, "--json")[1])]
    code, out, _ = command(verb, name)
    assert code == 0
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize(
    ("words", "message"),
    [("policies exp4", "unknown policy 'exp4'"), ("worlds x", "unknown world 'x'")],
)
def test_mistakes(command: Command, tmp_path: Path, words: str, message: str) -> None:
    check_mistake(command, tmp_path, words, message)
