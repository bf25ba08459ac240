from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse.offline.full_table import TableReplay, replay_table
from purse.offline.log_result import LogResult
from purse.offline.off_policy import METHODS, estimate_log
from purse.report import study_page
from purse.report.charts.base import policies_of
from purse.report.charts.bundle import javascript
from purse.report.charts.estimates import estimates
from purse.report.charts.export import figures_of, version
from purse.report.charts.players import MOST_ARMS, players_of
from purse.report.command import command
from purse.report.prose import log_replay
from purse.report.prose.table_replay import findings, summary
from purse.report.standings import digits, money, within
from purse.study.results import Study

DRAWN = "document.documentElement.dataset.drawn"
ARMS = {"small": (0.5, 0.02), "big <one>": (0.9, 0.09), "wasteful": (0.3, 0.05)}
SECTIONS = ["in-short", "gain", "shares", "runs", "left", "regret", "what-was-run"]


def table(n_rounds: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    rows = [
        (t, arm, float(rng.random() < reward), round(cost * rng.uniform(0.5, 1.5), 4))
        for t in range(n_rounds)
        for arm, (reward, cost) in ARMS.items()
    ]
    return pl.DataFrame(rows, ["round", "arm", "reward", "cost"], orient="row")


def log(n: int = 600) -> pl.DataFrame:
    rng, names, chances = np.random.default_rng(1), list(ARMS), np.array([0.6, 0.38, 0.02])
    arms = rng.choice(3, n, p=chances)
    rewards = rng.random(n) < np.array([reward for reward, _ in ARMS.values()])[arms]
    costs = np.array([cost for _, cost in ARMS.values()])[arms]
    return pl.DataFrame(
        {
            "arm": [names[arm] for arm in arms],
            "reward": rewards.astype(float),
            "cost": costs,
            "probability": chances[arms],
        }
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="module")
def played(home: Path) -> TableReplay:
    table().write_csv(home / "table.csv")
    return replay_table(
        home / "table.csv",
        policies=["uniform", "fixed:arm=0"],
        budgets=[0.5, 2.5],
        n_paths=8,
        folder=home / "table",
    )


@pytest.fixture(scope="module")
def told(home: Path) -> LogResult:
    log().write_csv(home / "log.csv")
    return estimate_log(
        home / "log.csv",
        policies=["fixed:arm=0", "fixed:arm=1", "uniform"],
        budgets=[0.4, 2],
        n_paths=10,
    )


@pytest.fixture(scope="module")
def pages(played: TableReplay, told: LogResult, home: Path) -> dict[str, Path]:
    return {
        "table": study_page.write_page(played.study, home / "table.html"),
        "log": told.publish(home / "log")[0],
    }


@pytest.fixture(scope="module")
def texts(pages: dict[str, Path]) -> dict[str, str]:
    return {kind: path.read_text(encoding="utf-8") for kind, path in pages.items()}


def answered(*rows: tuple[str, str, float, float]) -> pl.DataFrame:
    """Estimates with intervals, by policy and method; a half below zero is a refusal."""
    found = [
        (
            policy,
            5.0,
            method,
            *((None,) * 3 if half < 0 else (mean, mean - half, mean + half)),
            "why" if half < 0 else None,
        )
        for policy, method, mean, half in rows
    ]
    return pl.DataFrame(
        found,
        {
            "policy": pl.String,
            "budget": pl.Float64,
            "method": pl.String,
            "estimate": pl.Float64,
            "low": pl.Float64,
            "high": pl.Float64,
            "refused": pl.String,
        },
        orient="row",
    )


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_who_brings_a_table_reads_of_gain_first(texts: dict[str, str]) -> None:
    assert re.findall(r'<section id="([\w-]+)"', texts["table"]) == SECTIONS
    assert "<title>table.csv: which policy spends a budget best?</title>" in texts["table"]


def test_the_table_of_gains_has_policies_and_references_the_largest_gain_first(
    played: TableReplay, texts: dict[str, str]
) -> None:
    rows = re.findall(
        r'<tr(?: data-policy="[^"]*")?( class="reference")?>((?:<td>.*?</td>)+)</tr>',
        texts["table"].split('<section id="shares"')[0],
    )
    players = [
        (grey != "", *re.findall(r"<td>(?:<b>)?(.*?)(?:</b>)?</td>", cells)) for grey, cells in rows
    ]
    expected = [
        row
        for budget in (0.5, 2.5)
        for row in played.frame()
        .filter(budget=budget)
        .sort("gain", descending=True, maintain_order=True)
        .to_dicts()
    ]
    assert [player[1].replace("&lt;", "<").replace("&gt;", ">") for player in players] == [
        row["player"] for row in expected
    ]
    assert [player[0] for player in players] == [row["kind"] != "policy" for row in expected]
    assert [player[3] for player in players] == [f"{row['share']:.1%}" for row in expected]
    assert all(
        player[2].startswith(digits(row["gain"]))
        for player, row in zip(players, expected, strict=True)
    )
    # the best policy with each budget
    assert len(re.findall(r"<td><b>", "".join(cells for _, cells in rows))) == 2


def test_a_replay_says_in_short_what_was_replayed(played: TableReplay) -> None:
    short = summary(played.study)
    assert short.startswith(
        "Two policies on 60 rounds of three arms with budgets of 0.5 and 2.5, in eight "
        "random orders of the rounds, the same for every policy "
    )
    assert "(seed 0, stop rule retry). Gain is the sum of rewards" in short
    assert "growth" not in short


def test_findings_are_about_the_optimum_and_the_best_single_arm(played: TableReplay) -> None:
    found = findings(played.study)
    assert list(found) == ["B = 0.5", "B = 2.5"]
    frame = played.frame().filter(budget=0.5)
    best = frame.filter(kind="policy").sort("gain").row(-1, named=True)
    arm = frame.filter(kind="arm").sort("gain").row(-1, named=True)
    says = plain(found["B = 0.5"])
    assert says.startswith(
        f"`{best['player']}` gains most of the policies: "
        f"{within(best['gain'], best['gain_high'])}, {best['share']:.1%} of the LP "
        "optimum; "
    )
    assert (
        f"The best single arm, `{arm['player'].partition(' (')[0]}`, gains "
        f"{within(arm['gain'], arm['gain_high'])}: " in says
    )


def test_one_order_is_not_called_certain(played: TableReplay) -> None:
    study = replace(
        played.study,
        facts={**played.study.facts, "n_paths": 1},
        data=played.study.lazy().filter(pl.col("path") == 0),
    )
    assert "One order tells nothing about chance" in summary(study)
    assert "interval" not in "".join(findings(study).values())


def test_the_gain_figure_has_a_panel_for_each_budget_and_a_row_for_each_player(
    played: TableReplay,
) -> None:
    figures = {figure.name: figure for figure in figures_of(played.study)}
    assert list(figures) == ["gain", "shares", "runs", "left", "regret"]
    assert [panel.world for panel in figures["gain"].panels] == ["B = 0.5", "B = 2.5"]
    rows = figures["gain"].spec()["concat"][0]["layer"][1]["encoding"]["y"]["scale"]["domain"]
    assert rows == [
        "uniform",
        "fixed:arm=0",
        *(f"always {arm}" for arm in ARMS),
        "best fixed mixture",
        "LP optimum",
        "hindsight optimum",
    ]
    assert "gain" in figures["runs"].spec()["concat"][0]["layer"][0]["encoding"]["x"]["field"]


def test_of_many_arms_those_that_gain_most_are_drawn() -> None:
    many = pl.DataFrame(
        {
            "player": [f"always {arm}" for arm in range(20)],
            "kind": "arm",
            "gain": [float(arm % 10) for arm in range(20)],
        }
    )
    assert [player.split()[1] for player in players_of(many)] == [
        str(arm) for arm in (*range(6, 10), *range(16, 20))
    ]
    assert len(players_of(many)) == MOST_ARMS


def test_the_folder_knows_that_it_is_a_replay(played: TableReplay, home: Path) -> None:
    again = Study.load(home / "table")
    assert again.facts["replay"] == {
        "kind": "table",
        "data": "table.csv",
        "rounds": 60,
        "horizon": 60,
        "arms": list(ARMS),
    }
    assert (
        again.facts["command"]
        == f"purse replay {home / 'table.csv'} --budget 0.5 --budget 2.5 uniform fixed:arm=0 "
        "--paths 8"
    )
    assert findings(again) == findings(played.study)


def test_the_page_of_a_log_has_every_part(texts: dict[str, str], told: LogResult) -> None:
    text = texts["log"]
    assert re.findall(r'<section id="([\w-]+)"', text) == [
        "in-short",
        "gain",
        "arms",
        "what-was-run",
    ]
    assert "big &lt;one&gt;" in text
    assert "<one>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "the effective sample size" in text
    assert "600 logged rounds of three arms (10 simulated games, seed 0, stop rule exit)" in text
    assert text.count('class="warnings"') == len(told.warnings) == 0
    assert json.loads(re.search(r'id="spec-estimates">(.*?)</script>', text, re.DOTALL)[1])[
        "concat"
    ]  # type: ignore[index]
    coded = re.search(r'base64,([^"]*)" download="estimates.csv"', text)[1]  # type: ignore[index]
    assert base64.b64decode(coded).decode() == told.frame().write_csv()


def test_refusals_are_rows_of_the_table_with_their_reason_and_no_points(
    texts: dict[str, str], told: LogResult
) -> None:
    refused = told.frame().filter(pl.col("refused").is_not_null())
    assert set(refused["policy"]) >= {"uniform"}
    assert "<li>[1] plays arm &#39;wasteful&#39;, whose effective sample size is" in texts["log"]
    assert len(re.findall(r"<td>\[\d+\]</td>", texts["log"])) == refused.height
    figure = estimates(told.frame())
    assert figure is not None
    drawn = [row for rows in figure.spec()["datasets"].values() for row in rows]
    assert len(drawn) == told.frame().height - refused.height
    assert policies_of(figure.data) == ["fixed:arm=0", "fixed:arm=1", "uniform"]


def test_a_log_that_tells_nothing_makes_a_page_without_a_figure(
    told: LogResult, tmp_path: Path
) -> None:
    silent = replace(
        told,
        answers=tuple(
            answer._replace(refused="plays arm 'x', which was never logged")
            for answer in told.estimates
        ),
    )
    files = silent.publish(tmp_path)
    assert [file.name for file in files] == ["report.html", "arms.csv", "estimates.csv"]
    text = files[0].read_text(encoding="utf-8")
    assert "About any policy this log can tell nothing: every method refuses." in text
    assert "spec-estimates" not in text


def test_doubtful_probabilities_are_a_warning_on_top(tmp_path: Path) -> None:
    wrong = log().with_columns(
        probability=pl.when(pl.col("arm") == "small").then(0.3).otherwise("probability")
    )
    found = estimate_log(wrong, policies="fixed:arm=0", budgets=0.4, n_paths=4, methods=["snips"])
    text = found.publish(tmp_path)[0].read_text(encoding="utf-8")
    assert text.index('class="warnings"') < text.index("In short")
    assert "<b>Warning.</b> frame: the probabilities of arm" in text
    assert (
        "purse.offline.off_policy.estimate_log(frame, budgets=[0.4], "
        "policies=[&#39;fixed:arm=0&#39;], n_paths=4, methods=[&#39;snips&#39;])" in text
    )


def test_a_finding_names_the_best_and_says_that_intervals_do_not_overlap() -> None:
    found = answered(
        ("a", "replay", 9, 1), ("b", "replay", 5, 1), ("a", "snips", 10, 1), ("b", "snips", 6, 1)
    )
    assert plain(log_replay.finding(found)) == (
        "By `replay` and `snips` `a` is estimated best: 10 ± 1 (`snips`); the next, `b`, "
        "would gain 6 ± 1, and their intervals do not overlap."
    )


def test_a_finding_does_not_tell_apart_what_overlaps() -> None:
    found = answered(("a", "snips", 10, 1), ("b", "snips", 9, 0.5), ("c", "snips", 2, 1))
    assert plain(log_replay.finding(found)).endswith(
        "the interval of `b` overlaps with its own: this log does not tell them apart."
    )


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
        "By `snips`, which answers for 2 of 3 policies, `a` is estimated best: 10 ± 1; "
        "the next, `b`, would gain 8 ± 0.5, and their intervals do not overlap. "
        "By `replay`, which answers for 1 of 3 policies, `b` would gain 5 ± 1. About `c` "
        "this log can tell nothing: every method refuses. "
        "The methods differ by more than their intervals for `b`: a sign that something "
        "below does not hold."
    )


