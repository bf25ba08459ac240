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


def test_groups_without_a_verb_help_and_the_version_is_a_verb(command: Command) -> None:
    for verb in ("campaign", "token"):
        code, out, err = command(verb)
        assert (code, err) == (0, "")
        assert out.startswith(f"Usage: purse {verb} ")
    assert command("version")[1] == command("--version")[1]


def test_help_fits_a_terminal(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for verb in ("", "campaign"):
        assert [line for line in command(f"{verb} --help")[1].splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("compare exp3++.b", "exp3++.bwk"),
        ("simulate uniform -w two_w", "two_worlds"),
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
