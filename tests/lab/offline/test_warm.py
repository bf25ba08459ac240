from __future__ import annotations

import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

import purse
from purse.compiler.jit import code_folder
from purse.engine import cpu
from purse.lab.offline import estimates, log_worlds, warm
from purse.lab.offline.off_policy import estimate_log
from purse.lab.study.compile_ahead import Task


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """What was to be compiled; nothing is."""
    found: list[Task] = []

    def compile_all(tasks: Sequence[Task], n_workers: int) -> None:
        found.extend(tasks)

    monkeypatch.setattr(warm, "compile_all", compile_all)
    return found


def test_loops_are_compiled(asked: list[Task]) -> None:
    assert purse.lab.warm("uniform") == code_folder()
    ours, logged = (task.recipe.make() for task in asked)
    assert (ours.world.draw, logged.world.draw) == (None, log_worlds.draw)


def test_the_default_is_what_others_take_by_default(asked: list[Task]) -> None:
    purse.lab.warm()
    assert {"replan", "uniform"} <= {task.recipe.policy for task in asked}


def test_a_policy_that_sees_contexts_is_compiled_with_them(asked: list[Task]) -> None:
    purse.lab.warm(["lin-ucb.price"])
    assert [task.recipe.make().contexts for task in asked] == [True]


def test_a_recipe_is_found_by_other_processes(asked: list[Task]) -> None:
    purse.lab.warm("uniform")
    for task in asked:
        again = pickle.loads(pickle.dumps(task.recipe))
        assert cpu.compiled_loop(again.make()) is cpu.compiled_loop(task.recipe.make())


def test_without_a_folder_for_code_nothing_is_compiled(
    asked: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "code_folder", lambda: None)
    with pytest.raises(purse.PurseError, match="no folder for compiled code"):
        purse.lab.warm("uniform")
    assert not asked


def test_a_log_is_compiled_once_for_all_methods_and_all_players_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[str] = []
    monkeypatch.setattr(
        estimates, "warm_up_all", lambda jobs, recipes, bar, workers: keys.extend(jobs)
    )
    file = tmp_path / "log.csv"
    rows = "a,1,1,0.5\nb,0,1,0.5\n" * 50
    file.write_text(f"arm,reward,cost,probability\n{rows}")
    estimate_log(file, policies=["uniform"], budgets=5, n_paths=2, replicates=2, references=True)
    assert keys == ["uniform", "fixed:arm=0"]
