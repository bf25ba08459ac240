from __future__ import annotations

import json
from pathlib import Path

import pytest

from purse import policies, worlds
from purse.cli import groups
from tests.support.cli import Command, check_mistake


@pytest.mark.parametrize(
    ("verb", "name"), [("policies", "exp3++.bwk"), ("lab worlds", "two_worlds")]
)
def test_lists_and_explanations(command: Command, verb: str, name: str) -> None:
    code, out, _ = command(verb)
    assert code == 0
    assert name in out
    assert name in [row["name"] for row in json.loads(command(verb, "--json")[1])]
    code, out, _ = command(verb, name)
    assert code == 0
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize(
    ("verb", "names", "of"),
    [
        ("policies", policies.names(), groups.POLICIES),
        ("lab worlds", worlds.names(), groups.WORLDS),
    ],
)
def test_lists_are_grouped_and_fit_a_terminal(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    names: list[str],
    of: groups.Groups,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = command(verb)[1].splitlines()
    assert max(map(len, lines)) <= 80
    starts = [line.split()[0] for line in lines if line[:2] == "  " and line[2] != " "]
    assert sorted(starts) == names
    assert {name for members in of.values() for name in members} <= set(names)
    assert sum("(the default)" in line for line in lines) == (verb == "policies")


@pytest.mark.parametrize(
    ("words", "message"),
    [("policies exp4", "unknown policy 'exp4'"), ("lab worlds x", "unknown world 'x'")],
)
def test_mistakes(command: Command, tmp_path: Path, words: str, message: str) -> None:
    check_mistake(command, tmp_path, words, message)
