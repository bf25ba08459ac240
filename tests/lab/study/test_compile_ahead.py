import pickle
import threading
from collections import deque
from io import BytesIO
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from purse.base.progress import Progress
from purse.compiler.machine_code import _MACHINE_CODE
from purse.engine import cpu
from purse.errors import PurseError
from purse.lab.study import compile_ahead
from purse.lab.study.shard import JobSpec
from tests.support.paths import SCRIPTED
from tests.support.soak import SOAK

NAMES = ("a", "b", "c", "d")
RECIPES = {name: JobSpec(name, "misleading_ratio", 20, 1, "exit") for name in NAMES}


class Loop:
    """A loop that is compiled, or not."""

    by_kind = False


class Process:
    """This process with jobs of these names: what it compiles itself, in order, what its helpers
    get, and what becomes of them. The first job takes until a helper starts, if one is expected.
    """

    def __init__(self) -> None:
        self.compiled, self.sent = list[str](), list[list[str]]()
        self.waited, self.killed, self.started = 0, 0, threading.Event()
        self.expects_help = self.can_start = True
        self.error: BaseException | None = None
        self.loops = {name: Loop() for name in NAMES}

    def compiled_loop(self, job: Any) -> Any:
        return self.loops[job.name]

    def warm_up(self, job: Any, shown: Progress) -> None:
        if self.loops[job.name].by_kind:
            return
        self.compiled.append(job.name)
        self.loops[job.name].by_kind = True
        if job.name == "a":
            assert not self.expects_help or self.started.wait(10)
            if self.error:
                raise self.error

    def start(self, command: Any, stdin: Any, **_: Any) -> Any:
        self.started.set()
        if not self.can_start:
            raise FileNotFoundError("no Python")
        self.sent.append([pickle.loads(recipe).policy for recipe in pickle.load(stdin)])
        return self

    def wait(self) -> None:
        self.waited += 1

    def kill(self) -> None:
        self.killed += not self.waited

    def run(self, recipes: dict[str, JobSpec] = RECIPES, n_workers: int = 2) -> list[str]:
        jobs: Any = {name: SimpleNamespace(name=name) for name in NAMES}
        compile_ahead.warm_up_all(jobs, recipes, Progress("test"), n_workers)
        return self.compiled


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    made = Process()
    monkeypatch.setattr(cpu, "compiled_loop", made.compiled_loop)
    monkeypatch.setattr(cpu, "warm_up", made.warm_up)
    monkeypatch.setattr(compile_ahead, "Popen", made.start)
    monkeypatch.setattr(compile_ahead, "_PATIENCE_S", 0.05)
    monkeypatch.setattr(compile_ahead, "_MOST_HELPERS", 2)
    return made


def test_a_helper_takes_jobs_from_the_end_and_what_it_made_is_loaded_here(process: Process) -> None:
    assert process.run() == ["a", "b", "c", "d"]
    assert process.sent == [["d", "c"]]
    assert process.waited
    assert not process.killed


@pytest.mark.parametrize(
    ("n_helpers", "sent"), [(0, []), (2, [["d", "b"], ["c"]]), (5, [["d"], ["c"], ["b"], ["a"]])]
)
def test_helpers_get_shares_of_one_size_and_none_gets_nothing(
    process: Process, n_helpers: int, sent: list[list[str]]
) -> None:
    waiting = deque(compile_ahead.Task(list, recipe) for recipe in RECIPES.values())
    compile_ahead._share_out(waiting, n_helpers, [])
    assert process.sent == sent


NOWHERE = RECIPES["d"]._replace(policy=ModuleType("nowhere"))  # which comes from no file
vars(NOWHERE.policy)["NAME"] = "nowhere"
SOME = {"c": RECIPES["c"]}


@pytest.mark.parametrize(
    ("changes", "recipes", "n_workers", "sent"),
    [
        ({}, SOME, 2, [["c"]]),
        ({}, {**SOME, "d": NOWHERE}, 2, [["c"]]),
        ({"_PATIENCE_S": 0}, RECIPES, 1, []),
        ({"_PATIENCE_S": 0}, {}, 2, []),
        ({"_PATIENCE_S": 3600}, RECIPES, 2, []),  # all is done before
        ({"code_folder": lambda: None}, RECIPES, 2, []),
        ({"sys.executable": ""}, RECIPES, 2, []),
    ],
)
def test_what_no_helper_can_do_is_compiled_here(
    process: Process,
    changes: dict[str, Any],
    recipes: dict[str, JobSpec],
    n_workers: int,
    sent: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    process.expects_help = bool(sent)
    for name, value in changes.items():
        monkeypatch.setattr(f"purse.lab.study.compile_ahead.{name}", value)
    assert sorted(process.run(recipes, n_workers)) == [*NAMES]
    assert process.sent == sent
    assert process.started.is_set() == bool(sent)


def test_if_no_helper_starts_all_is_compiled_here(process: Process) -> None:
    process.can_start = False
    assert sorted(process.run()) == ["a", "b", "c", "d"]


def test_what_is_compiled_already_is_not_compiled_again(process: Process) -> None:
    for loop in process.loops.values():
        loop.by_kind = True
    assert process.run() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), PurseError("a does not compile")])
def test_an_interruption_or_an_error_stops_the_helpers_and_is_raised_here(
    process: Process, error: BaseException
) -> None:
    process.error = error
    with pytest.raises(type(error)):
        process.run()
    assert process.killed == 1


def test_a_helper_compiles_its_share_and_goes_on_after_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[Any] = []

    def compile_it(recipe: JobSpec, shown: Progress) -> None:
        compiled.append(recipe.policy)
        raise PurseError("does not compile")

    monkeypatch.setattr(JobSpec, "compile", compile_it)
    share = pickle.dumps([pickle.dumps(recipe) for recipe in RECIPES.values()])
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=BytesIO(share)))
    compile_ahead._help_out()
    assert compiled == list(NAMES)


def test_a_helper_leaves_what_it_compiles_in_the_disk_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that compiles takes long, and is in soak; else it has nothing that compiles."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    good = JobSpec(f"{SCRIPTED}:script=[[0]]", "misleading_ratio", 20, 1, "exit")
    bad = good._replace(policy="no such policy")
    recipes = (good, good, bad) if SOAK else (bad, bad)
    waiting = deque(compile_ahead.Task(list, recipe) for recipe in recipes)
    helpers = list[Any]()
    compile_ahead._share_out(waiting, 1, helpers)
    assert [helper.wait() for helper in helpers] == [0]
    assert len(waiting) == 1
    if SOAK:
        (found,) = tmp_path.rglob("*.nbc")
        loop = _MACHINE_CODE.of(cpu.compiled_loop(good.make()).function)
        assert loop.__name__.encode() in found.read_bytes()
