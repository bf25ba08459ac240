from __future__ import annotations

import pytest

from purse.lab.ranking import page2, parts
from purse.lab.ranking.suite import Case
from tests.lab.ranking.test_advice import by_hand


def test_the_page_says_what_to_take_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", "a")
    text = page2.markdown(by_hand(), "leaderboard-2.svg")
    assert text.startswith(f"# {page2.TITLE}\n")
    assert "Every policy on every case of suite 2: 3 cases, 4 policies" in text
    assert f"| {parts.ALL} | `b` | Its mean regret is 22%, and 40% at worst (two); " in text
    assert "| s | `a` | Its mean regret is 15%, and 20% at worst (two); " in text
    assert "](leaderboard-2.svg)" in text
    assert "replan" not in text


def test_the_default_beside_players_who_learn_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", "a")
    text = page2.markdown(by_hand(), "x.svg")
    assert "What `a`, the default, earns" in text
    assert "The smallest shares are 50% (three) of the cheapest arm's gain and 50% (three)" in text
    assert "| two | — | 160% |" in text
    assert "| one | 200% | 100% |" in text
    monkeypatch.setattr("purse.policies.DEFAULT", "z")
    assert "the default, earns" not in page2.markdown(by_hand(), "x.svg")


def test_beside_the_default_the_page_warns_of_adversaries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.policies.DEFAULT", "replan")
    text = page2.markdown(by_hand(), "x.svg")
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
    assert parts.case_row(case) == row


def test_a_long_world_is_cut() -> None:
    text = parts.case_row(Case("c", "s", "w" * 200, 1))[2]
    assert text == "`" + "w" * parts.LONGEST + "…`"
