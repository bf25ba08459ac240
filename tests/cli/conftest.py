import io
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from purse.campaign.storage.connect import in_memory
from tests.support.cli import PROGRESS, Command, Run, main
from tests.support.service import served, token_file


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    """Runs a command line, and words that follow it, in an empty folder; gives exit code, stdout
    and stderr.
    """
    monkeypatch.chdir(tmp_path)

    def go(line: str = "", *more: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main(monkeypatch, *shlex.split(line), *more)
        captured = capsys.readouterr()
        return code, captured.out, PROGRESS.sub("", captured.err)

    return go


@pytest.fixture
def run(command: Command) -> Run:
    """Runs `purse campaign` with a line, and words that follow it, which has to succeed without a
    complaint; gives what it prints.
    """

    def go(line: str, *more: str) -> str:
        code, out, err = command(f"campaign {line}", *more)
        assert (code, err) == (0, ""), err
        return out

    return go


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that wants a token, which the environment has."""
    file, tokens = token_file(tmp_path)
    with served(storage=in_memory(), tokens=file) as at:
        monkeypatch.setenv("PURSE_STORAGE", at.url)
        monkeypatch.setenv("PURSE_TOKEN", tokens["admin"])
        yield at.url


@pytest.fixture
def unpublished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws no report, which takes longer than what these tests are about."""
    monkeypatch.setattr(
        "purse.lab.study.results.Study.publish", lambda _, folder: [folder / "report.html"]
    )
