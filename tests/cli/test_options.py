"""Options that several verbs share, and the Tab key; `--device cuda` reaches the GPU from every
verb that plays many paths, and changes no number.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from purse.cli import cli
from purse.cli.options import complete_criteria
from tests.support.cli import NEW, WORLD, Command, Run, complaint
from tests.support.lab import fake_gpu

REGRET = ["lab", "regret", "uniform", "-w", WORLD, "-b", "50", "-n", "3"]
COMPARE = ["compare", "uniform", "-w", WORLD, "-b", "50", "-n", "3"]


def printed(words: list[str], *more: str) -> dict[str, Any]:
    result = CliRunner().invoke(cli, [*words, *more, "--json"])
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.mark.parametrize(
    ("words", "function"),
    [
        (COMPARE, "purse.lab.study.compare.run"),
        (REGRET, "purse.lab.study.regrets.regrets"),
        (["lab", "simulate", *REGRET[2:]], "purse.simulate"),
    ],
)
def test_every_verb_that_plays_hands_the_device_on(
    words: list[str], function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[str] = []

    def play(*_: Any, device: str, **__: Any) -> None:
        given.append(device)
        raise KeyboardInterrupt

    monkeypatch.setattr(function, play)
    CliRunner().invoke(cli, [*words, "--device", "cuda"])
    assert given == ["cuda"]


def test_all_notions_of_regret_are_played_there(monkeypatch: pytest.MonkeyPatch) -> None:
    here = printed(REGRET)
    assert printed(REGRET, "--device", "python") == here
    calls = fake_gpu(monkeypatch)
    assert printed(REGRET, "--device", "cuda") == here
    assert {call.policy for call in calls} == {"uniform", "fixed:arm=0", "fixed:arm=1"}


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


def test_the_tab_key_knows_what_an_arm_is_best_by() -> None:
    nothing: Any = None
    assert complete_criteria(nothing, nothing, "ra") == ["ratio"]


def test_the_storage_is_an_option_or_an_environment_variable(
    command: Command, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(NEW, "--storage", "sqlite:///other.db")
    assert (tmp_path / "other.db").exists()
    monkeypatch.setenv("PURSE_STORAGE", "sqlite:///other.db")
    assert run("list").startswith("prompts\t")
    monkeypatch.delenv("PURSE_STORAGE")
    assert "there is no file" in complaint(command, "campaign list")
    assert not (tmp_path / "purse.db").exists()
