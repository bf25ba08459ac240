"""`purse recommend --world` and `purse.recommend`: the best arm of simulated worlds."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest

import purse
from purse import InvalidInput
from purse.base import exit_codes
from tests.support.campaigns import refusal
from tests.support.cli import Command
from tests.support.paths import ROOT

THREE = "bernoulli:rewards=[.55,.85,.6],costs=[.2,.6,.9]"


def test_what_the_page_prints_is_what_is_printed(command: Command) -> None:
    page = (ROOT / "docs" / "recommend.md").read_text()
    line, printed = re.findall(r"\$ purse (recommend -w.*)\n((?:.+\n)+)```", page)[0]
    code, out, _ = command(line)
    assert (code, out) == (exit_codes.OK, printed)
    facts = json.loads(command(f"{line} --json")[1])
    study = purse.recommend(THREE, 500, n_paths=200)
    assert facts == json.loads(json.dumps(study.as_dict()))
    assert (study.best, study["best-arm"].wrong, study["uniform"].wrong) == (("1",), 0, 0)
    assert study["best-arm"].spent < study["uniform"].spent
    assert repr(study).startswith(f"<RecommendationStudy of {THREE}: 200 paths, budget 500")
    assert study._repr_html_().startswith("<p>bernoulli:")
    assert shlex.split(line)[2] == study.world


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ({"by": "ratio"}, ("0",)),
        ({"cap": "0.5"}, ("0",)),
        ({"cap": 0.1}, ()),
        ({"within": 0.4}, ("0", "1", "2")),
    ],
)
def test_the_truth_is_what_the_answers_are_held_against(
    question: dict[str, Any], best: tuple[str, ...]
) -> None:
    study = purse.recommend(THREE, 2000, n_paths=20, seed=3, **question)
    assert study.best == best
    for each in study.results:
        assert (each.certain, each.wrong, each.leader_right) == (1, 0, 1)


def test_where_the_budget_is_too_small_nothing_is_certain() -> None:
    study = purse.recommend(THREE, 10, n_paths=20)
    assert [each.certain for each in study.results] == [0, 0]
    assert all(0 < each.leader_right < 1 for each in study.results)
    assert all(each.spent <= 10 for each in study.results)
    assert refusal(InvalidInput, study.__getitem__, "greedy").startswith("sampling='greedy'")
