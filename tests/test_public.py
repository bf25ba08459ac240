"""The public names, the API and the commands change on purpose only, and documents run."""

import gc
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import purse
from tests.support.frozen import FILES, FOLDER
from tests.support.paths import ROOT
from tests.support.provider import Provider

NAMES = [
    "Account",
    "AskRefused",
    "AsyncAccount",
    "AsyncCampaign",
    "BudgetExhausted",
    "Campaign",
    "Conflict",
    "InvalidInput",
    "Policy",
    "PurseError",
    "__version__",
    "async_http_client",
    "cap",
    "compare",
    "errors",
    "http_client",
    "lab",
    "policies",
    "recommend",
    "replay",
    "reward",
    "simulate",
    "worlds",
]
LAB = [
    "Problem",
    "Regrets",
    "Run",
    "Study",
    "Ticket",
    "Trajectory",
    "World",
    "prior_from_log",
    "regrets",
    "theory",
    "warm",
]
THEORY = ["bounds", "coin_bounds", "contexts", "fluid", "knapsack"]


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


def test_the_public_names_are_these_and_unknown_ones_are_refused() -> None:
    for module, names in ((purse, NAMES), (purse.lab, LAB), (purse.lab.theory, THEORY)):
        assert vars(module)["__all__"] == names
        assert all(getattr(module, name) is not None for name in names)
    assert dir(purse) == NAMES
    with pytest.raises(AttributeError, match="simulat"):
        getattr(purse, "simulat")  # noqa: B009
    with pytest.raises(AttributeError, match="bernouli"):
        purse.worlds.bernouli  # noqa: B018


def test_every_error_is_a_purse_error() -> None:
    errors = [
        value
        for value in vars(purse.errors).values()
        if isinstance(value, type) and value.__module__ == "purse.errors"
    ]
    assert len(errors) == 19
    assert all(issubclass(error, purse.PurseError) for error in errors)


PAGES = [
    *(
        f"docs/{page}.md"
        for page in (
            "campaigns",
            "alerts",
            "company",
            "limits",
            "agents",
            "contexts",
            "recommend",
            "traffic",
            "studies",
            "adding-a-policy",
            "compare-in-five-minutes",
            "concepts",
            "llm-routing",
            "replay",
            "your-csv",
            "for-a-paper",
        )
    )
]


DATABASE = re.compile(r"sqlite:///([\w-]+)\.db")


def python_of(page: str) -> list[str]:
    """The Python on a page, without files that it names."""
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


# frameworks do not close the clients that they are handed
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("page", ["README.md", "docs/cap-llm-spending.md", "docs/evaluations.md"])
def test_calls_to_a_provider_print_what_a_page_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```(python|text)\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    scope, shown = dict[str, Any](), 0
    with Provider() as provider, ThreadPoolExecutor(1) as thread:
        for name, value in provider.environment().items():
            monkeypatch.setenv(name, value)
        for kind, text in blocks:
            if kind == "python":
                thread.submit(exec, compile(text, page, "exec"), scope).result()
            elif text.partition("\n")[0] in (printed := capsys.readouterr().out):
                assert text in printed
                shown += 1
        scope.clear()
        gc.collect()
    assert shown == {"README.md": 1, "docs/evaluations.md": 1}.get(page, 10)


@pytest.mark.parametrize("page", PAGES)
def test_the_python_of_the_documents_runs_as_written(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # not a copy: what another test compiled for a file is found by its path
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    blocks = python_of(page)
    assert blocks
    # where no event loop runs: a browser's test may have left one in this thread
    with ThreadPoolExecutor(1) as thread:
        # a page that keeps a campaign in a file goes on with it when it is read again
        for _ in range(2 if DATABASE.search("".join(blocks)) else 1):
            scope: dict[str, Any] = {}
            for block in blocks:
                thread.submit(exec, compile(block, page, "exec"), scope).result()


def test_no_two_pages_keep_their_campaigns_in_one_file() -> None:
    files = [name for page in PAGES for name in set(DATABASE.findall("".join(python_of(page))))]
    assert len(files) > 4
    assert sorted(files) == sorted(set(files))


def test_the_policy_of_the_first_comparison_plays_as_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs" / "compare-in-five-minutes.md").read_text()
    (tmp_path / "etc.py").write_text(page.split(":caption: etc.py\n\n")[1].split("```")[0])
    monkeypatch.chdir(tmp_path)
    world = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"
    study = purse.compare("etc.py", world, budgets=[100, 1000])
    (grid,) = study.grids()
    cells = re.findall(r"\n  etc\.py +(\S+ ± \S+) +(\S+ ± \S+)", page)[0]
    assert tuple(grid.rows[0][1:]) == cells


@pytest.mark.parametrize("name", FILES)
def test_it_is_as_it_was_published(name: str) -> None:
    published = (FOLDER / name).read_text(encoding="utf-8")
    assert FILES[name]() == published, "if this is meant: python -m tests.support.frozen"
