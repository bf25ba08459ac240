"""The verbs of the lab and of one's own data, as a user types them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from test_cli import command as command  # fixtures
from test_cli import unpublished as unpublished

STUDY = """
title = "A small study"
policies = ["uniform", "exp3.bwk"]
budgets = [20, 40]
paths = 4

[worlds]
shop = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "mine.toml").write_text(STUDY)
    return tmp_path / "mine.toml"


def test_init_writes_a_study_file_that_is_right_and_overwrites_nothing(
    command: Any, tmp_path: Path
) -> None:
    code, out, _ = command("init")
    assert (code, out) == (0, "Written to study.toml; edit it, then: purse run study.toml\n")
    assert tomllib.loads((tmp_path / "study.toml").read_text())["paths"] == 100
    (tmp_path / "study.toml").write_text("mine")
    code, _, err = command("init")
    assert (code, err) == (
        2,
        "purse: 'study.toml' is there already; give another name, or remove it\n",
    )
    assert (tmp_path / "study.toml").read_text() == "mine"


def test_run_status_and_show(command: Any, unpublished: None, study: Path) -> None:
    code, out, err = command("run", "mine.toml")
    assert code == 0
    assert "B = 40" in out
    assert out.endswith("Results are in purse-results/mine\n")
    assert err == 'No report: the report needs the extra: pip install "purse[report]"\n'
    code, out, _ = command("status", "mine.toml")
    assert code == 0
    assert out.startswith(
        "A small study: 2 policies × 1 world × 2 budgets × 4 paths, seed 0, stop=exit\n8 "
        "of 8 shards are there (0.0 MB); finished 20"
    )
    shown = command("show", "purse-results/mine")
    assert shown[0] == 0
    assert shown[1].splitlines()[0] == "shop  bernoulli:rewards=[.9,.6],costs=[.8,.3]"
    assert command("show", "mine.toml") == shown
    rows = json.loads(command("show", "mine.toml", "--json")[1])["rows"]
    assert [row["policy"] for row in rows] == ["uniform", "exp3.bwk"] * 2


