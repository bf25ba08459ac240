from __future__ import annotations

import base64
import json
import re
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path

import polars as pl
import pytest

import purse
from purse.base.text import format_digits, format_gain
from purse.errors import MissingExtra
from purse.lab.data.question import METHODS
from purse.lab.page import captions
from purse.lab.page.charts.base import policies_of
from purse.lab.page.charts.replays import MOST_ARMS, _players_of, estimates
from purse.lab.replay.log_result import LogResult
from purse.lab.replay.table_replay import TableReplay
from purse.lab.study.manifest import Recording
from purse.lab.study.results import Study, TableStudy
from purse.lab.study.standings import NOTES
from tests.lab.page.made_up import ARMS, plain, recorded_log
from tests.support.lab import checked_spec
from tests.support.replays import estimated

SECTIONS = {
    "table": ["in-short", "gain", "shares", "runs", "left", "regret", "what-was-run"],
    "log": ["in-short", "gain", "arms", "what-was-run"],
}


@pytest.mark.parametrize("kind", SECTIONS)
def test_each_kind_has_its_sections_and_shows_names_escaped(
    texts: dict[str, str], kind: str
) -> None:
    text = texts[kind]
    assert re.findall(r'<section id="([\w-]+)"', text) == SECTIONS[kind]
    assert f"<title>{kind}.csv: which policy spends a budget best?</title>" in text
    assert "big &lt;one&gt;" in text
    assert "<one>" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)


def test_the_table_of_gains_has_policies_and_references_the_largest_gain_first(
    table_replay: TableReplay, texts: dict[str, str]
) -> None:
    rows = re.findall(
        r'<tr(?: data-policy="[^"]*")?( class="reference")?>((?:<td>.*?</td>)+)</tr>',
        texts["table"].split('<section id="shares"')[0],
    )
    best = table_replay.frame().sort("gain", descending=True, maintain_order=True)
    expected = [row for budget in (0.5, 2.5) for row in best.filter(budget=budget).to_dicts()]
    for (grey, cells), row in zip(rows, expected, strict=True):
        player, gain, share, *_ = re.findall(r"<td>(?:<b>)?(.*?)(?:</b>)?</td>", cells)
        assert unescape(player) == row["player"]
        assert (grey != "", share) == (row["kind"] != "policy", f"{row['share']:.1%}")
        assert gain.startswith(format_digits(row["gain"]))
    # the best policy with each budget
    assert len(re.findall(r"<td><b>", "".join(cells for _, cells in rows))) == 2


def test_a_table_says_in_short_what_was_replayed(table_replay: TableReplay) -> None:
    study = table_replay.study
    short = captions.table_summary(study.facts, study.facts.replay, study.lp_name)
    assert short.startswith(
        "Two policies on 60 rounds of three arms with budgets of 0.5 and 2.5, in eight "
        "random orders of the rounds, the same for every policy (seed 0, stop rule retry). Gain is "
        "the sum of rewards"
    )
    one = replace(
        study,
        facts=replace(study.facts, n_paths=1),
        data=study.lazy().filter(pl.col("path") == 0),
    )
    assert "One order tells nothing about chance" in one.html()
    assert "interval" not in "".join(one.answers())


def test_verdicts_are_about_the_optimum_and_the_best_single_arm(
    table_replay: TableReplay, texts: dict[str, str]
) -> None:
    verdicts = table_replay.verdicts()
    assert list(verdicts) == ["B = 0.5", "B = 2.5"]
    frame = table_replay.frame().filter(budget=0.5).sort("gain")
    best, arm = (frame.filter(kind=kind).row(-1, named=True) for kind in ("policy", "arm"))
    amount, other = (format_gain(row["gain"], row["gain_high"]) for row in (best, arm))
    says = plain(verdicts["B = 0.5"].sentence)
    assert says.startswith(
        f"On these 60 rows **`{best['player']}` gains most of the policies**: {amount}, "
        f"{best['share']:.1%} of the LP optimum; the best single arm, `small`, gains {other}: "
    )
    (lead,) = [line for line in table_replay.remarks() if line.startswith("B = 0.5: always")]
    assert re.match(r"B = 0.5: always small is [\d.]+ ± [\d.]+ ahead of ", plain(lead))
    assert plain(lead).replace("<", "&lt;").replace(">", "&gt;") in plain(texts["table"])


