import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import numba
import numpy as np
import pytest

from purse import worlds
from purse.compiler import jit, machine_code
from purse.compiler.blocks import Block
from purse.compiler.jit import bind
from purse.compiler.kernel import cold, kernel
from purse.compiler.machine_code import _WHOLE
from purse.compiler.numba_contract import LEAN
from purse.engine import cpu
from purse.engine.job import make_job
from purse.lab.replay import logged_rounds
from tests.support.processes import fresh_process

HELPER = """\
from purse.compiler.kernel import kernel

ARM = 1


@kernel
def favourite(t):
    return ARM
"""
POLICY = """\
from typing import NamedTuple

import helper
import numpy as np
from purse.kernels import kernel

NAME = "mine"


class MineParams(NamedTuple):
    offset: int
    spare: int


class MineState(NamedTuple):
    nothing: np.ndarray


def params(problem):
    return MineParams(offset=0, spare=2)


def init(params, problem):
    return MineState(np.zeros(1))


@kernel
def choose(params, state, scratch, now, play):
    play.arms[0] = helper.favourite(now.t) + params.offset
    play.probs[0] = 1.0


@kernel
def update(params, state, scratch, now, play):
    pass
"""
ASK = """
import json, sys
import purse, purse.compiler.jit
policy = purse.Policy(sys.argv[1], n_arms=4, budget=10, cost_min=1)
policy._steps._kind.ask.compile()
arm = policy.ask().arm
bound = purse.compiler.jit._bound.values()
(stats,) = (each.machine_code.stats for each in bound if each.function.__name__ == "_ask_at")
hits, misses = sum(stats.cache_hits.values()), sum(stats.cache_misses.values())
print(json.dumps({"arm": arm, "hits": hits, "misses": misses}))
"""


class Bench:
    """A user's policy, the helper that it imports, and a cache that has met both."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cache = folder, folder / "cache"
        self.policy, self.helper = folder / "mine.py", folder / "helper.py"

    def write(self) -> None:
        self.policy.write_text(POLICY)
        self.helper.write_text(HELPER)

    def ask(self, policy: Path | None = None) -> dict[str, Any]:
        """The arm of a first ask in a fresh process, compiled or found there, without a warning."""
        more = {"path": self.folder, "PYTHONWARNINGS": "error"}
        return fresh_process(ASK, policy or self.policy, cache=self.cache, **more)


@pytest.fixture(scope="module")
def met(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("user"))
    bench.write()
    assert bench.ask() == {"arm": 1, "hits": 0, "misses": 1}
    shutil.copytree(bench.cache, bench.folder / "cache_of_the_first_run")
    return bench


@pytest.fixture
def bench(met: Bench) -> Iterator[Bench]:
    yield met
    met.write()
    shutil.rmtree(met.cache)
    shutil.copytree(met.folder / "cache_of_the_first_run", met.cache)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def compiled_code(dispatcher: Any) -> str:
    return "".join(dispatcher.inspect_llvm().values()) + "".join(dispatcher.inspect_asm().values())


def test_a_bound_loop_counts_no_references() -> None:
    world = worlds.make("bernoulli:rewards=[.5,.5],costs=[1,1]", 100)
    job = make_job("exp3.bwk", world, 100)
    results = cpu.empty_results(job, 1)
    block = Block(cpu._arguments(job, 0, results, np.zeros(1), np.zeros(1, np.int64)))
    loop = bind(jit._call_block, called=cpu.compiled_loop(job).function, KIND=block.kind)
    fresh = numba.njit(nogil=True, **_WHOLE, **LEAN)(loop.machine_code.py_func)
    fresh(block.address)
    assert results.rounds.tolist() == [100]
    code = compiled_code(fresh)
    assert len(code) > 10_000
    assert "NRT_" not in code


def test_references_would_be_seen_in_compiled_code() -> None:
    def first_of_row(table: np.ndarray, i: int) -> np.ndarray:
        return table[i]

    with_references = numba.njit(first_of_row)
    with_references(np.ones((2, 2)), 0)
    assert "NRT_" in compiled_code(with_references)


def test_a_comment_elsewhere_still_hits_the_cache(bench: Bench) -> None:
    edit(bench.helper, "@kernel", "# a remark\n@kernel")
    edit(bench.policy, "NAME =", "# another remark\nNAME =")
    assert bench.ask() == {"arm": 1, "hits": 1, "misses": 0}


def test_an_edit_of_an_imported_helper_takes_effect(bench: Bench) -> None:
    edit(bench.helper, "return ARM", "return ARM + 2")
    assert bench.ask() == {"arm": 3, "hits": 0, "misses": 1}


def test_parameters_in_another_order_and_with_another_name_take_effect(bench: Bench) -> None:
    edit(bench.policy, "    offset: int\n    spare: int\n", "    spare: int\n    offset: int\n")
    edit(bench.policy, "MineParams", "BetterParams")
    assert bench.ask()["arm"] == 1


def test_a_policy_file_may_be_moved(bench: Bench, tmp_path: Path) -> None:
    moved = Path(shutil.move(bench.policy, tmp_path / "moved.py"))
    assert bench.ask(moved)["arm"] == 1


part: Any = None
SHIFT = 0


def loop(x: int) -> int:
    return part(x) + SHIFT


@kernel
def one_more(x: int) -> int:
    return x + 1


@cold
def twice(x: int) -> int:
    return 2 * x


def test_bind_puts_kernels_and_constants_into_the_loop() -> None:
    assert bind(loop, part=one_more)(5) == 6
    assert bind(loop, part=twice)(5) == 10
    assert bind(loop, part=twice, SHIFT=3)(5) == 13
    assert part is None


def test_bind_gives_the_same_loop_for_the_same_parts() -> None:
    assert bind(loop, part=one_more) is bind(loop, part=one_more)
    assert bind(loop, part=one_more) is not bind(loop, part=twice)
    made = bind(loop, part=one_more).machine_code
    assert made.__name__.startswith("loop_")
    assert made.targetoptions.items() >= LEAN.items()


def test_without_a_folder_for_compiled_code_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As for a service whose user can write neither the package's folder nor a home of its own."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    monkeypatch.setattr(jit, "_bound", {})
    bound = bind(loop, part=one_more, SHIFT=4)
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR to a folder"):
        assert bound(5) == 10


def test_direct_gives_the_compiled_function() -> None:
    bound = bind(loop, part=one_more)
    found = bound.direct(1)
    assert found(5) == 6
    assert found is not bound.machine_code


def test_a_kernel_of_ours_travels_by_name_and_another_as_a_copy() -> None:
    @kernel
    def other(t: int) -> int:
        return t

    ours = logged_rounds.draw
    assert pickle.loads(pickle.dumps(ours)) is ours
    assert b"logged_rounds:draw" in pickle.dumps(ours)
    assert pickle.loads(cloudpickle.dumps(other))(3) == 3


def test_where_no_folder_can_be_written_there_is_none_for_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert jit.code_folder() is not None

    def refuse(function: Any) -> Any:
        raise RuntimeError("no locator available")

    monkeypatch.setattr(machine_code, "FunctionCache", refuse)
    assert jit.code_folder() is None
