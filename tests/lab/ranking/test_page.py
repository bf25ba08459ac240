"""Advice and pages, from records by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purse.lab.ranking import advice, comparisons, in_traffic, tables
from purse.lab.ranking.case import Case
from purse.lab.ranking.page import ALL, PAGES, markdown
from purse.lab.ranking.record import Record, record_of
from purse.lab.ranking.scores import Alone, Leaderboard
from purse.lab.report.charts.export import render_svg
from tests.support.charts import checked_spec


def record(
    means: dict[str, dict[str, float]],
    cases: list[Case],
    refusals: dict[tuple[str, str], str] | None = None,
    **more: Any,
) -> Record:
    """The record of two paths, 0.05 above and below the mean of each policy on each case."""
    scores = {
        (policy, case): np.array([mean - 0.05, mean + 0.05])
        for policy, row in means.items()
        for case, mean in row.items()
    }
    return record_of(Leaderboard(tuple(cases), tuple(means), scores, refusals or {}, **more))


def by_hand(situation: str = "s", suite: str = "2") -> Record:
    """Three cases of two situations: `a` is best in the first, `b` in the second and on average."""
    means = {
        "a": {"one": 0.1, "two": 0.2, "three": 0.9},
        "b": {"one": 0.3, "two": 0.4, "three": 0.1},
        "c": {"one": 0.0, "two": 0.0},
        "d": {"one": 0.0},
    }
    pairs = (("one", situation), ("two", situation), ("three", "t"))
    cases = [Case(name, about, "w", 1) for name, about in pairs]
    refusals = {
        ("c", "three"): "c needs to know what each arm costs, and that it does not change",
        ("d", "two"): "d needs a horizon",
        ("d", "three"): "d needs a horizon",
    }
    alone = {"one": Alone(0.45, 0.9), "two": Alone(0.0, 0.5), "three": Alone(0.2, 0.2)}
    return record(means, cases, refusals, suite=suite, alone=alone)


def test_the_policies_of_each_situation_by_mean_score() -> None:
    record = by_hand()
    # c knows costs, and d does not play all cases of s
    first = advice.rank(record, ["s"])
    assert [choice.policy for choice in first] == ["a", "b"]
    assert first[0] == ("a", pytest.approx(0.15), pytest.approx(0.2), "two")
    assert [choice.policy for choice in advice.rank(record, ["t"])] == ["b", "a"]
    # a situation counts once: (0.35 + 0.1) / 2 against (0.15 + 0.9) / 2
    best, other = advice.rank(record, ["s", "t"])
    assert best == ("b", pytest.approx(0.225), pytest.approx(0.4), "two")
    assert other.mean == pytest.approx(0.525)


def test_the_default_is_taken_where_none_is_better_by_more_than_half_a_percent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = advice.Choice("best", 0.01, 0.02, "one")
    near, far = (advice.Choice("usual", mean, 0.03, "two") for mean in (0.015, 0.0151))
    monkeypatch.setattr("purse.policies.DEFAULT", "usual")
    assert advice.recommend([first, near]) == near
    assert advice.reason([first, near]) == (
        "Its mean regret is 1.5%, and 3.0% at worst (two); `best` has 1.0%, which is hardly better."
    )
    assert advice.recommend([first, far]) == first
    assert advice.recommend([]) is None


def test_the_reason_is_a_sentence_made_from_the_numbers() -> None:
    found = advice.rank(by_hand(), ["s"])
    assert advice.reason(found) == (
        "Its mean regret is 15%, and 20% at worst (two); `b` follows with 35%."
    )
    assert advice.reason(found[:1]) == "Its mean regret is 15%, and 20% at worst (two)."
    assert advice.reason([]) == "No policy on this board plays all of these cases."


def test_shares_of_the_gains_of_arms_alone() -> None:
    one, two, three = comparisons.shares(by_hand(), "a")
    assert one == ("one", pytest.approx(2.0), pytest.approx(1.0))
    assert two == ("two", None, pytest.approx(1.6))
    assert three == ("three", pytest.approx(0.5), pytest.approx(0.5))
    assert [share.case for share in comparisons.shares(by_hand(), "d")] == ["one"]


@pytest.mark.parametrize(
    ("default", "said", "unsaid"),
    [
        (
            "a",
            [
                f"# {PAGES['2'].title}\n",
                "Every policy on every case of suite 2: 3 cases, 4 policies",
                f"| {ALL} | `b` | Its mean regret is 22%, and 40% at worst (two); ",
                "| s | `a` | Its mean regret is 15%, and 20% at worst (two); ",
                "These have to be told what each arm costs: `c`.",
                "](leaderboard-2.svg)",
                "What `a`, the default, earns",
                "The smallest shares are 50% (three) of the cheapest arm's gain and 50% (three)",
                "| two | — | 160% |",
                "| one | 200% | 100% |",
            ],
            "replan",
        ),
        ("z", ["| t | `b` |"], "the default, earns"),
        # directly below the recommendations
        ("replan", ["| t | `b` |", "Nothing protects `replan`", "## Standings"], "earns"),
    ],
)
def test_the_page_says_what_to_take_and_why(
    default: str, said: list[str], unsaid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", default)
    text = markdown(by_hand(), "leaderboard-2.svg")
    assert [part for part in said if part not in text] == []
    assert unsaid not in text
    if default == "replan":
        assert sorted(said, key=text.index) == said


def test_the_page_of_long_games_takes_nobody_against_an_adversary() -> None:
    text = markdown(by_hand("an adversary", "1"), "x.svg")
    assert "**An adversary.** Nobody can do well: of all policies the best still loses 0.0%" in text
    assert "| t | `b` |" in text
    assert "| an adversary | `" not in text.partition("## Standings")[0]


def test_the_page_of_traffic_says_what_a_number_of_requests_is_worth() -> None:
    situations = (in_traffic.TOLD, in_traffic.UNTOLD, in_traffic.FEWER)
    cases = [Case(about, about, "w", 1) for about in situations]
    means = {"a": dict(zip(situations, (0.02, 0.5, 0.3), strict=True))}
    means["b"] = dict(zip(situations, (0.03, 0.4, 0.2), strict=True))
    text = markdown(record(means, cases, suite="traffic"), "x.svg")
    assert "the best policy loses 2.0%; told nothing it loses 40%" in text
    assert "told twice the number, 20%" in text
    # without these cases there is nothing to say
    assert "told nothing" not in markdown(by_hand(suite="traffic"), "x.svg")


@pytest.mark.parametrize(
    ("case", "row"),
    [
        (Case("c", "s", "same_costs", 1.8, 200), "c|s|`same_costs`|1.8|own||200"),
        (
            Case("c", "s", "w", (1e4, 2.0), 5, "wide", 70, "hold", 3),
            "c|s|`w`|10,000, 2|wide|horizon 70, reports 3 rounds late, stop rule `hold`|5",
        ),
        (
            Case("c", "s", "w", 1, delay="geometric:9"),
            "c|s|`w`|1|own|reports geometric:9 rounds late|20",
        ),
        (Case("c", "s", "one", 1, adversary=("one", "two")), "c|s|`one` or `two`|1|own||20"),
        (Case("c", "s", "w" * 200, 1), f"c|s|`{'w' * tables.LONGEST}…`|1|own||20"),
    ],
)
def test_a_row_of_the_table_of_cases(case: Case, row: str) -> None:
    assert tables.case_row(case) == row.split("|")


def test_the_page_says_what_contexts_are_worth_and_who_gets_it() -> None:
    text = "linear_contexts:rows=64,horizon=100"
    cases = [Case("one", "s", text, 13), Case("two", "s", f"{text},strength=0", 13)]
    means = {"lin-ucb.price": {"one": 0.1}, "replan": {"one": 0.4, "two": 0.05}}
    page = markdown(record(means, cases, suite="3"), "leaderboard-3.svg")
    blind = comparisons.blind_share(cases[0])
    assert f"| one | {1 / blind - 1:+.0%} | 60.0% (`replan`) | 90.0% (`lin-ucb.price`) |" in page
    assert "(`lin-ucb.price`) | +50.0% | yes" in page
    assert "| two | +0% | 95.0% (`replan`) | — | — | — |" in page
    assert comparisons.blind_share(cases[1]) == pytest.approx(1)


def test_the_heat_map_has_a_cell_for_each_case_that_a_policy_plays() -> None:
    cases = [Case("one", "s", "w", 1), Case("two", "s", "w", 1)]
    means = {"a": {"one": 0.1, "two": 0.53}, "b": {"one": -0.2}, "c": {"one": -1e-9, "two": 0.1}}
    board = record(means, cases)
    figure = tables.heat_figure(board)
    assert [(row, column) for row, column, _ in figure.data.rows()] == [
        (policy, case) for policy in "bca" for case in ("one", "two")
    ]
    assert figure.data["score"].to_list() == pytest.approx([-0.2, None, -1e-9, 0.1, 0.1, 0.53])
    (cells,) = checked_spec(figure)["datasets"].values()
    # below 0 a score has the colour of the end and its own label
    assert [cell["label"] for cell in cells] == ["-20.0", "0.0", "10", "10", "53"]
    assert [cell["shade"] for cell in cells[:2]] == [0.001, 0.001]
    assert render_svg(figure.spec) == render_svg(tables.heat_figure(board).spec)
    assert tables.cell(board, "c", "one").startswith("0.0\N{NO-BREAK SPACE}±")
