from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import purse
from purse import cli
from purse.campaign.storage.connect import in_memory
from tests.support.campaign_cli import Complaint, Run
from tests.support.cli import PROGRESS
from tests.support.server import served
from tests.support.service import token_file


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `purse campaign` with a line, and words that follow it, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def go(line: str, *more: str, stdin: str | None = None, code: int = 0) -> Result:
        words = ["campaign", *shlex.split(line), *more]
        result = CliRunner().invoke(cli.cli, words, input=stdin)
        if result.exception is not None and not isinstance(
            result.exception, (SystemExit, purse.PurseError)
        ):
            raise result.exception
        said = PROGRESS.sub("", result.stderr)
        assert (result.exit_code, said) == (code, said if code else ""), result.output
        return result

    return go


@pytest.fixture
def complaint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Complaint:
    """What the command says on stderr, which is one line, with an exit code and nothing on
    stdout.
    """
    monkeypatch.chdir(tmp_path)

    def go(line: str, *more: str, code: int = 2) -> str:
        monkeypatch.setattr(sys, "argv", ["purse", "campaign", *shlex.split(line), *more])
        with pytest.raises(SystemExit) as exit_:
            cli.main()
        captured = capsys.readouterr()
        said = PROGRESS.sub("", captured.err)
        assert (exit_.value.code, captured.out, said.count("\n")) == (code, "", 1)
        return said

    return go


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that wants a token, which the environment has."""
    file, tokens = token_file(tmp_path)
    with served(storage=in_memory(), tokens=file) as at:
        monkeypatch.setenv("PURSE_STORAGE", at.url)
        monkeypatch.setenv("PURSE_TOKEN", tokens["admin"])
        yield at.url