def test_the_page_of_a_table_says_which_rounds_are_left_out() -> None:
    rows = pl.DataFrame({"reward_a": [1.0, None] * 5, "cost_a": 1, "reward_b": 1.0, "cost_b": 2})
    result = purse.replay(rows, policies="uniform", budgets=4, n_paths=2, skip_empty=True)
    assert isinstance(result, TableReplay)
    text = result.study.html()
    assert "<h3>About the data</h3>" in text
    assert "<li>5 of 10 rows are left out, since a cell is empty" in text


def test_the_gain_figure_has_a_panel_for_each_budget_and_a_row_for_each_player(
    table_replay: TableReplay,
) -> None:
    figures = {figure.name: figure for figure in table_replay.study.figures()}
    assert list(figures) == ["gain", "shares", "runs", "left", "regret"]
    assert [panel.world for panel in figures["gain"].panels] == ["B = 0.5", "B = 2.5"]
    layers = checked_spec(figures["gain"])["concat"][0]["layer"]
    ranked = table_replay.frame().filter(budget=0.5).sort("gain", descending=True)
    rows = ranked["player"].str.replace(NOTES, "").to_list()
    assert layers[1]["encoding"]["y"]["scale"]["domain"] == rows
    assert "gain" in figures["runs"].spec["concat"][0]["layer"][0]["encoding"]["x"]["field"]
    gains = [float(arm % 10) for arm in range(20)]
    names = [f"always {arm}" for arm in range(20)]
    many = _players_of(pl.DataFrame({"player": names, "kind": "arm", "gain": gains}))
    assert many == [f"always {arm}" for arm in (*range(6, 10), *range(16, 20))]
    assert len(many) == MOST_ARMS


def test_the_folder_of_a_table_knows_that_it_is_a_replay(
    table_replay: TableReplay, home: Path
) -> None:
    again = Study.load(home / "table")
    assert isinstance(again, TableStudy)
    assert again.facts.replay == Recording("table", "table.csv", 60, 60, list(ARMS))
    table = home / "table.csv"
    told = f"purse replay {table} --budget 0.5 --budget 2.5 uniform fixed:arm=0 --paths 8"
    assert again.facts.command == told
    assert again.verdicts() == table_replay.verdicts()


def test_one_order_of_worthless_rounds_makes_a_page(tmp_path: Path) -> None:
    rewards = {f"reward_{arm}": [0.0] * 9 for arm in "ab"}
    costs = {"cost_a": [1.0] * 9, "cost_b": [2.0] * 9}
    found = purse.replay(pl.DataFrame(rewards | costs), policies="uniform", budgets=5, n_paths=1)
    assert isinstance(found, TableReplay)
    assert found.frame()["share"].null_count() == found.frame().height
    says = "On these 9 rows `uniform` gains 0; the best single arm, `a`, gains 0: as much."
    assert found.verdicts() == {"B = 5": ("best", says)}
    assert "uniform</code> gains 0;" in found.study.html()


def test_the_page_of_a_log_has_every_part(texts: dict[str, str], log_result: LogResult) -> None:
    text = texts["log"]
    assert "the effective sample size" in text
    assert "600 logged rounds of three arms (10 simulated games, seed 0, stop rule exit)" in text
    assert text.count('class="warnings"') == len(log_result.warnings) == 0
    (spec,) = re.findall(r'id="spec-estimates">(.*?)</script>', text, re.DOTALL)
    assert json.loads(spec)["concat"]
    (coded,) = re.findall(r'base64,([^"]*)" download="estimates.csv"', text)
    assert base64.b64decode(coded).decode() == log_result.frame().write_csv()
    assert list(captions.METHODS) == list(METHODS)