def test_a_changed_study_plays_only_what_is_new(
    command: Any, unpublished: None, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("run", "mine.toml")
    shards = {path: path.stat().st_mtime_ns for path in Path("purse-results/mine/shards").iterdir()}
    study.write_text(STUDY.replace("[20, 40]", "[20, 40, 60]"))
    assert command("run", "mine.toml")[0] == 0
    assert all(path.stat().st_mtime_ns == time for path, time in shards.items())
    assert json.loads(command("status", "mine.toml", "--json")[1])["shards"] == 12


def test_an_unfinished_study_says_how_far_it_is_and_is_continued_from_its_folder(
    command: Any, unpublished: None, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("purse.study.executors.play_shard", interrupt)
        code, _, err = command("run", "mine.toml")
    assert (code, err.strip()) == (
        130,
        "purse: interrupted; the same command continues where it was",
    )
    assert command("status", "mine.toml")[1].endswith(
        "0 of 8 shards are there (0.0 MB); not finished: run it again to continue\n"
    )
    code, _, err = command("show", "mine.toml")
    assert code == 2
    assert "is not finished: 0 of 8 shards are there" in err
    assert command("run", "purse-results/mine")[0] == 0
    assert json.loads(command("status", "purse-results/mine", "--json")[1])["finished"] == 8


def test_report_writes_the_page_and_each_figure(
    command: Any, unpublished: None, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command("run", "mine.toml")
    monkeypatch.undo()
    monkeypatch.chdir(study.parent)
    code, out, _ = command("report", "mine.toml", "-o", "page")
    files = [Path(line) for line in out.splitlines()]
    assert code == 0
    assert files[0] == Path("page/report.html")
    assert all(file.is_file() for file in files)
    assert {file.suffix for file in files[1:]} == {".png", ".svg", ".csv"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("status", "nowhere"), "'nowhere' holds no study"),
        (("show", "nowhere.toml"), "'purse-results/nowhere' holds no study"),
        (("report", "nowhere"), "'nowhere' holds no study"),
        (
            ("run", "nowhere.toml"),
            "cannot read 'nowhere.toml': No such file or directory; `purse init` writes an example",
        ),
        (
            ("run", "bad.toml"),
            "bad.toml, line 3: unknown policy 'exp3.bkw'; did you mean 'exp3.bwk'?",
        ),
        (
            ("run", "mine.toml", "--on", "spark"),
            "on='spark': must be one of ray, ray://HOST:PORT, dask or dask://HOST:PORT",
        ),
        (("run", "mine.toml", "--workers", "0"), "n_workers=0: must be a whole number from 1 up"),
        (("replay", "nowhere.csv", "-b", "1"), "nowhere.csv"),
        (
            ("replay", "neither.csv", "-b", "1"),
            "neither.csv has neither 'probability', which a log needs, nor 'round', which a table",
        ),
        (("replay", "log.csv", "-b", "-1"), "budget"),
        (("replay", "log.csv", "-b", "1", "exp3.bkw"), "did you mean 'exp3.bwk'?"),
        (("replay", "log.csv", "-b", "1", "--reward", "money"), "log.csv has no column 'money'"),
        (("replay", "nan.csv", "-b", "1"), "nan.csv, line 3, column 'reward'"),
        (("replay", "negative.csv", "-b", "1"), "negative.csv, line 3, column 'cost'"),
        (("replay", "certain.csv", "-b", "1"), "certain.csv, line 3, column 'probability'"),
    ],
    ids=" ".join,
)
def test_bad_input_is_one_line_and_nothing_is_written(
    words: tuple[str, ...], message: str, command: Any, study: Path
) -> None:
    study.with_name("bad.toml").write_text(STUDY.replace("exp3.bwk", "exp3.bkw"))
    rows = {
        "log": "b,0.5,0.2,0.5",
        "nan": "b,NaN,0.2,0.5",
        "negative": "b,0.5,-0.2,0.5",
        "certain": "b,0.5,0.2,1.5",
    }
    for name, row in rows.items():
        study.with_name(f"{name}.csv").write_text(
            f"arm,reward,cost,probability\na,1,0.1,0.5\n{row}\n"
        )
    study.with_name("neither.csv").write_text("arm,reward,cost\na,1,0.1\n")
    before = sorted(study.parent.rglob("*"))
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
    assert sorted(study.parent.rglob("*")) == before


def test_replay_of_a_table_in_either_form(command: Any, unpublished: None, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    wide = pl.DataFrame(
        {
            f"{what}_{arm}": rng.uniform(0.1, high, 40)
            for arm, high in (("small", 1.0), ("large", 3.0))
            for what in ("reward", "cost")
        }
    )
    wide.write_csv(tmp_path / "wide.csv")
    rounds = [
        {"round": t, "arm": arm, "reward": row[f"reward_{arm}"], "cost": row[f"cost_{arm}"]}
        for t, row in enumerate(wide.to_dicts())
        for arm in ("small", "large")
    ]
    pl.DataFrame(rounds).write_ndjson(tmp_path / "long.jsonl")
    answers = [
        json.loads(command("replay", name, "uniform", "-b", "10", "-n", "5", "--json")[1])["rows"]
        for name in ("wide.csv", "long.jsonl")
    ]
    assert answers[0] == answers[1]
    assert "always small (cheapest)" in command("show", "purse-results/wide")[1]
    assert {"uniform", "always small (cheapest)", "LP optimum", "hindsight optimum"} <= {
        row["player"] for row in answers[0]
    }


def test_replay_of_a_log(command: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    arm = rng.integers(2, size=400)
    log = pl.DataFrame(
        {
            "arm": np.array(["a", "b"])[arm],
            "clicks": rng.uniform(0, 1 + arm),
            "dollars": rng.uniform(0.1, 0.3 + arm),
            "probability": 0.5,
        }
    )
    log.write_parquet(tmp_path / "log.parquet")
    code, out, _ = command(
        "replay",
        "log.parquet",
        "uniform",
        "-b",
        "10",
        "-n",
        "20",
        "--reward",
        "clicks",
        "--cost",
        "dollars",
        "--json",
    )
    rows = json.loads(out)["rows"]
    assert code == 0
    assert {row["method"] for row in rows} == {"replay", "ips", "snips", "dr"}
    assert all(row["low"] < row["estimate"] < row["high"] for row in rows)
