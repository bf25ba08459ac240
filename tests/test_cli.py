from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

from purse import cli
from purse.errors import MissingExtra
from purse.theory import bounds
from purse.theory.notions import NOTIONS

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


def test_compare_prints_a_table_and_writes_report_figures_and_results(
    command, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command(
        "compare", "exp3.bwk", "uniform", "-w", WORLD, "-b", "50", "-b", "1e2", "-n", "5"
    )
    assert code == 0
    for text in (
        WORLD,
        "B = 50",
        "B = 100",
        "exp3.bwk",
        "uniform",
        "±",
        "the report is purse-results/report.html",
    ):
        assert text in out
    folder = tmp_path / "purse-results"
    assert "</html>" in (folder / "report.html").read_text()
    assert (folder / "figures" / "regret.png").read_bytes().startswith(b"\x89PNG")
    assert len(pl.read_parquet(folder / "results.parquet")) == 2 * 2 * 5
    assert len(pl.read_csv(folder / "figures" / "regret.csv")) >= 4


@pytest.fixture
def unpublished(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra for reports is not installed; also because drawing takes longer than what
    these tests are about.
    """

    def missing(*_: object) -> None:
        raise MissingExtra('the report needs the extra: pip install "purse[report]"')

    monkeypatch.setattr("purse.study.results.Study.publish", missing)


def test_compare_for_machines(command, unpublished: None) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command(
        "compare", "uniform", "-w", WORLD, "-b", "50", "-n", "1", "--json", "--out", "here"
    )
    answer = json.loads(out)
    assert code == 0
    assert answer["folder"] == "here"
    assert Path("here/results.parquet").is_file()
    assert answer["rows"][0]["policy"] == "uniform"
    assert answer["rows"][0]["error"] is None


def test_compare_of_worlds_with_different_numbers_of_arms_is_one_file(
    command, unpublished: None, tmp_path: Path
) -> None:  # type: ignore[no-untyped-def]
    three = "bernoulli:rewards=[.9,.6,.3],costs=[.8,.3,.2]"
    code, out, _ = command("compare", "uniform", "-w", WORLD, "-w", three, "-b", "20", "-n", "2")
    assert code == 0
    assert WORLD in out
    assert three in out
    frame = pl.read_parquet(tmp_path / "purse-results" / "results.parquet")
    assert frame["pulls"].list.len().to_list() == [2, 2, 3, 3]
    assert frame["pulls"].list.sum().to_list() == frame["rounds"].to_list()


def test_compare_says_when_a_world_ends_before_the_budget(command, unpublished: None) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command(
        "compare",
        "uniform",
        "-w",
        "table:rewards=[[1,0],[0,1]],costs=[.5,.5]",
        "-b",
        "50",
        "-n",
        "3",
    )
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
    code, out, _ = command(
        "simulate",
        "uniform",
        "-w",
        "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]",
        "-b",
        "10",
        "-b",
        "2",
        "-n",
        "2",
        "--json",
    )
    assert code == 0
    assert json.loads(out)["budget"] == [10, 2]


def test_regret_for_people_and_for_machines(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    words = (
        "regret",
        "exp3++.bwk:beta=1",
        "-w",
        WORLD,
        "-b",
        "1e2",
        "-n",
        "4",
        "--seed",
        "7",
        "--stop",
        "hold",
        "--workers",
        "2",
    )
    code, out, err = command(*words)
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head == f"exp3++.bwk:beta=1 on {WORLD}: 4 paths, budget 100"
    assert [line.split()[0] for line in lines] == list(NOTIONS)
    assert all("±" in line for line in lines)
    code, out, err = command(*words, "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    facts = {
        "policy": "exp3++.bwk:beta=1",
        "world": WORLD,
        "budget": 100,
        "stop": "hold",
        "seed": 7,
        "n_paths": 4,
    }
    assert {name: value for name, value in answer.items() if name != "regrets"} == facts
    assert list(answer["regrets"]) == list(NOTIONS)
    for each in answer["regrets"].values():
        assert list(each) == ["mean", "error", "low", "high"]
        assert each["low"] <= each["mean"] <= each["high"]
    assert list(tmp_path.iterdir()) == []


def test_regret_leaves_out_what_a_world_does_not_have(command) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command("regret", "uniform", "-w", "two_worlds", "-b", "20", "-n", "3")
    assert code == 0
    names = [line.split()[0] for line in out.splitlines()[1:]]
    assert "best_fixed_arm" in names
    assert not {
        "best_efficiency",
        "pseudo_regret",
        "paper_pseudo_regret",
        "greedy",
        "knapsack",
    } & set(names)


def test_regret_of_one_path_has_no_interval(command) -> None:  # type: ignore[no-untyped-def]
    words = ("regret", "uniform", "-w", WORLD, "-b", "20", "-n", "1")
    assert "±" not in command(*words)[1]
    assert command(*words)[1].startswith(f"uniform on {WORLD}: 1 path, budget 20\n")
    for each in json.loads(command(*words, "--json")[1])["regrets"].values():
        assert isinstance(each["mean"], float)
        assert each["error"] is each["low"] is each["high"] is None


def test_regret_under_retry_has_no_optimum(command) -> None:  # type: ignore[no-untyped-def]
    words = ("regret", "uniform", "-w", WORLD, "-b", "20", "-n", "2", "--json")
    names = list(json.loads(command(*words, "--stop", "retry")[1])["regrets"])
    assert names == [name for name in NOTIONS if name != "optimum"]
    assert list(json.loads(command(*words)[1])["regrets"]) == list(NOTIONS)


def test_the_seed_decides_the_regrets_and_the_workers_do_not(command) -> None:  # type: ignore[no-untyped-def]
    words = ("regret", "uniform", "-w", WORLD, "-b", "50", "-n", "5")
    plain = command(*words)[1]
    assert command(*words, "--workers", "1")[1] == command(*words, "--seed", "0")[1] == plain
    assert command(*words, "--seed", "1")[1] != plain


def test_bounds_for_people(command, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    code, out, err = command("bounds", "--arms", "10", "--budget", "1e4", "--cost-min", "0.1")
    assert (code, err) == (0, "")
    lines, rows = out.splitlines(), bounds.table(10, 1e4, 0.1)
    assert len(lines) == 2 * len(rows)
    for row, first, second in zip(rows, lines[::2], lines[1::2], strict=True):
        assert first.startswith(row.name)
        assert first.endswith(row.bounds)
        assert second.startswith(" ")
        assert second.strip() == f"{row.holds}  [{row.source}]"
    assert "39,790.2  does not apply" in lines[0]
    assert any(line.startswith("κ(c)·B") and "8,888.9  applies" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_bounds_for_machines(command) -> None:  # type: ignore[no-untyped-def]
    words = (
        "--cost-max",
        "2",
        "--gap",
        ".5",
        "--gap",
        ".25",
        "--alpha",
        ".75",
        "--iid",
        "--costs",
        "per arm",
    )
    code, out, err = command(
        "bounds", "--arms", "3", "-b", "1024", "--cost-min", "0.2", *words, "--json"
    )
    assert (code, err) == (0, "")
    rows = bounds.table(
        3,
        1024,
        0.2,
        cost_max=2,
        alpha=0.75,
        gaps=[0.5, 0.25],
        setting=bounds.Setting(True, "per arm"),
    )
    assert json.loads(out) == [row._asdict() for row in rows]
    answer = {row["name"]: row for row in json.loads(out)}
    assert answer["Theorem 1"]["applies"] is True
    assert answer["Theorem 3"]["value"] > 0
    assert answer["KUBE"]["value"] is None


def test_bounds_of_a_world_are_those_of_what_it_is(command) -> None:  # type: ignore[no-untyped-def]
    known = (
        "--arms",
        "2",
        "--cost-min",
        ".3",
        "--cost-max",
        ".8",
        "--iid",
        "--costs",
        "per arm",
        "--gap",
        "0.875",
    )
    told, read = (
        json.loads(command("bounds", "-b", "1e4", "--json", *words)[1])
        for words in (known, ("-w", WORLD))
    )
    assert [row["name"] for row in told] == [row["name"] for row in read]
    # these hold on some world of this kind, and not on this one
    worst = {"Theorem 2, corrected", "Theorem 5"}
    for one, other in zip(told, read, strict=True):
        assert one["applies"] == (other["applies"] or one["name"] in worst)
        assert other["applies"] == (one["applies"] and one["name"] not in worst)
        assert one["value"] == pytest.approx(other["value"])
    assert read == [row._asdict() for row in bounds.for_world(WORLD, 1e4)]


@pytest.mark.parametrize(
    ("world", "bound"),
    [
        ("theorem2:n_arms=3,cost_min=.5", "Theorem 2, corrected"),
        ("theorem5", "Theorem 5"),
        ("two_worlds", "κ(c)·B"),
    ],
)
def test_a_lower_bound_applies_on_its_own_world(command, world: str, bound: str) -> None:  # type: ignore[no-untyped-def]
    rows = {
        row["name"]: row["applies"]
        for row in json.loads(command("bounds", "-b", "100", "-w", world, "--json")[1])
    }
    assert [name for name in ("Theorem 2, corrected", "Theorem 5", "κ(c)·B") if rows[name]] == [
        bound
    ]


@pytest.mark.parametrize("budget", ["0.5", "1e10"])
@pytest.mark.parametrize(
    "words",
    [("--arms", "3", "--cost-min", ".1", "--gap", "1"), ("-w", WORLD)],
    ids=["told", "read"],
)
def test_bounds_go_on_where_theorem_5_has_none(
    command, budget: str, words: tuple[str, ...]
) -> None:  # type: ignore[no-untyped-def]
    code, out, err = command("bounds", "-b", budget, *words, "--json")
    assert (code, err) == (0, "")
    assert [row["name"] for row in json.loads(out) if row["value"] is None] == [
        "Theorem 5",
        "KUBE",
        "B-KUBE",
        "UCB-BV",
        "UCB-MB",
        "EXP3.M.B",
    ]
    code, out, err = command("bounds", "-b", budget, *words)
    assert (code, err) == (0, "")
    line = next(line for line in out.splitlines() if line.startswith("Theorem 5"))
    assert " ".join(line.split()) == "Theorem 5 exactly mean regret of every player, α = 0.5"


@pytest.mark.parametrize(
    "words",
    [
        ("--arms", "1", "--cost-min", "1"),
        ("--arms", "2", "--cost-min", "1"),
        ("--arms", "1000000", "--cost-min", "1e-9"),
    ],
)
def test_bounds_at_the_edges_are_numbers(command, words: tuple[str, ...]) -> None:  # type: ignore[no-untyped-def]
    code, out, err = command("bounds", "-b", "1", *words, "--json")
    assert (code, err) == (0, "")
    assert {row["name"] for row in json.loads(out) if row["value"] is None} == {
        "Theorem 3",
        "KUBE",
        "B-KUBE",
        "UCB-BV",
        "UCB-MB",
        "EXP3.M.B",
    }


@pytest.mark.parametrize(("verb", "name"), [("policies", "exp3++.bwk"), ("worlds", "two_worlds")])
def test_lists_and_explanations(command, verb: str, name: str) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command(verb)
    assert code == 0
    assert name in out
    assert name in [row["name"] for row in json.loads(command(verb, "--json")[1])]
    code, out, _ = command(verb, name)
    assert code == 0
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize(
    "verb",
    [
        (),
        ("compare",),
        ("init",),
        ("run",),
        ("status",),
        ("show",),
        ("report",),
        ("replay",),
        ("simulate",),
        ("regret",),
        ("bounds",),
        ("policies",),
        ("worlds",),
    ],
)
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
        (
            ("simulate", "exp3.bwk", "-w", WORLD, "-b", "0"),
            "budget=0.0: must be positive, at least 1e-9",
        ),
        (("simulate", "exp3.bwk", "-w", WORLD, "-b", "nan"), "budget=nan"),
        (("simulate", "exp3.bwk", "-w", WORLD, "-b", "ten"), "'ten' is not a number"),
        (("simulate", "exp3.bwk", "-w", "two_worlds:cost_min=0", "-b", "10"), "cost_min=0"),
        (("simulate", "exp3.bwk", "-w", "two_worlds:cost_min=1.5", "-b", "10"), "cost_min=1.5"),
        (
            ("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5,1.5],costs=[1,1]", "-b", "10"),
            "rewards=1.5: must lie between 0 and 1",
        ),
        (
            ("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5,.5],costs=[1,0]", "-b", "10"),
            "costs=0: must be positive",
        ),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[],costs=[]", "-b", "10"), "rewards=[]"),
        (
            ("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5,.5],costs=[1]", "-b", "10"),
            "do not match",
        ),
        (("simulate", "exp3.bwk", "-w", "bernoulli:rewards=[.5", "-b", "10"), "cannot read"),
        (("simulate", "exp3.bwk", "-b", "10"), "Missing option"),
        (("simulate", "none.py", "-w", WORLD, "-b", "10"), "does not exist"),
        (("compare", "-b", "-1"), "budgets=-1"),
        (("compare", "-n", "0"), "n_paths=0"),
        (("compare", "--out", "taken/below"), "cannot write to folder"),
        (("compare", "oracle", "-w", "two_worlds"), "oracle needs the true mean efficiency"),
        (("regret",), "Missing argument 'POLICY'"),
        (("regret", "uniform", "-b", "10"), "Missing option '-w' / '--world'"),
        (("regret", "uniform", "-w", WORLD), "Missing option '-b' / '--budget'"),
        (
            ("regret", "uniform", "uniform", "-w", WORLD, "-b", "10"),
            "unexpected extra argument (uniform)",
        ),
        (("regret", "exp3.bw", "-w", WORLD, "-b", "10"), "did you mean 'exp3.bwk'?"),
        (("regret", "exp3.bwk:gama=1", "-w", WORLD, "-b", "10"), "did you mean 'gamma'?"),
        (("regret", "none.py", "-w", WORLD, "-b", "10"), "does not exist"),
        (("regret", "uniform", "-w", "bernouli", "-b", "10"), "did you mean 'bernoulli'?"),
        (("regret", "uniform", "-w", "", "-b", "10"), "unknown world ''"),
        (
            ("regret", "uniform", "-w", "two_worlds", "-b", "10.5"),
            "budget=10.5: must be a whole number",
        ),
        (
            (
                "regret",
                "uniform",
                "-w",
                "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]",
                "-b",
                "10",
            ),
            "has 2 resources; these notions of regret are for one",
        ),
        (
            ("regret", "oracle", "-w", "two_worlds", "-b", "10"),
            "oracle needs the true mean efficiency",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "0"),
            "budget=0.0: must be positive, at least 1e-9",
        ),
        (("regret", "uniform", "-w", WORLD, "-b", "-5"), "budget=-5.0: must be positive"),
        (("regret", "uniform", "-w", WORLD, "-b", "inf"), "budget=inf: must be a number"),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "1e12"),
            "budget=1000000000000.0: must be a number",
        ),
        (("regret", "uniform", "-w", WORLD, "-b", "ten"), "'ten' is not a number"),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "-n", "0"),
            "n_paths=0: must be a whole number from 1 up",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "-n", "2.5"),
            "'2.5' is not a valid integer",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "-n", "1000000000000000"),
            "n_paths=1000000000000000: must be at most",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "--seed", "-1"),
            "seed=-1: must be a whole number from 0",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "--stop", "never"),
            "stop='never': must be one of 'exit', 'hold', 'retry'",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "--workers", "0"),
            "n_workers=0: must be a whole number from 1 up",
        ),
        (
            ("regret", "uniform", "-w", WORLD, "-b", "10", "--plays", "2"),
            "No such option '--plays'",
        ),
        (("bounds",), "Missing option '-b' / '--budget'"),
        (("bounds", "-b", "10"), "give --arms and --cost-min, or --world"),
        (("bounds", "-b", "10", "--arms", "3"), "give --arms and --cost-min, or --world"),
        (("bounds", "-b", "10", "--cost-min", ".1"), "give --arms and --cost-min, or --world"),
        (("bounds", "-b", "ten", "--arms", "3", "--cost-min", ".1"), "'ten' is not a number"),
        (
            ("bounds", "-b", "0", "--arms", "3", "--cost-min", ".1"),
            "budget=0.0: must be a number above 0",
        ),
        (
            ("bounds", "-b", "nan", "--arms", "3", "--cost-min", ".1"),
            "budget=nan: must be a number above 0",
        ),
        (
            ("bounds", "-b", "1e31", "--arms", "3", "--cost-min", ".1"),
            "budget=1e+31: must be a number above 0 and at most 1e+30",
        ),
        (
            ("bounds", "-b", "10", "--arms", "0", "--cost-min", ".1"),
            "n_arms=0: must be a whole number from 1 to 1000000000",
        ),
        (
            ("bounds", "-b", "10", "--arms", "-2", "--cost-min", ".1"),
            "n_arms=-2: must be a whole number from 1 to 1000000000",
        ),
        (
            ("bounds", "-b", "10", "--arms", "1000000001", "--cost-min", ".1"),
            "n_arms=1000000001: must be a whole number from 1 to 1000000000",
        ),
        (
            ("bounds", "-b", "10", "--arms", "2.5", "--cost-min", ".1"),
            "'2.5' is not a valid integer",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", "0"),
            "cost_min=0.0: must be a number above 0",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", "nan"),
            "cost_min=nan: must be a number above 0",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", "2"),
            "cost_min=2.0: must be at most cost_max=1.0",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", "1e-10"),
            "cost_min=1e-10: must be at most cost_max=1.0, and at least 1e-09 of it",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--cost-max", ".05"),
            "cost_min=0.1: must be at most cost_max=0.05",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--cost-max", "inf"),
            "cost_max=inf: must be a number above 0",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--alpha", "2"),
            "alpha=2.0: must be a number at least 0 and at most 1",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--costs", "foo"),
            "costs='foo': must be one of 'any', 'per arm', 'one'",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--gap", "wide"),
            "'wide' is not a valid float",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--gap", "0"),
            "gap=0.0: must be a number above 0",
        ),
        (
            ("bounds", "-b", "10", "--arms", "3", "--cost-min", ".1", "--gap", "1", "--gap", "-1"),
            "gap=-1.0: must be a number above 0",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--arms", "2"),
            "--world says all that --arms would say; leave one of them out",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--cost-min", ".3"),
            "--world says all that --cost-min would say; leave one of them out",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--cost-max", ".8"),
            "--world says all that --cost-max would say; leave one of them out",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--iid"),
            "--world says all that --iid would say; leave one of them out",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--costs", "one"),
            "--world says all that --costs would say; leave one of them out",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--gap", ".5"),
            "--world says all that --gap would say; leave one of them out",
        ),
        (
            ("bounds", "-b", "10", "-w", WORLD, "--arms", "2", "--cost-min", ".3", "--iid"),
            "--world says all that --arms, --cost-min, --iid would say;",
        ),
        (("bounds", "-b", "10", "-w", "bernouli"), "did you mean 'bernoulli'?"),
        (("bounds", "-b", "10.5", "-w", "two_worlds"), "budget=10.5: must be a whole number"),
        (
            ("bounds", "-b", "10", "-w", "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"),
            "has 2 resources; these bounds are for one",
        ),
        (("bounds", "more", "-b", "10", "-w", "two_worlds"), "unexpected extra argument (more)"),
        (("policies", "exp4"), "unknown policy 'exp4'"),
        (("worlds", "x"), "unknown world 'x'"),
        (("compere",), "No such command 'compere'"),
        (("compare", "--bugdet", "3"), "No such option '--bugdet'"),
    ],
)
def test_a_mistake_is_one_line_exit_2_and_nothing_written(
    command, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:  # type: ignore[no-untyped-def]
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

    monkeypatch.setattr("purse.study.executors.play_shard", interrupt)
    code, _, err = command("compare", "uniform", "-w", WORLD, "-b", "50")
    assert code == 130
    assert "the same command continues where it was" in err


def test_a_measurement_that_keeps_nothing_does_not_promise_to_continue(
    command, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    def interrupt(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("purse.engine.counterfactual.counterfactual_sums", interrupt)
    code, out, err = command("regret", "uniform", "-w", WORLD, "-b", "50")
    assert (code, out, err.strip()) == (130, "", "purse: interrupted")


def test_without_words_it_helps(command) -> None:  # type: ignore[no-untyped-def]
    code, out, _ = command()
    assert code == 0
    assert out.startswith("Usage: purse")


def test_no_memory_is_one_line(command) -> None:  # type: ignore[no-untyped-def]
    code, _, err = command("simulate", "uniform", "-w", WORLD, "-b", "10", "-n", "1000000000000000")
    assert code == 2
    assert len(err.splitlines()) == 1


def test_a_table_is_not_cut_on_a_narrow_terminal(
    command, unpublished: None, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setenv("COLUMNS", "40")
    _, out, _ = command(
        "compare",
        "exp3++.price",
        "uniform",
        "-w",
        WORLD,
        "-b",
        "50",
        "-b",
        "60",
        "-b",
        "70",
        "-n",
        "5",
    )
    assert "exp3++.price" in out
    assert "…" not in out
