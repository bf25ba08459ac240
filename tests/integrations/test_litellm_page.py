"""The page of the documentation runs as it is written, and prints what it says."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from purse import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from tests.support.litellm_lab import Lab


def test_the_python_of_the_page_runs_as_written(
    lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # which policy chooses does not matter here, and the default one takes long to compile
    monkeypatch.setitem(Campaign.create.__func__.__kwdefaults__, "policy", "uniform")  # type: ignore[attr-defined]
    page = (ROOT / "docs" / "litellm.md").read_text()
    scope: dict[str, Any] = {}
    with ThreadPoolExecutor(1) as thread:  # where no event loop runs
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            thread.submit(exec, compile(block, "litellm.md", "exec"), scope).result()
    said = capsys.readouterr().out
    assert "says hello" in said
    (refused,) = re.findall(r"```text\n(campaign 'tiny': .*) and .*\n```", page)
    assert refused in said
    assert scope["found"]["campaign"] == "auto"
    assert scope["campaign"].status().counts["told"] == 1
