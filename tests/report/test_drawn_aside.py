from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import purse
from purse.base.processes import start_helper
from purse.report.charts import drawn_aside
from purse.report.charts.drawn_aside import FigureHelper
from purse.report.charts.export import draw, version

BARS: dict[str, Any] = {
    "mark": "bar",
    "data": {"values": [{"x": 1}, {"x": 3}]},
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
SPECS = [BARS, {**BARS, "mark": "point"}]


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_aside, "usable_cores", lambda: 2)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_aside, "usable_cores", lambda: 1)


def drawn() -> Any:
    with FigureHelper() as helper:
        helper.begin(SPECS)
        return helper.drawn()


@pytest.mark.usefixtures("two_cores")
def test_another_process_draws_what_this_one_would() -> None:
    assert drawn() == [draw(spec, version()) for spec in SPECS]


@pytest.mark.usefixtures("alone")
def test_with_one_core_nobody_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn_aside, "start_helper", None)
    assert drawn() is None


@pytest.mark.usefixtures("two_cores")
def test_where_no_process_starts_nobody_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(code: str) -> None:
        raise FileNotFoundError("no Python")

    monkeypatch.setattr(drawn_aside, "start_helper", refuse)
    assert drawn() is None


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("code", ["raise SystemExit(1)", "import os; os.abort()"])
def test_a_process_that_fails_has_drawn_nothing(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    monkeypatch.setattr(drawn_aside, "HELPER", code)
    assert drawn() is None


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("begun", [True, False])
def test_an_error_stops_the_process(monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
    started: list[Any] = []

    def start(code: str) -> Any:
        started.append(start_helper("import time; time.sleep(600)"))
        return started[0]

    monkeypatch.setattr(drawn_aside, "start_helper", start)
    with pytest.raises(KeyboardInterrupt), FigureHelper() as helper:  # noqa: PT012
        if begun:
            helper.begin(SPECS)
        raise KeyboardInterrupt
    assert started[0].returncode < 0


@pytest.mark.usefixtures("two_cores")
def test_a_report_is_the_same_with_help_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = purse.compare(["uniform", "fixed"], "misleading_ratio", budgets=[20, 60], n_paths=4)
    helped = study.publish(tmp_path / "helped")
    monkeypatch.setattr(drawn_aside, "usable_cores", lambda: 1)
    plain = study.publish(tmp_path / "plain")
    assert [path.name for path in helped] == [path.name for path in plain]
    for path, other in zip(helped, plain, strict=True):
        assert path.read_bytes() == other.read_bytes()
