"""Advice and pages, from records by hand."""

from __future__ import annotations

import numpy as np
import pytest

from purse.lab.ranking import advice, context_worth, tables
from purse.lab.ranking.case import Case
from purse.lab.ranking.page import ALL, PAGES, markdown
from purse.lab.ranking.record import Record, record_of
from purse.lab.ranking.scores import Alone, Leaderboard
from purse.lab.ranking.trivial_players import shares
from purse.lab.report.charts.export import render_svg
from tests.support.charts import checked_spec


def by_hand() -> Record:
    """Three cases of two situations: `a` is best in the first, `b` in the second and on average."""
    cases = (Case("one", "s", "w", 1), Case("two", "s", "w", 1), Case("three", "t", "w", 1))
    means = {
        "a": {"one": 0.1, "two": 0.2, "three": 0.9},
        "b": {"one": 0.3, "two": 0.4, "three": 0.1},
        "c": {"one": 0.0, "two": 0.0},
        "d": {"one": 0.0},
    }
    scores = {
        (policy, case): np.array([mean - 0.05, mean + 0.05])
        for policy, row in means.items()
        for case, mean in row.items()
    }
    refusals = {
        ("c", "three"): "c needs to know what each arm costs, and that it does not change",
        ("d", "two"): "d needs a horizon",
        ("d", "three"): "d needs a horizon",
    }
    alone = {"one": Alone(0.45, 0.9), "two": Alone(0.0, 0.5), "three": Alone(0.2, 0.2)}
    return record_of(Leaderboard(cases, tuple("abcd"), scores, refusals, "2", alone))


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
    one, two, three = shares(by_hand(), "a")
    assert one == ("one", pytest.approx(2.0), pytest.approx(1.0))
    assert two == ("two", None, pytest.approx(1.6))
    assert three == ("three", pytest.approx(0.5), pytest.approx(0.5))
    assert [share.case for share in shares(by_hand(), "d")] == ["one"]


def test_the_page_says_what_to_take_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", "a")
    text = markdown(by_hand(), "leaderboard-2.svg")
    assert text.startswith(f"# {PAGES['2'].title}\n")
    assert "Every policy on every case of suite 2: 3 cases, 4 policies" in text
    assert f"| {ALL} | `b` | Its mean regret is 22%, and 40% at worst (two); " in text
    assert "| s | `a` | Its mean regret is 15%, and 20% at worst (two); " in text
    assert "](leaderboard-2.svg)" in text
    assert "replan" not in text


def test_the_default_beside_players_who_learn_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", "a")
    text = markdown(by_hand(), "x.svg")
    assert "What `a`, the default, earns" in text
    assert "The smallest shares are 50% (three) of the cheapest arm's gain and 50% (three)" in text
    assert "| two | — | 160% |" in text
    assert "| one | 200% | 100% |" in text
    monkeypatch.setattr("purse.policies.DEFAULT", "z")
    assert "the default, earns" not in markdown(by_hand(), "x.svg")


def test_beside_the_default_the_page_warns_of_adversaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", "replan")
    text = markdown(by_hand(), "x.svg")
    assert "Nothing protects `replan` against an adversary who knows it" in text
    # directly below the recommendations
    assert text.index("| t | `b` |") < text.index("Nothing protects") < text.index("## Standings")


@pytest.mark.parametrize(
    ("case", "row"),
    [
        (
            Case("c", "s", "same_costs", 1.8, 200),
            ["c", "s", "`same_costs`", "1.8", "own", "", "200"],
        ),
        (
            Case("c", "s", "w", (1e4, 2.0), 5, "wide", 70, "hold", 3),
            [
                *("c", "s", "`w`", "10,000, 2", "wide"),
                "horizon 70, reports 3 rounds late, stop rule `hold`",
                "5",
            ],
        ),
        (
            Case("c", "s", "one", 1, adversary=("one", "other")),
            ["c", "s", "`one` or `other`", "1", "own", "", "20"],
        ),
    ],
)
def test_a_row_of_the_table_of_cases(case: Case, row: list[str]) -> None:
    assert tables.case_row(case) == row


def test_a_long_world_is_cut() -> None:
    text = tables.case_row(Case("c", "s", "w" * 200, 1))[2]
    assert text == "`" + "w" * tables.LONGEST + "…`"


def test_the_page_says_what_contexts_are_worth_and_who_gets_it() -> None:
    cases = (
        Case("one", "s", "linear_contexts:rows=64,horizon=100", 13),
        Case("two", "s", "linear_contexts:rows=64,horizon=100,strength=0", 13),
    )
    means = {("lin-ucb.price", "one"): 0.1, ("replan", "one"): 0.4, ("replan", "two"): 0.05}
    scores = {key: np.full(4, mean) for key, mean in means.items()}
    board = Leaderboard(cases, ("lin-ucb.price", "replan"), scores, {}, "3", {})
    text = markdown(record_of(board), "leaderboard-3.svg")
    assert text.startswith(f"# {PAGES['3'].title}\n")
    blind = context_worth.blind_share(cases[0])
    assert (
        f"| one | {1 / blind - 1:+.0%} | 60.0% (`replan`) | 90.0% (`lin-ucb.price`) | +50.0% | yes"
        in text
    )
    assert "| two | +0% | 95.0% (`replan`) | — | — | — |" in text
    assert context_worth.blind_share(cases[1]) == pytest.approx(1)


def two_cases() -> Record:
    """Two policies, of which the second plays one of two cases."""
    cases = (Case("one", "s", "w", 1), Case("two", "s", "w", 1))
    scores = {
        ("a", "one"): np.array([0.1, 0.1, 0.1]),
        ("b", "one"): np.array([0.2, 0.25, 0.3]),
        ("a", "two"): np.array([0.5, 0.5, 0.6]),
    }
    return record_of(Leaderboard(cases, ("a", "b"), scores, {}))


def test_the_heat_map_has_a_cell_for_each_case_that_a_policy_plays() -> None:
    figure = tables.heat_figure(two_cases())
    assert figure.data.rows() == [
        ("b", "one", pytest.approx(0.25)),
        ("b", "two", None),
        ("a", "one", pytest.approx(0.1)),
        ("a", "two", pytest.approx(1.6 / 3)),
    ]
    spec = checked_spec(figure)
    (cells,) = spec["datasets"].values()
    assert [cell["label"] for cell in cells] == ["25", "10", "53"]
    axes = spec["concat"][0]["layer"][0]["encoding"]
    assert axes["y"]["scale"]["domain"] == ["b", "a"]
    assert axes["x"]["scale"]["domain"] == ["one", "two"]
    assert render_svg(spec) == render_svg(tables.heat_figure(two_cases()).spec)


def test_a_score_below_0_has_the_colour_of_the_end_and_its_own_label() -> None:
    scores = {("a", "one"): np.array([-0.2, -0.2]), ("b", "one"): np.array([-1e-9, -1e-9])}
    cases = (Case("one", "s", "w", 1),)
    board = record_of(Leaderboard(cases, ("a", "b"), scores, {}, "2"))
    figure = tables.heat_figure(board)
    assert figure.name == "leaderboard-2"
    (cells,) = figure.spec["datasets"].values()
    assert [cell["shade"] for cell in cells] == [0.001, 0.001]
    assert cells[0]["label"] == "-20.0"
    assert tables.cell(board, "b", "one") == "0.0\N{NO-BREAK SPACE}±\N{NO-BREAK SPACE}0.0"
