from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

import purse
from purse.testing import check_policy, check_world

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_the_policy_of_the_example_passes_the_checks_and_learns() -> None:
    path = str(EXAMPLES / "epsilon_greedy.py")
    check_policy(path)
    check_policy(f"{path}:epsilon=1")
    table = purse.compare([f"{path}:epsilon=0.05", "uniform"], "misleading_ratio", budgets=[1000], n_paths=30).table()
    ours, uniform = table["regret"].to_list()
    assert ours < uniform / 2


def test_worlds_of_ones_own_pass_the_check_and_play() -> None:
    happy = purse.environments.make(f"{EXAMPLES / 'happy_hour.py'}:discount=0.7", budget=100)
    assert (happy.tables.costs[:, 1, 0, 0] / 1e9).tolist() == pytest.approx([0.5] * 17 + [0.15] * 3 + [0.5] * 4)
    check_world(happy)
    noisy = purse.environments.make(f"{EXAMPLES / 'noisy_prices.py'}:rewards=[.5,.6],low=[.1,.5],high=[1,.6]", budget=100)
    check_world(noisy)
    assert purse.regrets("exp3++.price", noisy, 1000, n_paths=20)["own_rounds"].mean > 0


def test_the_router_spends_its_budget_on_the_cheap_model(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "route_llm_calls.py"), run_name="__main__")
    first, *models = capsys.readouterr().out.splitlines()
    spent = float(first.split("$")[1].split()[0])
    assert 9.95 <= spent <= 10
    counts = [int(line.split()[1]) for line in models]
    assert counts[0] > counts[2]


def test_recorded_answers_are_replayed_with_every_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pareto_bandit" / "data" / "examples"
    folder.mkdir(parents=True)
    (tmp_path / "pareto_bandit" / "__init__.py").touch()
    line = json.dumps({"prompt": "?", "arms": {"a/small": {"reward": 0.5, "cost": 0.001}, "b/large": {"reward": 1, "cost": 0.1}}})
    (folder / "test_holdout.jsonl").write_text(f"{line}\n" * 100)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "argv", ["llm_routing_replay.py", "uniform"])
    runpy.run_path(str(EXAMPLES / "llm_routing_replay.py"), run_name="__main__")
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["quality", "bought", "with", "$0.1", "$0.3", "$1", "$3", "$10", "$30"]
    found = {line[:40].strip(): line[40:].split() for line in lines}
    assert found["always small (cheapest)"] == ["50"] * 6
    assert found["always large (best)"] == ["1", "3", "10", "30", "100", "100"]
    assert found["LP optimum"] == ["50", "51", "55", "65", "100", "100"]
    assert "uniform" in found


def test_without_the_data_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(EXAMPLES / "llm_routing_replay.py"), run_name="__main__")
    assert stopped.value.code == 2
    assert capsys.readouterr().err == "the data are in a package that is not installed: pip install paretobandit\n"
