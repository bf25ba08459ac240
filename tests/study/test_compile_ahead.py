from __future__ import annotations

import pickle
import threading
from collections import deque
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from purse.base.progress import Progress
from purse.compiler.machine_code import MACHINE_CODE
from purse.engine import cpu
from purse.study import compile_ahead
from purse.study.shard import JobSpec
from tests.support.paths import SCRIPTED

NAMES = ("a", "b", "c", "d")
RECIPES = {name: JobSpec(name, "misleading_ratio", 20, 1, "exit") for name in NAMES}


class Loop:
    """A loop that is compiled, or not."""

    by_kind = False


class Helper:
    """A helper that keeps what it is sent and answers, at first as it should."""

    def __init__(self, *answers: bytes) -> None:
        self.answers, self.sent, self.ended = iter(answers), list[str](), threading.Event()
        self.stdin, self.stdout = self, self

    def write(self, recipe: bytes) -> None:
        if recipe:
            self.sent.append(pickle.loads(recipe).policy)

    def flush(self) -> None: ...

    def read(self, size: int) -> bytes:
        return next(self.answers)

    def kill(self) -> None:
        self.ended.set()

    def __enter__(self) -> Helper:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()


class Process:
    """This process with jobs of these names: what it compiles itself, in order. The first job takes
    as long as `helper` works.
    """

    def __init__(self, helper: Helper | None) -> None:
        self.helper, self.compiled, self.started = helper, list[str](), 0
        self.loops = {name: Loop() for name in NAMES}

    def compiled_loop(self, job: Any) -> Loop:
        return self.loops[job.name]

    def warm_up(self, job: Any, shown: Progress) -> None:
        if self.loops[job.name].by_kind:
            return
        self.compiled.append(job.name)
        self.loops[job.name].by_kind = True
        if job.name == "a" and self.helper:
            assert self.helper.ended.wait(10)

    def start_helper(self, code: str) -> Any:
        self.started += 1
        if self.helper is None:
            raise FileNotFoundError("no Python")
        return self.helper

    def run(self, recipes: dict[str, JobSpec] = RECIPES, n_workers: int = 2) -> list[str]:
        jobs: Any = {name: SimpleNamespace(name=name) for name in NAMES}
        compile_ahead.warm_up_all(jobs, recipes, Progress("test"), n_workers)
        return self.compiled


@pytest.fixture
def process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Process:
    made = Process(None if request.param is None else Helper(*request.param))
    monkeypatch.setattr(cpu, "compiled_loop", made.compiled_loop)
    monkeypatch.setattr(cpu, "warm_up", made.warm_up)
    monkeypatch.setattr(compile_ahead, "start_helper", made.start_helper)
    monkeypatch.setattr(compile_ahead, "PATIENCE_S", 0.05)
    monkeypatch.setattr(compile_ahead, "MOST_HELPERS", 7)
    return made


def helped(*answers: bytes) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("process", [answers], indirect=True, ids=["helped"])


YES = compile_ahead.DONE


@helped(YES, YES, YES)
def test_a_helper_takes_jobs_from_the_end_and_what_it_made_is_loaded_here(process: Process) -> None:
    assert process.run() == ["a", "b", "c", "d"]  # after `a` all are loaded, in order
    assert process.helper is not None
    assert process.helper.sent == ["d", "c", "b"]


@helped(YES, b"")
def test_what_a_helper_that_dies_has_left_is_compiled_here(process: Process) -> None:
    assert sorted(process.run()) == ["a", "b", "c", "d"]
    assert process.helper is not None
    assert process.helper.sent == ["d", "c"]


@helped(YES)
def test_jobs_that_cannot_be_sent_are_compiled_here(process: Process) -> None:
    nowhere = ModuleType("nowhere")
    nowhere.NAME = "nowhere"  # type: ignore[attr-defined]
    unsendable = RECIPES["c"]._replace(policy=nowhere)
    recipes = {"a": RECIPES["a"], "b": RECIPES["b"], "c": unsendable}  # and none for d
    assert sorted(process.run(recipes)) == ["a", "b", "c", "d"]
    assert process.helper is not None
    assert process.helper.sent == ["b"]


@pytest.mark.parametrize("process", [None], indirect=True, ids=["alone"])
def test_where_no_helper_starts_all_is_compiled_here(process: Process) -> None:
    assert process.run() == ["a", "b", "c", "d"]


@helped()
def test_one_worker_starts_no_helper(process: Process) -> None:
    assert process.helper is not None
    process.helper.ended.set()
    assert process.run(n_workers=1) == ["a", "b", "c", "d"]
    assert process.helper.sent == []


@helped()
def test_without_recipes_no_helper_starts(process: Process) -> None:
    assert process.helper is not None
    process.helper.ended.set()
    assert process.run(recipes={}) == ["a", "b", "c", "d"]
    assert process.started == 0


@helped()
def test_nobody_waits_for_helpers_that_have_not_begun(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert process.helper is not None
    process.helper.ended.set()
    monkeypatch.setattr(compile_ahead, "PATIENCE_S", 3600)
    assert process.run() == ["a", "b", "c", "d"]
    assert process.started == 0


@helped()
def test_what_is_compiled_already_is_not_compiled_again(process: Process) -> None:
    for loop in process.loops.values():
        loop.by_kind = True
    assert process.run() == []


@helped(YES, YES, YES)
def test_an_interruption_stops_the_helpers(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    helper, reading, go_on = process.helper, threading.Event(), threading.Event()
    assert helper is not None

    def read(size: int) -> bytes:
        reading.set()
        go_on.wait(10)
        return b""

    def interrupted(job: Any, shown: Progress) -> None:
        assert reading.wait(10)
        raise KeyboardInterrupt

    def kill() -> None:
        go_on.set()
        helper.ended.set()

    monkeypatch.setattr(helper, "read", read)
    monkeypatch.setattr(helper, "kill", kill)
    monkeypatch.setattr(cpu, "warm_up", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.run()
    assert go_on.is_set()
    assert helper.sent == ["d"]


def test_a_helper_leaves_what_it_compiles_in_the_disk_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    good = JobSpec(f"{SCRIPTED}:script=[[0]]", "misleading_ratio", 20, 1, "exit")
    bad = good._replace(policy="no such policy")
    waiting, helpers = (
        deque([compile_ahead.Task(list, recipe) for recipe in (good, bad)]),
        list[Any](),
    )
    compile_ahead.lead(waiting, helpers)
    (found,) = tmp_path.rglob("*.nbc")
    loop = MACHINE_CODE.of(cpu.compiled_loop(good.make()).function)
    assert loop.__name__.encode() in found.read_bytes()
    assert helpers[0].returncode == 0
