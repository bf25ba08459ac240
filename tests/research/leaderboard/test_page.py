"""Advice and pages, from records by hand."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from purse.lab.figure import render_svg
from research.leaderboard import in_traffic, notes, tables
from research.leaderboard.case import Case
from research.leaderboard.domination import dominated
from research.leaderboard.heat_map import heat_map
from research.leaderboard.page import ALL, PAGES, leaderboard_page, markdown
from research.leaderboard.record import Record, record_of
from research.leaderboard.scores import Alone, Leaderboard
from tests.support.lab import checked_spec


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
    suite = more.pop("suite", "1")
    board = Leaderboard(tuple(cases), tuple(means), scores, refusals or {}, suite, **more)
    return record_of(board)


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
    first = tables.rank(record, ["s"])
    assert [choice.policy for choice in first] == ["a", "b"]
    assert first[0] == ("a", pytest.approx(0.15))
    assert [choice.policy for choice in tables.rank(record, ["t"])] == ["b", "a"]
    # a situation counts once: (0.35 + 0.1) / 2 against (0.15 + 0.9) / 2
    best, other = tables.rank(record, ["s", "t"])
    assert best == ("b", pytest.approx(0.225))
    assert other.mean == pytest.approx(0.525)


def test_the_default_is_taken_where_none_is_better_by_more_than_half_a_percent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = tables.Choice("best", 0.01)
    near, far = (tables.Choice("usual", mean) for mean in (0.015, 0.0151))
    monkeypatch.setattr("purse.policies.DEFAULT", "usual")
    assert tables.recommend([first, near]) == near
    assert tables.recommend([first, far]) == first
    assert tables.recommend([]) is None


def test_wins_and_shares_of_the_best_by_hand() -> None:
    record = by_hand()
    # c and d are best in "one" and c in "two", b in "three"
    assert [record.wins(policy) for policy in "abcd"] == [0, 1, 2, 1]
    assert record.share_of_best("a") == pytest.approx((0.9 / 1 + 0.8 / 1 + 0.1 / 0.9) / 3)
    assert record.share_of_best("c") == 1


def test_who_dominates_whom_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "purse.policies.load", lambda name: SimpleNamespace(PLAYS=1 + (name == "e"))
    )
    cases = [Case(name, name, "w", 1) for name in ("one", "two")]
    means = {
        "a": {"one": 0.2, "two": 0.2},
        "b": {"one": 0.9, "two": 0.21},  # a is better in "one", and the same within the noise
        "c": {"one": 0.9, "two": 0.9},  # a leads by more than b
        "d": {"one": 0.1},  # which is better there than all others
        "e": {"one": 0.95, "two": 0.95},  # plays several arms a round
        "uniform": {"one": 0.99, "two": 0.99},
        "k": {"one": 0.0, "two": 0.0},  # is told what each arm costs
    }
    scores = {
        (policy, case): np.array([mean - 0.01, mean, mean + 0.01])
        for policy, row in means.items()
        for case, mean in row.items()
    }
    refusals = {("k", "three"): "k needs to know what each arm costs"}
    board = Leaderboard(tuple(cases), tuple(means), scores, refusals, "2")
    assert dominated([record_of(board)]) == {"b": "a", "c": "a"}


def test_shares_of_the_gains_of_arms_alone() -> None:
    one, two, three = notes.shares(by_hand(), "a")
    assert one == ("one", pytest.approx(2.0), pytest.approx(1.0))
    assert two == ("two", None, pytest.approx(1.6))
    assert three == ("three", pytest.approx(0.5), pytest.approx(0.5))
    assert [share.case for share in notes.shares(by_hand(), "d")] == ["one"]


@pytest.mark.parametrize(
    ("default", "said", "unsaid"),
    [
        (
            "a",
            [
                f"# {PAGES['2'].title}\n",
                "plays its 3 cases",
                f"| {ALL} | `b` | 22% | 52% |",
                "| s | `a` | 15% | 15% |",
                "does `a`, the default, earn less than 50% (three) of what the cheapest arm alone "
                "earns, or than 50% (three)",
                "2 of 4 policies play every case",
                "](leaderboard-2.svg)",
                "](cases-2.csv)",
            ],
            "| `c` |",  # which plays two cases
        ),
        ("z", ["| t | `b` | 10% | — |"], "the default, earn"),
    ],
)
def test_the_page_says_what_to_take_and_why(
    default: str, said: list[str], unsaid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", default)
    text = markdown(by_hand())
    assert [part for part in said if part not in text] == []
    assert unsaid not in text


def test_an_adversary_is_no_worst_case_and_nobody_is_taken_against_it() -> None:
    text = markdown(by_hand("an adversary", "1"))
    assert "Against an adversary the best policy still loses 0.0%: two worlds" in text
    assert "| t | `b` |" in text
    assert "| an adversary | `" not in text
    assert "| in its worst case, no adversary |" in text
    assert "| `b` | 26.7" in text
    assert " | 10% | " in text.partition("| `b` | 26.7")[2].partition("\n")[0]


def test_the_page_of_all_suites_begins_with_what_to_take_in_each() -> None:
    text = leaderboard_page([by_hand(suite="1"), by_hand(suite="2")], "files/", "policies")
    first = text.partition("## Long games")[0]
    assert "| [What users have](#what-users-have) | `b` |\n" in first
    assert '<a href="#long-games">Long games</a>' in first
    assert "](files/leaderboard-2.svg)" in text.partition("## What users have")[2]


def test_the_page_of_traffic_says_what_a_number_of_requests_is_worth() -> None:
    situations = (in_traffic.TOLD, in_traffic.UNTOLD, in_traffic.FEWER)
    cases = [Case(about, about, "w", 1) for about in situations]
    means = {"a": dict(zip(situations, (0.02, 0.5, 0.3), strict=True))}
    means["b"] = dict(zip(situations, (0.03, 0.4, 0.2), strict=True))
    text = markdown(record(means, cases, suite="traffic"))
    assert "the best policy loses 2.0%; told nothing it loses 40%" in text
    assert "told twice the number, 20%" in text
    # without these cases there is nothing to say
    assert "told nothing" not in markdown(by_hand(suite="traffic"))


@pytest.mark.parametrize(
    ("case", "row"),
    [
        (Case("c", "s", "same_costs", 1.8, 200), "c|s|same_costs|1.8|own||200"),
        (
            Case("c", "s", "w", (1e4, 2.0), 5, "wide", 70, "hold", 3),
            "c|s|w|10,000, 2|wide|horizon 70, reports 3 rounds late, stop rule hold|5",
        ),
        (
            Case("c", "s", "w", 1, delay="geometric:9"),
            "c|s|w|1|own|reports geometric:9 rounds late|20",
        ),
        (Case("c", "s", "one", 1, adversary=("one", "two")), "c|s|one or two|1|own||20"),
    ],
)
def test_a_row_of_the_table_of_cases(case: Case, row: str) -> None:
    assert tables.case_row(case) == row.split("|")


def test_the_page_says_what_contexts_are_worth_and_who_gets_it() -> None:
    text = "linear_contexts:rows=64,horizon=100"
    cases = [Case("one", "s", text, 13), Case("two", "s", f"{text},strength=0", 13)]
    means = {"lin-ucb.price": {"one": 0.1}, "replan": {"one": 0.4, "two": 0.05}}
    page = markdown(record(means, cases, suite="3"))
    blind = notes.blind_share(cases[0])
    assert f"by {1 / blind - 1:+.0%} to " in page  # nobody sees contexts in the other
    assert "gains more than the best blind one in 1 of 1 cases, +50% in the median one" in page
    assert notes.blind_share(cases[1]) == pytest.approx(1)


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


def test_names_fit_a_picture_in_a_font_that_is_wider_than_the_renderers() -> None:
    data = pl.DataFrame({"row": ["n" * 20], "column": ["one"], "score": [0.5]})
    svg = render_svg(heat_map("x", "x", data).spec)
    left = re.search(r"translate\(([\d.]+),", svg)
    assert left is not None
    # an n of DejaVu Sans is 0.634 of its size, and one of Liberation Sans 0.556
    assert float(left[1]) > 20 * 0.634 * 11.5 + 6
    assert 'font-size="11.5px"' in svg
