from __future__ import annotations

import json
from pathlib import Path

import pytest

from purse.lab.theory import bound, bounds, contexts
from tests.support.cli import WORLD, Command, check_mistake

KNOWN = "-b 10 --arms 3 --cost-min .1"
TWO = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
NEITHER = "give --arms and --cost-min, or --world"
ARMS = "must be a whole number from 1 to 1000000000"
BELOW = "must be at most cost_max"
EXCLUDE = "exclude each other; leave "
OTHERS = ["KUBE", "B-KUBE", "UCB-BV", "UCB-MB", "EXP3.M.B"]  # bounds that have no value here


def test_bounds_for_people(command: Command, tmp_path: Path) -> None:
    code, out, err = command("lab bounds --arms 10 --budget 1e4 --cost-min 0.1")
    assert (code, err) == (0, "")
    lines, rows = out.splitlines(), bounds.table(10, 1e4, 0.1)
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line[0] != " "][-1].startswith(rows[-1].name)
    words = " ".join(out.split())
    for row in rows:
        assert f"{row.bounds} {row.holds} [{row.source}]" in words
    assert "39,790.2  does not apply" in lines[0]
    assert any(line.startswith("κ(c)·B") and "8,888.9  applies" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


def test_bounds_for_machines(command: Command) -> None:
    code, out, err = command(
        "lab bounds --arms 3 -b 1024 --cost-min 0.2 --cost-max 2 --gap .5 --gap .25 --alpha .75 "
        "--iid --costs 'per arm' --json"
    )
    assert (code, err) == (0, "")
    setting = bound.Setting(True, "per arm")
    rows = bounds.table(3, 1024, 0.2, cost_max=2, alpha=0.75, gaps=[0.5, 0.25], setting=setting)
    assert json.loads(out) == [row._asdict() for row in rows]
    answer = {row["name"]: row for row in json.loads(out)}
    assert answer["Theorem 1"]["applies"] is True
    assert answer["Theorem 3"]["value"] > 0
    assert answer["KUBE"]["value"] is None


def test_bounds_of_a_world_are_those_of_what_it_is(command: Command) -> None:
    known = "--arms 2 --cost-min .3 --cost-max .8 --iid --costs 'per arm' --gap 0.875"
    told, read = (
        json.loads(command(f"lab bounds -b 1e4 --json {words}")[1])
        for words in (known, f"-w {WORLD}")
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
def test_a_lower_bound_applies_on_its_own_world(command: Command, world: str, bound: str) -> None:
    rows = {
        row["name"]: row["applies"]
        for row in json.loads(command(f"lab bounds -b 100 -w {world} --json")[1])
    }
    assert [name for name in ("Theorem 2, corrected", "Theorem 5", "κ(c)·B") if rows[name]] == [
        bound
    ]


@pytest.mark.parametrize("budget", ["0.5", "1e10"])
@pytest.mark.parametrize(
    "words", ["--arms 3 --cost-min .1 --gap 1", f"-w {WORLD}"], ids=["told", "read"]
)
def test_bounds_go_on_where_theorem_5_has_none(command: Command, budget: str, words: str) -> None:
    code, out, err = command(f"lab bounds -b {budget} {words} --json")
    assert (code, err) == (0, "")
    missing = [row["name"] for row in json.loads(out) if row["value"] is None]
    assert missing == ["Theorem 5", *OTHERS]
    code, out, err = command(f"lab bounds -b {budget} {words}")
    assert (code, err) == (0, "")
    assert "Theorem 5 exactly mean regret of every player, α = 0.5" in " ".join(out.split())


@pytest.mark.parametrize(
    "words",
    ["--arms 1 --cost-min 1", "--arms 2 --cost-min 1", "--arms 1000000 --cost-min 1e-9"],
)
def test_bounds_at_the_edges_are_numbers(command: Command, words: str) -> None:
    code, out, err = command(f"lab bounds -b 1 {words} --json")
    assert (code, err) == (0, "")
    missing = {row["name"] for row in json.loads(out) if row["value"] is None}
    assert missing == {"Theorem 3", *OTHERS}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing option '-b' / '--budget'"),
        ("-b 10", NEITHER),
        ("-b 10 --arms 3", NEITHER),
        ("-b 10 --cost-min .1", NEITHER),
        ("-b ten --arms 3 --cost-min .1", "'ten' is not a number"),
        ("-b 0 --arms 3 --cost-min .1", "budget=0.0: must be a number above 0"),
        ("-b nan --arms 3 --cost-min .1", "budget=nan: must be a number above 0"),
        (
            "-b 1e31 --arms 3 --cost-min .1",
            "budget=1e+31: must be a number above 0 and at most 1e+30",
        ),
        ("-b 10 --arms 0 --cost-min .1", f"n_arms=0: {ARMS}"),
        ("-b 10 --arms -2 --cost-min .1", f"n_arms=-2: {ARMS}"),
        (f"-b 10 --arms {10**9 + 1} --cost-min .1", f"n_arms={10**9 + 1}: {ARMS}"),
        ("-b 10 --arms 2.5 --cost-min .1", "'2.5' is not a valid integer"),
        ("-b 10 --arms 3 --cost-min 0", "cost_min=0.0: must be a number above 0"),
        ("-b 10 --arms 3 --cost-min nan", "cost_min=nan: must be a number above 0"),
        ("-b 10 --arms 3 --cost-min 2", f"cost_min=2.0: {BELOW}=1.0"),
        (
            "-b 10 --arms 3 --cost-min 1e-10",
            f"cost_min=1e-10: {BELOW}=1.0, and at least 1e-09 of it",
        ),
        (f"{KNOWN} --cost-max .05", f"cost_min=0.1: {BELOW}=0.05"),
        (f"{KNOWN} --cost-max inf", "cost_max=inf: must be a number above 0"),
        (f"{KNOWN} --alpha 2", "alpha=2.0: must be a number at least 0 and at most 1"),
        (f"{KNOWN} --costs foo", "costs='foo': must be one of 'any', 'per arm', 'one'"),
        (f"{KNOWN} --gap wide", "'wide' is not a valid float"),
        (f"{KNOWN} --gap 0", "gap=0.0: must be a number above 0"),
        (f"{KNOWN} --gap 1 --gap -1", "gap=-1.0: must be a number above 0"),
        *(
            (f"-b 10 -w {WORLD} {word}", f"--world and {word.split()[0]} {EXCLUDE}")
            for word in (
                "--arms 2",
                "--cost-min .3",
                "--cost-max .8",
                "--iid",
                "--costs one",
                "--gap .5",
            )
        ),
        (
            f"-b 10 -w {WORLD} --arms 2 --cost-min .3 --iid",
            f"--world and --arms, --cost-min, --iid {EXCLUDE}",
        ),
        ("-b 10 -w bernouli", "did you mean 'bernoulli'?"),
        ("-b 10.5 -w two_worlds", "budget=10.5: must be a whole number"),
        (f"-b 10 -w {TWO}", "has 2 resources; these bounds are for one"),
        ("more -b 10 -w two_worlds", "unexpected extra argument (more)"),
    ],
)
def test_mistakes(command: Command, tmp_path: Path, words: str, message: str) -> None:
    check_mistake(command, tmp_path, f"lab bounds {words}", message)


