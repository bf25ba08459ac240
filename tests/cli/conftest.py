from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.cli import PROGRESS, Command, run


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Runs a command line, and words that follow it, in an empty folder; gives exit code, stdout
    and stderr.
    """
    monkeypatch.chdir(tmp_path)

    def go(line: str = "", *more: str) -> tuple[int, str, str]:
        code = run(monkeypatch, *shlex.split(line), *more)
        captured = capsys.readouterr()
        return code, captured.out, PROGRESS.sub("", captured.err)

    return go


@pytest.fixture
def unpublished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws no report, which takes longer than what these tests are about."""
    monkeypatch.setattr(
        "purse.lab.study.results.Study.publish", lambda _, folder: [folder / "report.html"]
    )
