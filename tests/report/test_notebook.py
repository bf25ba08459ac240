from __future__ import annotations

import sys

import pytest

import purse
from purse.study.results import Study


@pytest.fixture(scope="module")
def study() -> Study:
    return purse.compare(
        {"<u>": "uniform"}, {"small & square": "misleading_ratio"}, budgets=[20, 60], n_paths=3
    )


def test_a_study_shows_its_tables_escaped(study: Study) -> None:
    shown = study._repr_html_()
    assert shown.startswith("<p>small &amp; square</p><table>")
    assert "&lt;u&gt;" in shown
    assert "<u>" not in shown
    assert shown.count("<th ") == 3


def test_a_study_shows_its_chart_where_a_notebook_can_draw_it(study: Study) -> None:
    shown = study._repr_mimebundle_(include=None, exclude=None)
    assert shown is not None
    chart, *fallbacks = shown
    assert chart.startswith("application/vnd.vegalite.v")
    assert shown[chart]["concat"][0]["title"] == "small & square"
    assert fallbacks == ["text/html", "text/plain"]
    assert shown["text/html"] == study._repr_html_()
    assert shown["text/plain"] == str(study)


def test_without_charts_there_are_still_tables(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    assert study._repr_mimebundle_() is None
    assert study._repr_html_()
