import json
from pathlib import Path
from typing import Any

import pytest

from purse.lab.theory.notions import NOTIONS
from tests.support.cli import WORLD, Command, check_mistake

TWO = "bernoulli:rewards=[.9,.6],costs=[[.8,.1],[.3,.2]]"
REGRET = f"lab regret uniform -w {WORLD} -b 10"


def test_simulate_for_people_and_for_machines(command: Command) -> None:
    line = f"lab simulate exp3.bwk:gamma=.5 -w {WORLD} -b 100 -n 4 --seed 7"
    code, out, _ = command(line)
    assert code == 0
    assert out.startswith(f"exp3.bwk:gamma=.5 on {WORLD}: 4 paths, budget 100, stop=exit, seed=7")
    code, out, _ = command(f"{line} --json")
    answer = json.loads(out)
    assert len(answer["gain"]) == 4
    assert sum(answer["pulls"][0]) == answer["rounds"][0]
    code, out, _ = command(f"lab simulate uniform -w {TWO} -b 10 -b 2 -n 2 --json")
    assert (code, json.loads(out)["budget"]) == (0, [10, 2])


def test_simulate_with_late_reports(command: Command) -> None:
    line = f"lab simulate uniform -w {WORLD} -b 20 -n 4 --stop hold"
    code, out, _ = command(f"{line} --delay 3")
    assert code == 0
    assert out.startswith(f"uniform on {WORLD}: 4 paths, budget 20, stop=hold, seed=0, delay=3\n")
    _, late, _ = command(f"{line} --delay geometric:2.5 --json")
    _, prompt, _ = command(f"{line} --json")
    assert (json.loads(late)["delay"], json.loads(prompt)["delay"]) == ("geometric:2.5", 0)


def test_regret_for_people_and_for_machines(command: Command, tmp_path: Path) -> None:
    line = f"lab regret exp3.bwk:gamma=.5 -w {WORLD} -b 1e2 -n 4 --seed 7 --stop hold --workers 2"
    code, out, err = command(line)
    assert (code, err) == (0, "")
    head, *lines = out.splitlines()
    assert head == f"exp3.bwk:gamma=.5 on {WORLD}: 4 paths, budget 100"
    assert max(map(len, lines)) <= 80
    lines = [line for line in lines if line[0] != " "]  # the rest goes on with what it is
    assert [line.split()[0] for line in lines] == list(NOTIONS)
    assert all("±" in line for line in lines)
    code, out, err = command(f"{line} --json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    regrets = answer.pop("regrets")
    assert list(answer.values()) == ["exp3.bwk:gamma=.5", WORLD, 100, "hold", 7, 4]
    assert list(regrets) == list(NOTIONS)
    for each in regrets.values():
        assert list(each) == ["mean", "error", "low", "high"]
        assert each["low"] <= each["mean"] <= each["high"]
    assert list(tmp_path.iterdir()) == []


def test_regret_of_one_path_has_no_interval(command: Command) -> None:
    line = f"lab regret uniform -w {WORLD} -b 20 -n 1"
    assert "±" not in command(line)[1]
    assert command(line)[1].startswith(f"uniform on {WORLD}: 1 path, budget 20\n")
    for each in json.loads(command(f"{line} --json")[1])["regrets"].values():
        assert isinstance(each["mean"], float)
        assert each["error"] is each["low"] is each["high"] is None
    names = list(json.loads(command(f"{line} --stop retry --json")[1])["regrets"])
    assert names == [name for name in NOTIONS if name != "optimum"]


def test_a_measurement_that_keeps_nothing_does_not_promise_to_continue(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*args: object, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("purse.engine.counterfactual.counterfactual_sums", interrupt)
    code, out, err = command(f"lab regret uniform -w {WORLD} -b 50")
    assert (code, out, err.strip()) == (130, "", "purse: interrupted")


def test_no_memory_is_one_line(command: Command) -> None:
    code, _, err = command(f"lab simulate uniform -w {WORLD} -b 10 -n {10**15}")
    assert code == 2
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (f"lab simulate exp3+.bwk -w {WORLD} -b 10", "did you mean 'exp3++.bwk'?"),
        ("lab simulate exp3.bwk -w bernouli -b 10", "did you mean 'bernoulli'?"),
        (f"lab simulate exp3.bwk:gama=1 -w {WORLD} -b 10", "did you mean 'gamma'?"),
        (f"lab simulate exp3.bwk -w {WORLD} -b ten", "'ten' is not a number"),
        ("lab simulate exp3.bwk -w bernoulli:rewards=[.5 -b 10", "cannot read"),
        (f"lab simulate exp3.bwk -w {WORLD} -b 10 --delay soon", "delay='soon': must be a whole"),
        (f"{REGRET} --delay 3", "No such option '--delay'"),
        (f"lab simulate none.py -w {WORLD} -b 10", "does not exist"),
        ("lab regret", "Missing argument 'POLICY'"),
        (
            f"lab regret uniform -w {TWO} -b 10",
            "has 2 resources; these notions of regret are for one",
        ),
    ],
)
def test_mistakes(command: Command, tmp_path: Path, words: str, message: str) -> None:
    check_mistake(command, tmp_path, words, message)
