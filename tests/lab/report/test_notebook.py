from __future__ import annotations

import re
from base64 import b64decode

import pytest

import purse
from purse import InvalidInput
from purse.lab.study.results import Study


@pytest.fixture(scope="module")
def study() -> Study:
    return purse.compare(
        {"<u>": "uniform"}, {"small & square": "misleading_ratio"}, budgets=[20, 60], n_paths=3
    )


def test_a_study_shows_its_tables_escaped(study: Study) -> None:
    shown = study._repr_html_()
    assert "<p>small &amp; square</p><table>" in shown
    assert "&lt;u&gt;" in shown
    assert "<u>" not in shown
    assert shown.count("<th ") == 3


def test_the_chart_is_a_picture_that_every_notebook_draws(study: Study) -> None:
    shown = study._repr_mimebundle_(include=None, exclude=None)
    assert list(shown) == ["text/html", "text/plain"]
    assert shown["text/plain"] == str(study)
    picture = re.match(
        r'<img [^>]*alt="regret" src="data:image/svg\+xml;base64,(.*?)">', shown["text/html"]
    )
    assert picture is not None
    svg = b64decode(picture[1]).decode()
    assert svg.startswith("<svg")
    assert "small &amp; square" in svg
    assert "background:#fff" in picture[0]


def test_a_study_gives_its_figures_by_name(study: Study) -> None:
    assert study.plot().name == "regret"
    assert study.plot("gain")._repr_html_().startswith("<img ")
    assert repr(study.plot()).startswith("<Figure 'regret': 1 panel; ")
    with pytest.raises(InvalidInput, match=r"unknown figure of this study 'gian'.* 'gain'"):
        study.plot("gian")


def test_a_study_is_one_line_in_a_list(study: Study) -> None:
    line = "<Study '<u> on small & square': one policy, one world, two budgets, three paths>"
    assert repr([study]) == f"[{line}]"
