from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import purse
from tests.support.paths import ROOT

NAMES: list[str] = vars(purse)["__all__"]


def test_importing_purse_loads_nothing_heavy() -> None:
    code = (
        "import sys, purse; print(*{'numba', 'numpy', 'polars', 'click', "
        "'rich', 'scipy', 'gymnasium', 'altair', 'joblib'} & set(sys.modules))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == ""
    )


def test_every_public_name_is_there_and_unknown_ones_are_not() -> None:
    assert all(getattr(purse, name) is not None for name in NAMES)
    assert set(NAMES) <= set(dir(purse))
    with pytest.raises(AttributeError, match="simulat"):
        getattr(purse, "simulat")  # noqa: B009
    with pytest.raises(AttributeError, match="bernouli"):
        purse.worlds.bernouli  # noqa: B018


def test_every_error_is_a_purse_error() -> None:
    errors = [
        value
        for name in NAMES
        if isinstance(value := getattr(purse, name), type) and issubclass(value, Exception)
    ]
    assert len(errors) == 16
    assert all(issubclass(error, purse.PurseError) for error in errors)


PAGES = [
    "README.md",
    *(
        f"docs/{page}.md"
        for page in (
            "quickstart",
            "campaigns",
            "alerts",
            "cap-llm-spending",
            "contexts-live",
            "recommend",
            "remote",
            "traffic",
            "studies",
            "notebooks",
            "adding-a-policy",
            "adding-a-world",
        )
    ),
]


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_the_documents_runs_as_written(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # not a copy: what another test compiled for a file is found by its path
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    scope: dict[str, Any] = {}
    # where no event loop runs: a browser's test may have left one in this thread
    with ThreadPoolExecutor(1) as thread:
        for block in blocks:
            thread.submit(exec, compile(block, page, "exec"), scope).result()


def test_the_policy_of_the_first_comparison_plays_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "compare-in-five-minutes.md").read_text()
    (tmp_path / "etc.py").write_text(page.split(":caption: etc.py\n\n")[1].split("```")[0])
    monkeypatch.chdir(tmp_path)
    world = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"
    study = purse.compare("etc.py", world, budgets=[100, 1000])
    ((_, grid),) = study.grids()
    cells = re.findall(r"\n  etc\.py +(\S+ ± \S+) +(\S+ ± \S+)", page)[0]
    assert tuple(grid[1][1:]) == cells
