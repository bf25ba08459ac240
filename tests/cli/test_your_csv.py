"""The page *Your CSV in five minutes* is followed as far as nothing has to be compiled."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cli import Command
from tests.support.paths import ROOT

PAGE = (ROOT / "docs" / "your-csv.md").read_text()


def test_the_page_makes_the_file_and_is_refused_as_it_says(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(script, "make_log.py", "exec"), {})
    said = re.findall(r"^\$ purse (replay .*)\n(purse: .*\n)", PAGE, re.MULTILINE)
    assert len(said) == 2
    for words, refusal in said:
        assert command(words) == (2, "", refusal)
    assert PAGE.count("\n" + "\n".join((tmp_path / "calls.csv").read_text().split("\n")[:3])) == 1
