from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from purse.lab.offline.estimates import METHODS
from purse.lab.offline.log_result import LogResult
from purse.lab.offline.off_policy import estimate_log
from purse.lab.report.charts.base import policies_of
from purse.lab.report.charts.estimates import estimates
from purse.lab.report.prose import log_replay
from tests.lab.report.made_up import plain, recorded_log
from tests.support.charts import checked_spec


def answered(*rows: tuple[str, str, float, float]) -> pl.DataFrame:
    """Estimates with intervals, by policy and method; a half below zero is a refusal."""
    texts, numbers = ["policy", "method", "refused", "kind"], ["budget", "estimate", "low", "high"]
    numbers.append("rounds")
    schema = dict.fromkeys(texts, pl.String) | dict.fromkeys(numbers, pl.Float64)
    found = [
        (policy, method, "why", kind_of(policy), 5.0, None, None, None, None)
        if half < 0
        else (policy, method, None, kind_of(policy), 5.0, mean, mean - half, mean + half, 9.0)
        for policy, method, mean, half in rows
    ]
    return pl.DataFrame(found, schema, orient="row")


def kind_of(player: str) -> str:
    return "arm" if player.startswith("always ") else "log" if player == "as logged" else "policy"


def test_the_page_of_a_log_has_every_part(
    replay_texts: dict[str, str], log_result: LogResult
) -> None:
    text = replay_texts["log"]
    sections = ["in-short", "gain", "arms", "what-was-run"]
    assert re.findall(r'<section id="([\w-]+)"', text) == sections
    assert "big &lt;one&gt;" in text
    assert "<one>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "the effective sample size" in text
    assert "600 logged rounds of three arms (10 simulated games, seed 0, stop rule exit)" in text
    assert text.count('class="warnings"') == len(log_result.warnings) == 0
    spec = re.search(r'id="spec-estimates">(.*?)</script>', text, re.DOTALL)[1]  # type: ignore[index]
    assert json.loads(spec)["concat"]
    coded = re.search(r'base64,([^"]*)" download="estimates.csv"', text)[1]  # type: ignore[index]
    assert base64.b64decode(coded).decode() == log_result.frame().write_csv()


def test_refusals_are_rows_of_the_table_with_their_reason_and_no_points(
    replay_texts: dict[str, str], log_result: LogResult
) -> None:
    refused = log_result.frame().filter(pl.col("refused").is_not_null())
    assert set(refused["policy"]) >= {"uniform"}
    assert (
        "<li>too few rows: plays arm &#39;wasteful&#39;, whose effective sample size is"
        in replay_texts["log"]
    )
    cells = re.findall(r"<td>(too few rows|log too short)</td>", replay_texts["log"])
    assert len(cells) == refused.height
    figure = estimates(log_result.frame())
    assert figure is not None
    drawn = [row for rows in checked_spec(figure)["datasets"].values() for row in rows]
    assert len(drawn) == log_result.frame().height - refused.height
    assert policies_of(figure.data) == ["fixed:arm=0", "fixed:arm=1", "uniform"]


def test_a_log_that_tells_nothing_makes_a_page_without_a_figure(
    log_result: LogResult, tmp_path: Path
) -> None:
    why = "plays arm 'x', which was never logged"
    refused = tuple(answer._replace(refused=why) for answer in log_result.estimates)
    files = replace(log_result, estimates=refused).publish(tmp_path)
    assert [file.name for file in files] == ["report.html", "arms.csv", "estimates.csv"]
    text = files[0].read_text(encoding="utf-8")
    assert "About any policy this log can tell nothing: every method refuses." in text
    assert "spec-estimates" not in text


def test_doubtful_probabilities_are_a_warning_on_top(tmp_path: Path) -> None:
    wrong = recorded_log().with_columns(
        probability=pl.when(pl.col("arm") == "small").then(0.3).otherwise("probability")
    )
    found = estimate_log(wrong, policies="fixed:arm=0", budgets=0.4, n_paths=4, methods=["snips"])
    text = found.publish(tmp_path)[0].read_text(encoding="utf-8")
    assert text.index('class="warnings"') < text.index("In short")
    assert "<b>Warning.</b> frame: the probabilities of arm" in text
    assert (
        "purse.lab.offline.off_policy.estimate_log(frame, budgets=[0.4], "
        "policies=[&#39;fixed:arm=0&#39;], horizon=&#39;none&#39;, n_paths=4, "
        "methods=[&#39;snips&#39;])" in text
    )


