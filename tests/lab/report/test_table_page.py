from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl

from purse.base.text import format_digits, format_gain
from purse.lab.offline.table_replay import TableReplay
from purse.lab.report.charts.players import MOST_ARMS, players_of
from purse.lab.report.data import Recording
from purse.lab.report.prose.table_replay import findings, summary
from purse.lab.report.standings import NOTES
from purse.lab.report.table_page import figures_of
from purse.lab.study.results import Study, TableStudy
from tests.lab.report.made_up import ARMS, plain
from tests.support.charts import checked_spec

SECTIONS = ["in-short", "gain", "shares", "runs", "left", "regret", "what-was-run"]


def test_who_brings_a_table_reads_of_gain_first(replay_texts: dict[str, str]) -> None:
    assert re.findall(r'<section id="([\w-]+)"', replay_texts["table"]) == SECTIONS
    assert "<title>table.csv: which policy spends a budget best?</title>" in replay_texts["table"]


def test_the_table_of_gains_has_policies_and_references_the_largest_gain_first(
    table_replay: TableReplay, replay_texts: dict[str, str]
) -> None:
    rows = re.findall(
        r'<tr(?: data-policy="[^"]*")?( class="reference")?>((?:<td>.*?</td>)+)</tr>',
        replay_texts["table"].split('<section id="shares"')[0],
    )
    players = [
        (grey != "", *re.findall(r"<td>(?:<b>)?(.*?)(?:</b>)?</td>", cells)) for grey, cells in rows
    ]
    expected = [
        row
        for budget in (0.5, 2.5)
        for row in table_replay.frame()
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
        player[2].startswith(format_digits(row["gain"]))
        for player, row in zip(players, expected, strict=True)
    )
    # the best policy with each budget
    assert len(re.findall(r"<td><b>", "".join(cells for _, cells in rows))) == 2


def test_a_replay_says_in_short_what_was_replayed(table_replay: TableReplay) -> None:
    short = summary(table_replay.study)
    assert short.startswith(
        "Two policies on 60 rounds of three arms with budgets of 0.5 and 2.5, in eight "
        "random orders of the rounds, the same for every policy "
    )
    assert "(seed 0, stop rule retry). Gain is the sum of rewards" in short
    assert "growth" not in short


def test_findings_are_about_the_optimum_and_the_best_single_arm(table_replay: TableReplay) -> None:
    found = findings(table_replay.study)
    assert list(found) == ["B = 0.5", "B = 2.5"]
    frame = table_replay.frame().filter(budget=0.5)
    best = frame.filter(kind="policy").sort("gain").row(-1, named=True)
    arm = frame.filter(kind="arm").sort("gain").row(-1, named=True)
    says = plain(found["B = 0.5"])
    assert says.startswith(
        f"**`{best['player']}` gains most of the policies**: "
        f"{format_gain(best['gain'], best['gain_high'])}, {best['share']:.1%} of the LP "
        "optimum; "
    )
    assert (
        f"The best single arm, `{arm['player'].partition(' (')[0].removeprefix('always ')}`, gains "
        f"{format_gain(arm['gain'], arm['gain_high'])}: " in says
    )


def test_one_order_is_not_called_certain(table_replay: TableReplay) -> None:
    study = replace(
        table_replay.study,
        facts=replace(table_replay.study.facts, n_paths=1),
        data=table_replay.study.lazy().filter(pl.col("path") == 0),
    )
    assert "One order tells nothing about chance" in summary(study)
    assert "interval" not in "".join(findings(study).values())


def test_the_gain_figure_has_a_panel_for_each_budget_and_a_row_for_each_player(
    table_replay: TableReplay,
) -> None:
    figures = {figure.name: figure for figure in figures_of(table_replay.study)}
    assert list(figures) == ["gain", "shares", "runs", "left", "regret"]
    assert [panel.world for panel in figures["gain"].panels] == ["B = 0.5", "B = 2.5"]
    rows = checked_spec(figures["gain"])["concat"][0]["layer"][1]["encoding"]["y"]["scale"][
        "domain"
    ]
    ranked = table_replay.frame().filter(budget=0.5).sort("gain", descending=True)
    assert rows == ranked["player"].str.replace(NOTES, "").to_list()
    assert "gain" in figures["runs"].spec["concat"][0]["layer"][0]["encoding"]["x"]["field"]


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


def test_the_folder_knows_that_it_is_a_replay(table_replay: TableReplay, home: Path) -> None:
    again = Study.load(home / "table")
    assert isinstance(again, TableStudy)
    assert again.facts.replay == Recording("table", "table.csv", 60, 60, list(ARMS))
    assert (
        again.facts.command
        == f"purse replay {home / 'table.csv'} --budget 0.5 --budget 2.5 uniform fixed:arm=0 "
        "--paths 8"
    )
    assert findings(again) == findings(table_replay.study)
