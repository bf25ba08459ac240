from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from purse import policies, worlds
from purse._version import __version__
from purse.base.catalog import Groups
from purse.cli import cli
from purse.cli.lab import lab
from tests.support.cli import Command, check_mistake, complaint

TOP = "campaign account recommend serve token webhook demo replay compare lab policies warm"
LAB = "simulate regret init run status show report bounds optimum worlds"


def test_the_commands_are_these() -> None:
    assert (" ".join(cli.commands), " ".join(lab.commands)) == (TOP, LAB)


def test_groups_without_a_verb_help(command: Command) -> None:
    for verb in ("", "campaign", "token", "lab"):
        code, out, err = command(verb)
        assert (code, err) == (0, "")
        assert out.startswith(f"Usage: purse {verb}")
        assert command(f"{verb} --help") == (0, out, "")
    assert command("--version") == (0, f"purse, version {__version__}\n", "")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("compere", "did you mean 'compare'?"),
        ("lab simulat", "did you mean 'simulate'?"),
        ("simulate uniform", "did you mean 'purse lab simulate'?"),
        ("run study.toml", "did you mean 'purse webhook run' or 'purse lab run'?"),
        ("version", f"known: {', '.join(sorted(TOP.split()))}"),
    ],
)
def test_an_unknown_verb_is_a_mistake(
    command: Command, tmp_path: Path, line: str, hint: str
) -> None:
    check_mistake(command, tmp_path, line, hint)
    assert command(line)[2].startswith("purse: unknown command '")


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("compare exp3++.b", "exp3++.bwk"),
        ("lab simulate uniform -w two_w", "two_worlds"),
        ("campaign ask pro", "prompts"),
    ],
)
def test_the_tab_key_completes_names(
    command: Command, monkeypatch: pytest.MonkeyPatch, typed: str, found: str
) -> None:
    line = "campaign new prompts --arm a=1 --budget 5 --policy uniform"
    assert command(line)[0] == 0
    words = ["purse", *typed.split()]
    monkeypatch.setenv("_PURSE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert command("")[1] == f"plain,{found}\n"


def test_warm_compiles_and_says_where_the_code_is(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "purse.lab.replay.warm.warm", lambda **how: given.append(how) or Path("/code")
    )
    assert command("warm", "uniform", "--workers", "2") == (0, "Compiled code is in /code\n", "")
    assert command("warm")[0] == 0
    assert given == [{"policies": ("uniform",), "n_workers": 2}, {"n_workers": None}]


@pytest.mark.parametrize(
    ("verb", "names", "of"),
    [
        ("policies", policies.names(), policies.GROUPS),
        ("lab worlds", worlds.names(), worlds.GROUPS),
    ],
)
def test_lists_are_grouped_fit_a_terminal_and_explain_one(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
    names: list[str],
    of: Groups,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = command(verb)[1].splitlines()
    assert max(map(len, lines)) <= 80
    starts = [line.split()[0] for line in lines if line[:2] == "  " and line[2] != " "]
    assert sorted(starts) == names
    assert {name for members in of.values() for name in members} <= set(names)
    assert sum("(the default)" in line for line in lines) == (verb == "policies")
    assert len(lines) == len(names) + 2 * len([line for line in lines if line.endswith(":")]) + 1
    assert lines[-1] == f"`purse {verb} NAME` explains one, with its options."
    assert sorted(row["name"] for row in json.loads(command(f"{verb} --json")[1])) == names
    code, out, _ = command(f"{verb} {names[0]}")
    assert (code, "\n\nOptions: " in out) == (0, True)
    kind = verb.split()[-1][:-3].rstrip("i")
    assert f"unknown {kind}" in complaint(command, f"{verb} x")