def test_a_finding_names_the_best_and_says_that_intervals_do_not_overlap() -> None:
    found = answered(
        ("a", "replay", 9, 1), ("b", "replay", 5, 1), ("a", "snips", 10, 1), ("b", "snips", 6, 1)
    )
    assert plain(log_replay.finding(found)) == (
        "**`a` is estimated best**: it gains **10 ± 1**. The next policy, `b`, gains 6 ± 1: less, "
        "beyond the intervals."
    )


def test_a_finding_leads_with_the_arm_that_beats_all_policies() -> None:
    found = answered(
        ("a", "snips", 8, 1),
        ("b", "snips", 6, 1),
        ("always x", "snips", 12, 1),
        ("always y", "snips", 11.5, 1),
        ("as logged", "snips", 3, 0.5),
    )
    assert plain(log_replay.finding(found)) == (
        "**Buy `x` in every round**: it is estimated to gain **12 ± 1**. The best of the policies, "
        "`a`, gains 8 ± 1: less, beyond the intervals. The next arm, `y`, gains 11.5 ± 1: the "
        "intervals overlap, and this log does not tell them apart. As logged, the budget gained "
        "3 ± 0.5."
    )


def test_a_finding_does_not_tell_apart_what_overlaps() -> None:
    found = answered(("a", "snips", 10, 1), ("b", "snips", 9, 0.5), ("c", "snips", 2, 1))
    assert plain(log_replay.finding(found)).endswith(
        "the interval of `b` overlaps with its own: this log does not tell them apart."
    )


@pytest.mark.parametrize(
    ("rows", "lead"),
    [
        (
            [("always x", 5, 1), ("always y", 4.8, 1), ("a", 4.5, 1), ("as logged", 4, 1)],
            "**The log cannot tell what is best**: `always x` has the largest estimate, **5 ± 1**, "
            "and all policies and arms lie within the intervals.",
        ),
        (
            [("a", 0, -1), ("always x", 0, -1), ("as logged", 1.6, 1.5)],
            "**This log is too small to tell**: as logged, the budget gained **1.6 ± 1.5**",
        ),
        (
            [("always x", -2, 0.5), ("always y", -4, 0.5), ("a", -3, 0.1)],
            "**Buy nothing**: the least that is lost is **-2 ± 0.5**, by `always x`.",
        ),
    ],
)
def test_a_finding_says_where_nothing_can_be_told_or_gained(
    rows: list[tuple[str, float, float]], lead: str
) -> None:
    found = answered(*((player, "snips", mean, half) for player, mean, half in rows))
    assert plain(log_replay.finding(found)).startswith(lead)


def test_a_budget_that_pays_for_no_pull_says_so() -> None:
    found = answered(("a", "snips", 0, 0), ("always x", "snips", 0, 0))
    says = plain(log_replay.finding(found.with_columns(rounds=pl.lit(0.0))))
    assert says.startswith("**The budget pays for no pull**: nothing can be bought with it.")


def test_methods_that_disagree_or_refuse_are_named() -> None:
    found = answered(
        ("a", "replay", 0, -1),
        ("b", "replay", 5, 1),
        ("c", "replay", 0, -1),
        ("a", "snips", 10, 1),
        ("b", "snips", 8, 0.5),
        ("c", "snips", 0, -1),
    )
    assert plain(log_replay.finding(found)) == (
        "**`a` is estimated best**: it gains **10 ± 1**. The next policy, `b`, gains 8 ± 0.5: "
        "less, beyond the intervals. About `c` this log can tell nothing: every method refuses. "
        "The methods differ by more than their intervals for `b`: a sign that an assumption does "
        "not hold."
    )


def test_every_method_is_explained() -> None:
    assert list(log_replay.METHODS) == list(METHODS)
