from __future__ import annotations

import polars as pl
import pytest

from purse.lab.offline.log_words import finding

Rows = list[tuple[str, str, float, float]]


def answered(*rows: tuple[str, str, float, float]) -> pl.DataFrame:
    """Estimates with intervals, by policy and method; a half below zero is a refusal."""
    texts, numbers = ["policy", "method", "refused", "kind"], ["budget", "estimate", "low", "high"]
    numbers.append("rounds")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    cells = [
        (policy, method, "why", kind_of(policy), 5.0, None, None, None, None)
        if half < 0
        else (policy, method, None, kind_of(policy), 5.0, mean, mean - half, mean + half, 9.0)
        for policy, method, mean, half in rows
    ]
    return pl.DataFrame(cells, schema, orient="row")


def kind_of(player: str) -> str:
    return "arm" if player.startswith("always ") else "log" if player == "as logged" else "policy"


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            [
                ("a", "replay", 9, 1),
                ("b", "replay", 5, 1),
                ("a", "snips", 10, 1),
                ("b", "snips", 6, 1),
            ],
            "**`a` is estimated best**: it gains **10 ± 1**. The next policy, `b`, gains 6 ± 1: "
            "less, beyond the intervals.",
        ),
        (
            [
                ("a", "snips", 8, 1),
                ("b", "snips", 6, 1),
                ("always x", "snips", 12, 1),
                ("always y", "snips", 11.5, 1),
                ("as logged", "snips", 3, 0.5),
            ],
            "**Buy `x` in every round**: it is estimated to gain **12 ± 1**. The best of the "
            "policies, `a`, gains 8 ± 1: less, beyond the intervals. The next arm, `y`, gains 11.5 "
            "± 1: the intervals overlap, and this log does not tell them apart. As logged, the "
            "budget gained 3 ± 0.5.",
        ),
        (
            [("a", "snips", 10, 1), ("b", "snips", 9, 0.5), ("c", "snips", 2, 1)],
            "**`a` is estimated best**: it gains **10 ± 1**. The next policy, `b`, gains 9 ± 0.5; "
            "the interval of `b` overlaps with its own: this log does not tell them apart.",
        ),
        (
            [
                ("always x", "snips", 5, 1),
                ("always y", "snips", 4.8, 1),
                ("a", "snips", 4.5, 1),
                ("as logged", "snips", 4, 1),
            ],
            "**The log cannot tell what is best**: `always x` has the largest estimate, **5 ± 1**, "
            "and all policies and arms lie within the intervals.",
        ),
        (
            [("a", "snips", 0, -1), ("always x", "snips", 0, -1), ("as logged", "snips", 1.6, 1.5)],
            "**This log is too small to tell**: as logged, the budget gained **1.6 ± 1.5**",
        ),
        (
            [
                ("always x", "snips", -2, 0.5),
                ("always y", "snips", -4, 0.5),
                ("a", "snips", -3, 0.1),
            ],
            "**Buy nothing**: the least that is lost is **-2 ± 0.5**, by `always x`.",
        ),
        (
            [
                ("a", "replay", 0, -1),
                ("b", "replay", 5, 1),
                ("c", "replay", 0, -1),
                ("a", "snips", 10, 1),
                ("b", "snips", 8, 0.5),
                ("c", "snips", 0, -1),
            ],
            "**`a` is estimated best**: it gains **10 ± 1**. The next policy, `b`, gains 8 ± 0.5: "
            "less, beyond the intervals. About `c` this log can tell nothing: every method "
            "refuses. The methods differ by more than their intervals for `b`: a sign that an "
            "assumption does not hold.",
        ),
    ],
)
def test_a_finding_says_who_is_best_and_how_sure_that_is(rows: Rows, says: str) -> None:
    assert finding(answered(*rows)).replace("\N{NO-BREAK SPACE}", " ").startswith(says)


def test_a_budget_that_pays_for_no_pull_says_so() -> None:
    rows = answered(("a", "snips", 0, 0), ("always x", "snips", 0, 0))
    says = finding(rows.with_columns(rounds=pl.lit(0.0)))
    assert says.startswith("**The budget pays for no pull**: nothing can be bought with it.")
