import json
import tomllib
from pathlib import Path

import polars as pl
import pytest

from tests.support.cli import WORLD, Command, check_mistake

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


def test_compare_prints_a_table_and_writes_results(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    code, out, _ = command(f"compare exp3.bwk uniform -w {WORLD} -b 50 -b 1e2 -n 5")
    assert code == 0
    for text in (WORLD, "B = 50", "B = 100", "exp3.bwk", "uniform", "±"):
        assert text in out
    (folder,) = (tmp_path / "purse-results").glob("compare-*")
    assert f"The report is purse-results/{folder.name}/report.html" in out
    assert len(pl.read_parquet(folder / "results.parquet")) == 2 * 2 * 5
    code, out, _ = command(f"compare uniform -w {WORLD} -b 50 -n 1 --json --out here")
    answer = json.loads(out)
    assert code == 0
    assert answer["folder"] == "here"
    assert Path("here/results.parquet").is_file()
    assert answer["rows"][0]["policy"] == "uniform"
    assert answer["rows"][0]["error"] is None


def test_compare_with_late_reports_says_so(command: Command, unpublished: None) -> None:
    line = f"compare uniform -w {WORLD} -b 20 -n 3"
    assert command(f"{line} --delay geometric:2")[0] == 0
    assert ", seed 0, stop=exit, delay=geometric:2\n" in command("lab status")[1]
    assert json.loads(command("lab status --json")[1])["delay"] == "geometric:2"
    assert command("lab show")[0] == 0
    (late,) = Path("purse-results").glob("compare-*")
    assert command(line)[0] == 0
    assert ", seed 0, stop=exit\n" in command("lab status")[1]
    assert f"Earlier:\n  {late}  uniform: 1 policy" in command("lab status")[1]
    assert json.loads(command("lab status --json")[1])["others"] == [str(late)]
    code, out, err = command("lab show")
    assert (code, err.endswith("the last of 2; `purse lab status` lists them\n")) == (0, True)
    assert "uniform" in out
    assert command(f"lab show {late.name}")[0] == 0  # by its name


def test_comparisons_share_what_they_have_in_common(command: Command, unpublished: None) -> None:
    shards = Path("purse-results/shards")
    assert command(f"compare uniform -w {WORLD} -b 20 -n 3")[0] == 0
    first = {path: path.stat().st_mtime_ns for path in shards.iterdir()}
    assert command(f"compare uniform -w {WORLD} -b 20 -b 30 -n 3")[0] == 0
    assert len(list(Path("purse-results").glob("compare-*"))) == 2
    assert all(path.stat().st_mtime_ns == time for path, time in first.items())
    assert len(list(shards.iterdir())) == 2 * len(first)


def test_compare_of_worlds_with_different_numbers_of_arms_is_one_file(
    command: Command, unpublished: None, tmp_path: Path
) -> None:
    three = "bernoulli:rewards=[.9,.6,.3],costs=[.8,.3,.2]"
    code, out, _ = command(f"compare uniform -w {WORLD} -w {three} -b 20 -n 2")
    assert code == 0
    assert WORLD in out
    assert three in out
    (results,) = tmp_path.glob("purse-results/compare-*/results.parquet")
    frame = pl.read_parquet(results)
    assert frame["pulls"].list.len().to_list() == [2, 2, 3, 3]
    assert frame["pulls"].list.sum().to_list() == frame["rounds"].to_list()


def test_a_table_is_not_cut_on_a_narrow_terminal_and_says_when_a_world_ends_early(
    command: Command, unpublished: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    world = "table:rewards=[[1,0],[0,1]],costs=[.5,.5]"
    _, out, _ = command(f"compare fixed:arm=1 uniform -w {world} -b 50 -b 60 -b 70 -n 5")
    assert "30 of 30 paths reached the end of their world" in " ".join(out.split())
    assert out.count("\n  fixed:arm=1") == 3  # the budgets stand below each other
    assert "…" not in out
    assert [line for line in out.splitlines() if "±" in line and len(line) > 40] == []


def test_init_writes_a_study_file_that_is_right_and_overwrites_nothing(
    command: Command, tmp_path: Path
) -> None:
    code, out, _ = command("lab init")
    assert (code, out) == (0, "Written to study.toml; edit it, then: purse lab run study.toml\n")
    assert tomllib.loads((tmp_path / "study.toml").read_text())["paths"] == 100
    (tmp_path / "study.toml").write_text("mine")
    code, _, err = command("lab init")
    assert code == 2
    assert err == "purse: 'study.toml' exists already; give another name, or remove it\n"
    assert (tmp_path / "study.toml").read_text() == "mine"


def test_run_status_and_show(command: Command, unpublished: None, study: Path) -> None:
    code, out, err = command("lab run mine.toml")
    assert code == 0
    assert "B = 40" in out
    assert out.endswith("The report is purse-results/mine/report.html\n")
    assert err == ""
    code, out, _ = command("lab status mine.toml")
    assert code == 0
    assert out.startswith(
        "A small study: 2 policies × 1 world × 2 budgets × 4 paths, seed 0, stop=exit\n8 "
        "of 8 shards are there (0.0 MB); finished 20"
    )
    shown = command("lab show purse-results/mine")
    assert shown[0] == 0
    assert shown[1].splitlines()[:2] == ["shop", "  bernoulli:rewards=[.9,.6],costs=[.8,.3]"]
    assert command("lab show mine.toml") == command("lab show mine") == command("lab show") == shown
    rows = json.loads(command("lab show mine.toml --json")[1])["rows"]
    assert [row["policy"] for row in rows] == ["uniform", "exp3.bwk"] * 2


def test_an_unfinished_study_is_continued_from_its_folder(
    command: Command, unpublished: None, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for line in (f"compare uniform -w {WORLD} -b 50", "lab run mine.toml"):
        with monkeypatch.context() as patched:
            patched.setattr("purse.lab.study.executors.play_shard", interrupt)
            code, _, err = command(line)
        assert code == 130
        assert err.strip() == "purse: interrupted; the same command continues where it was"
    assert command("lab status mine.toml")[1].endswith(
        "0 of 8 shards are there (0.0 MB); not finished: run it again to continue\n"
    )
    code, _, err = command("lab show mine.toml")
    assert code == 2
    assert "is not finished: 0 of 8 shards are there" in err
    assert command("lab run purse-results/mine")[0] == 0
    assert json.loads(command("lab status purse-results/mine --json")[1])["finished"] == 8


def test_report_writes_the_page_and_each_figure(
    command: Command, unpublished: None, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.write_text(STUDY.replace("[20, 40]", "[20]"))  # less to draw
    command("lab run mine.toml")
    monkeypatch.undo()
    monkeypatch.chdir(study.parent)
    code, out, _ = command("lab report mine.toml -o page")
    files = [Path(line) for line in out.splitlines()]
    assert code == 0
    assert files[0] == Path("page/report.html")
    assert all(file.is_file() for file in files)
    assert {file.suffix for file in files[1:]} == {".png", ".svg", ".csv"}
    assert "</html>" in files[0].read_text()
    assert Path("page/figures/regret.png").read_bytes().startswith(b"\x89PNG")
    assert len(pl.read_csv("page/figures/regret.csv")) >= 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare -b -1", "budgets=-1"),
        ("compare -n 0", "n_paths=0"),
        ("compare --out taken/below", "cannot write to folder"),
        ("compare oracle -w two_worlds", "oracle needs the true mean efficiency"),
        ("compare --bugdet 3", "No such option '--bugdet'"),
        ("lab status nowhere", "'nowhere' holds no study"),
        ("lab status", "'purse-results' holds no study"),
        ("lab show nowhere.toml", "'purse-results/nowhere' holds no study"),
        ("lab report nowhere", "'nowhere' holds no study"),
        ("lab run nowhere.toml", "; `purse lab init` writes an example"),
        ("lab run bad.toml", "bad.toml, line 3: unknown policy 'exp3.bkw'; did you mean 'exp3.b"),
        ("lab run mine.toml --on spark", "on='spark': must be ray or ray://HOST:PORT"),
        ("lab run mine.toml --workers 0", "n_workers=0: must be a whole number from 1 up"),
    ],
)
def test_mistakes(command: Command, tmp_path: Path, study: Path, words: str, message: str) -> None:
    study.with_name("bad.toml").write_text(STUDY.replace("exp3.bwk", "exp3.bkw"))
    check_mistake(command, tmp_path, words, message)
