from pathlib import Path
from typing import Any

import pytest

import purse
from purse.lab.figure import Figure
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.table_replay import TableReplay
from purse.lab.study.results import Study
from tests.lab.page.made_up import made_up, recorded_log, recorded_table
from tests.support.replays import estimated


@pytest.fixture(scope="session")
def study() -> Study:
    return made_up()


@pytest.fixture(scope="session")
def one_budget() -> Study:
    return made_up(worlds=("stochastic",), policies=("learns", "uniform"), budgets=(5e3,))


@pytest.fixture(scope="session")
def one_path() -> Study:
    two = ("learns", "uniform")
    return made_up(worlds=("stochastic",), policies=two, budgets=(1e3, 1e4), n_paths=1, bare=True)


@pytest.fixture(scope="session")
def figures(study: Study) -> list[Figure]:
    return study.figures()


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("report")


@pytest.fixture(scope="session")
def table_replay(home: Path) -> TableReplay:
    recorded_table().write_csv(home / "table.csv")
    policies, folder = ["uniform", "fixed:arm=0"], home / "table"
    game: dict[str, Any] = {"budgets": [0.5, 2.5], "n_paths": 8}
    result = purse.replay(home / "table.csv", policies=policies, **game, folder=folder)
    assert isinstance(result, TableReplay)
    return result


@pytest.fixture(scope="session")
def log_result(home: Path) -> LogResult:
    recorded_log().write_csv(home / "log.csv")
    policies = ["fixed:arm=0", "fixed:arm=1", "uniform"]
    return estimated(home / "log.csv", policies=policies, budgets=[0.4, 2], n_paths=10)


@pytest.fixture(scope="session")
def pages(
    study: Study, table_replay: TableReplay, log_result: LogResult, home: Path
) -> dict[str, Path]:
    return {
        "study": study.report(home / "study.html"),
        "table": table_replay.study.report(home / "table.html"),
        "log": log_result.publish(home / "log")[0],
    }


@pytest.fixture(scope="session")
def texts(pages: dict[str, Path]) -> dict[str, str]:
    return {kind: path.read_text(encoding="utf-8") for kind, path in pages.items()}
