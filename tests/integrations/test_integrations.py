"""The page of the documentation runs as it is written; without a package its extra is named."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from purse import Campaign
from tests.support.paths import ROOT

if TYPE_CHECKING:
    from tests.support.litellm_lab import Lab

CODE = """
import importlib, sys
for module, package, extra in [line.split() for line in sys.argv[1:]]:
    sys.modules[package] = None  # as where it is not installed
    try:
        importlib.import_module(f"purse.integrations.{module}")
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


def test_without_the_package_one_line_names_the_extra() -> None:
    words = ["litellm litellm litellm", "pydantic_ai pydantic_ai pydantic-ai"]
    done = subprocess.run(
        [sys.executable, "-c", CODE, *words], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "MissingExtra: purse.integrations.litellm needs litellm: "
        "pip install 'purse-bandits[litellm]'",
        "MissingExtra: purse.integrations.pydantic_ai needs pydantic_ai: "
        "pip install 'purse-bandits[pydantic-ai]'",
    ]


def test_the_python_of_the_page_runs_as_written(
    lab: "Lab", tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
