import json
from pathlib import Path

import pytest

from purse.lab.theory import bound, bounds, contexts
from tests.support.cli import WORLD, Command, check_mistake

KNOWN = "-b 10 --arms 3 --cost-min .1"
TWO = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
NEITHER = "give --arms and --cost-min, or --world"
EXCLUDE = "exclude each other; leave "


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
    code, out, err = command(f"lab bounds -b 1e4 --json -w {WORLD}")
    assert (code, err) == (0, "")
    rows = bounds.table(budget=1e4, **bound.problem_of(WORLD, 1e4))
    assert json.loads(out) == [row._asdict() for row in rows]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "Missing option '-b' / '--budget'"),
        ("-b 10", NEITHER),
        ("-b 10 --cost-min .1", NEITHER),
        ("-b ten --arms 3 --cost-min .1", "'ten' is not a number"),
        ("-b 10 --arms 2.5 --cost-min .1", "'2.5' is not a valid integer"),
        (f"{KNOWN} --costs foo", "costs='foo': must be one of 'any', 'per arm', 'one'"),
        (f"{KNOWN} --gap wide", "'wide' is not a valid float"),
        *(
            (f"-b 10 -w {WORLD} {word}", f"--world and {word.split()[0]} {EXCLUDE}")
            for word in ("--cost-max .8", "--iid", "--costs one", "--gap .5")
        ),
        (
            f"-b 10 -w {WORLD} --arms 2 --cost-min .3 --iid",
            f"--world and --arms, --cost-min, --iid {EXCLUDE}",
        ),
        ("-b 10 -w bernouli", "did you mean 'bernoulli'?"),
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
