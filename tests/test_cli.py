from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from purse import cli

WORLD = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["purse", *words])
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):  # type: ignore[no-untyped-def]
    """Runs the command in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def go(*words: str) -> tuple[int, str, str]:
        code = run(monkeypatch, *words)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return go


def test_compare_prints_a_table_and_writes_figure_and_results(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command("compare", "exp3.bwk", "uniform", "-w", WORLD, "-b", "50", "-b", "1e2", "-n", "5")
    assert code == 0
    for text in (WORLD, "B = 50", "B = 100", "exp3.bwk", "uniform", "±", "Written to purse-results"):
        assert text in out
    folder = tmp_path / "purse-results"
    assert (folder / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "regret.svg").exists()
    assert len(pl.read_parquet(folder / "results.parquet")) == 2 * 2 * 5
    assert len(pl.read_csv(folder / "regret.csv")) == 4


def test_compare_for_machines(command) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command("compare", "uniform", "-w", WORLD, "-b", "50", "-n", "1", "--json", "--out", "here")
    answer = json.loads(out)
    assert code == 0
    assert answer["folder"] == "here"
    assert all(Path(file).is_file() for file in answer["files"])
    assert answer["rows"][0]["policy"] == "uniform"
    assert answer["rows"][0]["error"] is None


def test_compare_says_when_a_world_ends_before_the_budget(command) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command("compare", "uniform", "-w", "table:rewards=[[1,0],[0,1]],costs=[.5,.5]", "-b", "50", "-n", "3")
    assert code == 0
    assert "3 of 3 paths reached the end of their world" in " ".join(out.split())


def test_simulate_for_people_and_for_machines(command) -> None:  # type: ignore[no-untyped-def]
    words = ("simulate", "exp3++.bwk:beta=1", "-w", WORLD, "-b", "100", "-n", "4", "--seed", "7")
    code, out, _ = command(*words)
    assert code == 0
    assert out.startswith(f"exp3++.bwk:beta=1 on {WORLD}: 4 paths, budget 100, stop=exit, seed=7")
    code, out, _ = command(*words, "--json")
    answer = json.loads(out)
    assert len(answer["gain"]) == 4
    assert sum(answer["pulls"][0]) == answer["rounds"][0]


def test_simulate_takes_one_budget_per_resource(command) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command("simulate", "uniform", "-w", "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]", "-b", "10", "-b", "2", "-n", "2", "--json")
    assert code == 0
    assert json.loads(out)["budget"] == [10, 2]


@pytest.mark.parametrize(("verb", "name"), [("policies", "exp3++.bwk"), ("environments", "two_worlds")])
def test_lists_and_explanations(command, verb: str, name: str) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command(verb)
    assert code == 0
    assert name in out
    assert name in [row["name"] for row in json.loads(command(verb, "--json")[1])]
    code, out, _ = command(verb, name)
    assert code == 0
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize("verb", [(), ("compare",), ("simulate",), ("policies",), ("environments",)])
def test_help_helps(command, verb: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command(*verb, "--help")
    assert code == 0
    assert "Usage: purse" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("simulate", "exp3+.bwk", "-w", WORLD, "-b", "10"), "did you mean 'exp3++.bwk'?"),
        (("simulate", "exp3.bwk", "-w", "bernouli", "-b", "10"), "did you mean 'bernoulli'?"),
        (("simulate", "exp3.bwk:gama=1", "-w", WORLD, "-b", "10"), "did you mean 'gamma'?"),
        (("simulate", "exp3.bwk", "-w", "two_worlds:wrld=2", "-b", "10"), "did you mean 'world'?"),
        (("simulate", "exp3.bwk", "-w", WORLD, "-b", "0"), "budget=0.0: must be positive, at least 1e-9"),
        (("simulate", "exp3.bwk", "-w", WORLD, "-b", "nan"), "budget=nan"),
        (("simulate", "exp3.bwk", "-w", WORLD, "-b", "ten"), "'ten' is not a number"),
        (("simulate", "exp3.bwk", "-w", "two_worlds:cost_min=0", "-b", "10"), "cost_min=0"),
        (("simulate", "exp3.bwk", "-w", "two_worlds:cost_min=1.5", "-b", "10"), "cost_min=1.5"),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5,1.5],costs=[1,1]", "-b", "10"), "rewards=1.5: must lie between 0 and 1"),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5,.5],costs=[1,0]", "-b", "10"), "costs=0: must be positive"),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[],costs=[]", "-b", "10"), "rewards=[]"),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5,.5],costs=[1]", "-b", "10"), "do not match"),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5", "-b", "10"), "cannot read"),
        (("simulate", "exp3.bwk", "-b", "10"), "Missing option"),
        (("simulate", "none.py", "-w", WORLD, "-b", "10"), "does not exist"),
        (("compare", "-b", "-1"), "budgets=-1"),
        (("compare", "-n", "0"), "n_paths=0"),
        (("compare", "--out", "taken/below"), "cannot write to folder"),
        (("compare", "oracle", "-w", "two_worlds"), "oracle needs the true mean efficiency"),
        (("policies", "exp4"), "unknown policy 'exp4'"),
        (("environments", "x"), "unknown world 'x'"),
        (("compere",), "No such command 'compere'"),
        (("compare", "--bugdet", "3"), "No such option '--bugdet'"),
    ],
)
def test_a_mistake_is_one_line_exit_2_and_nothing_written(command, tmp_path: Path, words: tuple[str, ...], message: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "taken").write_text("")
    code, out, err = command(*words)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("purse: ")
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_an_interruption_is_one_line(command, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("purse.store.play", interrupt)
    code, _, err = command("compare", "uniform", "-w", WORLD, "-b", "50")
    assert code == 130
    assert "the same command continues where it was" in err


def test_without_words_it_helps(command) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command()
    assert code == 0
    assert out.startswith("Usage: purse")


def test_no_memory_is_one_line(command) -> None:  # type: ignore[no-untyped-def]
    code, _, err = command("simulate", "uniform", "-w", WORLD, "-b", "10", "-n", "1000000000000000")
    assert code == 2
    assert len(err.splitlines()) == 1


def test_a_table_is_not_cut_on_a_narrow_terminal(command, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = command("compare", "exp3++.price", "uniform", "-w", WORLD, "-b", "50", "-b", "60", "-b", "70", "-n", "5")
    assert "exp3++.price" in out
    assert "…" not in out