def test_every_method_is_explained() -> None:
    assert list(log_replay.METHODS) == list(METHODS)


def test_numbers_are_read_with_the_digits_that_count() -> None:
    assert [
        within(1234.5, 1357.2),
        within(12.345, 12.9),
        within(7.0, 7.0),
        within(3.0, float("nan")),
    ] == ["1,234 ± 123", "12.35 ± 0.55", "7", "3"]
    assert [money(1e6), money(0.25), money(3.0)] == ["1,000,000", "0.25", "3"]


def test_what_no_command_can_say_is_said_in_python() -> None:
    options = {"horizon": 50, "stop": "hold", "reward": "my score"}
    assert command(Path("my data.csv"), "uniform", 3, "purse.replay", **options) == (
        "purse replay 'my data.csv' --budget 3 uniform --horizon 50 --stop hold --reward 'my score'"
    )
    assert (
        command(Path("t.csv"), [purse.policies.load("uniform")], [3], "purse.replay")
        == "purse.replay('t.csv', budgets=[3], policies=[purse.policies.uniform])"
    )


def test_the_script_of_the_charts_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "purse").mkdir()
    made = []
    import vl_convert

    def bundle(vl_version: str) -> str:
        made.append(vl_version)
        return "script"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    assert [javascript(version()), javascript(version())] == ["script", "script"]
    assert made == [version()]
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")
    assert javascript(version()) == "script"