def test_optima_for_people_and_for_machines(command: Command, tmp_path: Path) -> None:
    world = "class_contexts:classes=2,arms=2,rows=9,horizon=50"
    code, out, err = command(f"lab optimum -w {world} -b 20 -n 2")
    assert (code, err) == (0, "")
    names = [contexts.WITHOUT, contexts.LINEAR, contexts.WITH, contexts.HINDSIGHT]
    assert [line[:20].strip() for line in out.splitlines()] == names
    answer = json.loads(command(f"lab optimum -w {world} -b 20 -n 2 --json")[1])
    assert list(answer["optima"]) == names
    assert answer["optima"][contexts.WITH] == contexts.lp_with_contexts(world, 20)
    endless = json.loads(command(f"lab optimum -w {world[:-3]}=None -b 20 --json")[1])
    assert list(endless["optima"]) == names[:3]
    plain = json.loads(command(f"lab optimum -w {WORLD} -b 50 --horizon 100 -n 1 --json")[1])
    assert plain["optima"]["LP optimum"] == 72
    two = json.loads(command(f"lab optimum -w {TWO} -b 5 -b 4 --json")[1])
    assert two["budget"] == [5, 4]
    check_mistake(
        command, tmp_path, "lab optimum -w same_costs -b 9", "no optimum is known; pass --h"
    )
