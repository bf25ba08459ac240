"""`--device cuda` reaches the GPU from the commands of research, and changes no number."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner

from research.leaderboard import __main__ as board_command
from research.leaderboard import leaderboard as play
from research.leaderboard.games import WHAT_USERS_HAVE
from research.paper import __main__ as paper_command
from tests.support.lab import fake_gpu
from tests.support.soak import SOAK

LATE = next(case for case in WHAT_USERS_HAVE if case.delay != 0)
PROMPT = next(case for case in WHAT_USERS_HAVE if case.delay == 0 and not case.adversary)


def printed(words: list[str], *more: str) -> dict[str, Any]:
    result = CliRunner().invoke(board_command.leaderboard, [*words, *more, "--json"])
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.stdout)
    return answer


@pytest.mark.parametrize(
    ("module", "function", "command"),
    [
        (board_command, "play", board_command.leaderboard),
        (paper_command, "study", paper_command.paper),
    ],
)
def test_every_command_hands_the_device_on(
    module: ModuleType, function: str, command: click.Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices: list[str] = []

    def stop(*_: Any, device: str, **__: Any) -> None:
        devices.append(device)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, function, stop)
    CliRunner().invoke(command, ["--device", "cuda"])
    assert devices == ["cuda"]


@pytest.mark.skipif(not SOAK, reason="compiles for half a minute: set PURSE_SOAK")
def test_a_leaderboard_is_played_there_but_for_late_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_command, "write_figure", lambda *_, **__: [])
    monkeypatch.setattr(play, "SUITES", {"2": (PROMPT, LATE)})
    words = ["uniform", "--suite", "2", "--quick", "-o"]
    here = printed([*words, str(tmp_path / "here")])
    calls = fake_gpu(monkeypatch)
    there = printed([*words, str(tmp_path / "there")], "--device", "cuda")
    assert there["standings"] == here["standings"]
    # each arm alone has its reports at once
    assert [call.policy for call in calls if not call.policy.startswith("fixed")] == ["uniform"]
