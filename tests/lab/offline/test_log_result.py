from __future__ import annotations

import sys
from pathlib import Path

import polars as pl
import pytest

import purse
from purse.errors import MissingExtra
from purse.lab.offline.log_result import LogResult
from purse.lab.offline.off_policy import estimate_log
from purse.lab.offline.table_replay import TableReplay
from purse.lab.study.facts import Recording

TABLE = "round,arm,reward,cost\n" + "".join(
    f"{t},a&b,{t % 2},1\n{t},large,3,2\n" for t in range(12)
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> TableReplay:
    path = tmp_path_factory.mktemp("data") / "table.csv"
    path.write_text(TABLE)
    both = ["uniform", "fixed:arm=1"]
    found = purse.replay(path, budgets=[4, 10], policies=both, n_paths=3, horizon=10, stop="exit")
    assert isinstance(found, TableReplay)
    return found


@pytest.fixture(scope="module")
def log() -> LogResult:
    rows = {
        "arm": ["a", "b"] * 60 + ["<c>"],
        "reward": [1.0, 3.0] * 60 + [1.0],
        "cost": [1, 2] * 60 + [1],
        "probability": [0.5] * 120 + [0.01],
    }
    found = purse.replay(
        pl.DataFrame(rows), budgets=[4], policies=["fixed:arm=1", "fixed:arm=0"], n_paths=3, seed=2
    )
    assert isinstance(found, LogResult)
    return found


def test_a_table_publishes_its_page_and_figures(table: TableReplay, tmp_path: Path) -> None:
    files = table.publish(tmp_path)
    assert files[0] == tmp_path / "report.html"
    assert {file.stem for file in files[1:]} == {"gain", "shares", "runs", "left", "regret"}
    assert all(file.stat().st_size for file in files)
    gains = pl.read_csv(tmp_path / "figures" / "gain.csv")
    columns = "budget player kind gain gain_low gain_high spent pulls detail share"
    assert " ".join(gains.columns) == columns
    assert gains["player"].to_list() == table.frame()["player"].to_list()


def test_the_command_of_a_table_has_what_is_not_default(table: TableReplay) -> None:
    command = table.study.facts.command
    assert command.startswith("purse replay ")
    assert command.endswith(
        "table.csv --budget 4 --budget 10 uniform fixed:arm=1 --horizon 10 --paths 3 --stop exit"
    )


def test_references_keep_their_intervals_in_the_study(table: TableReplay) -> None:
    known = table.study.references().drop("world").rename({"name": "player"})
    assert known.equals(table.references.select("player", pl.exclude("player")))


def test_a_log_publishes_its_page_its_figure_and_its_arms(log: LogResult, tmp_path: Path) -> None:
    files = log.publish(tmp_path / "new")
    assert [str(file.relative_to(tmp_path / "new")) for file in files] == [
        "report.html", "figures/estimates.png", "figures/estimates.svg",
        "figures/estimates.csv", "figures/arms.csv",
    ]  # fmt: skip
    keys = ["policy", "budget", "method"]
    assert pl.read_csv(files[3]).select(keys).equals(log.frame().select(keys))
    assert pl.read_csv(files[4])["rows"].to_list() == [1, 60, 60]


def test_a_log_knows_what_was_asked(log: LogResult) -> None:
    facts = log.facts
    assert facts.replay == Recording("log", "frame", 121, 121, ["<c>", "a", "b"])
    assert facts.policies == ["fixed:arm=1", "fixed:arm=0"]
    assert (facts.budgets, facts.stop, facts.seed) == ([4.0], "retry", 2)
    assert "purse" in facts.versions


def test_nothing_is_written_where_the_extra_is_missing(
    log: LogResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match="the report needs altair"):
        log.publish(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_notebooks_show_the_tables_escaped(table: TableReplay, log: LogResult) -> None:
    shown = table._repr_html_()
    assert shown.startswith(
        "<p>table.csv: 10 of 12 rounds in 3 random orders, 2 arms, stop=exit</p><p>B = 4: "
    )
    assert shown.count("<table>") == 2
    assert "always a&amp;b" in shown
    shown = log._repr_html_()
    assert shown.startswith(
        "<p>frame: 121 logged rounds of 3 arms; games of at most 121 rounds</p><p>Buy b in every "
    )
    assert "plays arm &#x27;&lt;c&gt;&#x27;, whose effective sample size is 1, below 30" in shown
    assert "<c>" not in shown


def test_a_wide_interval_has_no_exponent() -> None:
    rows = {
        "arm": ["a", "b"] * 50,
        "reward": [float(1000 * (t % 7)) for t in range(100)],
        "cost": [1] * 100,
        "probability": [0.5] * 100,
    }
    log = pl.DataFrame(rows)
    found = estimate_log(log, policies="fixed:arm=0", budgets=20, n_paths=2, methods=["snips"])
    assert "e+" not in str(found)