def test_refusals_are_rows_of_the_table_with_their_reason_and_no_points(
    texts: dict[str, str], log_result: LogResult
) -> None:
    refused = log_result.frame().filter(pl.col("refused").is_not_null())
    assert set(refused["policy"]) >= {"uniform"}
    reason = "<li>too few rows: plays arm &#39;wasteful&#39;, whose effective sample size is"
    assert reason in texts["log"]
    cells = re.findall(r"<td>(too few rows)</td>", texts["log"])
    assert len(cells) == refused.height
    figure = estimates(log_result.frame())
    assert figure is not None
    drawn = [row for rows in checked_spec(figure)["datasets"].values() for row in rows]
    answered = log_result.frame().filter(pl.col("refused").is_null())
    assert len(drawn) == answered.select("policy", "budget").n_unique()
    assert policies_of(figure.data) == ["fixed:arm=0", "fixed:arm=1", "uniform"]


def test_a_log_that_tells_nothing_makes_a_page_without_a_figure(
    log_result: LogResult, tmp_path: Path
) -> None:
    why = "plays arm 'x', which was never logged"
    refused = tuple(answer._replace(refused=why) for answer in log_result.estimates)
    files = replace(log_result, estimates=refused).publish(tmp_path)
    assert [file.name for file in files] == ["report.html", "arms.csv", "estimates.csv"]
    text = files[0].read_text(encoding="utf-8")
    assert "This log can tell nothing: every method refuses every player." in text
    assert "spec-estimates" not in text


def test_doubtful_probabilities_are_a_warning_on_top(tmp_path: Path) -> None:
    wrong = recorded_log().with_columns(
        probability=pl.when(pl.col("arm") == "small").then(0.3).otherwise("probability")
    )
    found = estimated(wrong, policies="fixed:arm=0", budgets=0.4, n_paths=4, methods=["snips"])
    text = found.publish(tmp_path)[0].read_text(encoding="utf-8")
    assert text.index('class="warnings"') < text.index("In short")
    assert "<b>Warning.</b> frame: the probabilities of arm" in text
    command = (
        "purse.replay(frame, budgets=[0.4], policies=['fixed:arm=0'], horizon='none', n_paths=4)"
    )
    assert command in unescape(text)


def test_replays_publish_their_page_their_figures_and_their_tables(
    table_replay: TableReplay, log_result: LogResult, home: Path, tmp_path: Path
) -> None:
    page, *files = table_replay.publish(tmp_path)
    assert page == tmp_path / "report.html"
    assert {file.stem for file in files} == {"gain", "shares", "runs", "left", "regret"}
    assert all(file.stat().st_size for file in files)
    gains = pl.read_csv(tmp_path / "figures" / "gain.csv")
    columns = "budget player kind gain gain_low gain_high spent pulls detail "
    columns += "rival ahead ahead_error share"
    assert " ".join(gains.columns) == columns
    assert gains["player"].to_list() == table_replay.frame()["player"].to_list()
    folder = home / "log" / "figures"  # where the page of the log was published
    assert sorted(file.name for file in folder.iterdir()) == [
        "arms.csv", "estimates.csv", "estimates.png", "estimates.svg",
    ]  # fmt: skip
    keys = ["policy", "budget", "method"]
    estimated = pl.read_csv(folder / "estimates.csv").select(keys)
    assert estimated.equals(log_result.frame().select(keys))
    assert pl.read_csv(folder / "arms.csv")["rows"].sum() == 600


def test_nothing_is_written_where_the_extra_is_missing(
    log_result: LogResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match="the report needs altair"):
        log_result.publish(tmp_path / "new")
    assert not (tmp_path / "new").exists()
