from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from purse.lab.offline.log_result import LogResult
from purse.lab.offline.off_policy import estimate_log
from purse.lab.offline.table_replay import TableReplay, replay_table
from purse.lab.report.charts.base import Figure
from purse.lab.report.study_page import figures_of
from tests.lab.report.made_up import MadeUp, recorded_log, recorded_table, save_page


@pytest.fixture(scope="session")
def study() -> MadeUp:
    return MadeUp()


@pytest.fixture(scope="session")
def one_budget() -> MadeUp:
    return MadeUp(worlds=("stochastic",), policies=("learns", "uniform"), budgets=(5e3,))


@pytest.fixture(scope="session")
def one_path() -> MadeUp:
    return MadeUp(
        worlds=("stochastic",),
        policies=("learns", "uniform"),
        budgets=(1e3, 1e4),
        n_paths=1,
        with_bounds=False,
        with_references=False,
    )


@pytest.fixture(scope="session")
def figures(study: Any) -> list[Figure]:
    return figures_of(study)


@pytest.fixture(scope="session")
def page(study: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_page(study, tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="session")
def table_replay(home: Path) -> TableReplay:
    recorded_table().write_csv(home / "table.csv")
    return replay_table(
        home / "table.csv",
        policies=["uniform", "fixed:arm=0"],
        budgets=[0.5, 2.5],
        n_paths=8,
        folder=home / "table",
    )


@pytest.fixture(scope="session")
def log_result(home: Path) -> LogResult:
    recorded_log().write_csv(home / "log.csv")
    return estimate_log(
        home / "log.csv",
        policies=["fixed:arm=0", "fixed:arm=1", "uniform"],
        budgets=[0.4, 2],
        n_paths=10,
    )


@pytest.fixture(scope="session")
def replay_pages(table_replay: TableReplay, log_result: LogResult, home: Path) -> dict[str, Path]:
    return {
        "table": table_replay.study.report(home / "table.html"),
        "log": log_result.publish(home / "log")[0],
    }


@pytest.fixture(scope="session")
def replay_texts(replay_pages: dict[str, Path]) -> dict[str, str]:
    return {kind: path.read_text(encoding="utf-8") for kind, path in replay_pages.items()}