@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("kind", ["table", "log"])
def test_the_pages_draw_themselves_without_complaint_or_network_and_fit(
    pages: dict[str, Path], opened: Any, kind: str, width: int, dark: bool
) -> None:
    with opened(pages[kind], width=width, dark=dark) as (view, complaints):
        view.wait_for_function(DRAWN)
        assert complaints == []
        assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert view.evaluate(
            "[...document.querySelectorAll('.panel svg')].every(each => "
            "each.getBoundingClientRect().right <= window.innerWidth)"
        )
        assert view.evaluate(
            "[...document.querySelectorAll('.panel')].every(each => "
            "each.querySelector('.role-mark path, .role-mark line'))"
        )
        light = (
            view.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        )
        assert light != dark


def test_one_order_of_worthless_rounds_makes_a_page(opened: Any, tmp_path: Path) -> None:
    nothing = pl.DataFrame(
        {"reward_a": [0.0] * 9, "cost_a": [1.0] * 9, "reward_b": [0.0] * 9, "cost_b": [2.0] * 9}
    )
    found = replay_table(nothing, policies="uniform", budgets=5, n_paths=1)
    assert found.frame()["share"].null_count() == found.frame().height
    assert findings(found.study) == {
        "B = 5": "`uniform` gains 0. The best single arm, `always a`, gains 0: as much."
    }
    with opened(study_page.write_page(found.study, tmp_path / "report.html")) as (view, complaints):
        view.wait_for_function(DRAWN)
        assert complaints == []


def test_a_method_picked_in_the_legend_is_picked_out(pages: dict[str, Path], opened: Any) -> None:
    with opened(pages["log"]) as (view, complaints):
        view.wait_for_function(DRAWN)
        view.get_by_role("button", name="snips", exact=True).click()
        faint = view.evaluate(
            "[...document.querySelectorAll('.panel .mark-symbol path')].map(each => "
            "[each.__data__.datum.method, each.getAttribute('opacity')])"
        )
        assert {method for method, opacity in faint if opacity == "1"} == {"snips"}
        assert {opacity for method, opacity in faint if method != "snips"} == {"0.15"}
        assert complaints == []


def test_references_stay_where_a_policy_is_picked_out(pages: dict[str, Path], opened: Any) -> None:
    with opened(pages["table"]) as (view, _):
        view.wait_for_function(DRAWN)
        view.get_by_role("button", name="uniform", exact=True).click()
        # the other policy with each of two budgets
        assert view.locator("#gain tr.faint").count() == 2
        assert view.locator("#gain tr.reference").count() == 2 * (len(ARMS) + 3)
