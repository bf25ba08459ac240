import pickle
from collections.abc import Sequence

import pytest

import purse
from purse.compiler.jit import code_folder
from purse.engine import cpu
from purse.engine.job import make_job
from purse.lab.replay import warm
from purse.lab.replay.model_world import make_model
from purse.lab.study.compile_ahead import Task
from tests.support.replays import EVEN_LOG, log_of


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """What was to be compiled; nothing is."""
    found: list[Task] = []

    def compile_all(tasks: Sequence[Task], n_workers: int) -> None:
        found.extend(tasks)

    monkeypatch.setattr(warm, "compile_all", compile_all)
    return found


def test_loops_are_compiled_and_found_by_other_processes(asked: list[Task]) -> None:
    assert purse.lab.warm("uniform") == code_folder()
    (task,) = asked
    again = pickle.loads(pickle.dumps(task.recipe))
    job = task.recipe.make()
    assert cpu.compiled_loop(again.make()) is cpu.compiled_loop(job)
    # a log's world has the loop of all others
    logged = make_job("uniform", make_model(log_of(EVEN_LOG)).world, 5)
    assert cpu.compiled_loop(logged) is cpu.compiled_loop(job)


def test_the_default_is_what_others_take_by_default(asked: list[Task]) -> None:
    purse.lab.warm()
    assert {"replan", "uniform"} <= {task.recipe.policy for task in asked}
    asked.clear()
    purse.lab.warm(["lin-ucb.price"])  # which sees contexts
    assert [task.recipe.make().contexts for task in asked] == [True]


def test_without_a_folder_for_code_nothing_is_compiled(
    asked: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "code_folder", lambda: None)
    with pytest.raises(purse.PurseError, match="no folder for compiled code"):
        purse.lab.warm("uniform")
    assert not asked
