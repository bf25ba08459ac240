"""The GPU engine. Without a GPU one kernel is still compiled, with PURSE_SOAK all; what a GPU
computes is marked `gpu`.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import purse
from purse import policies, worlds
from purse.base.progress import Progress
from purse.compiler.cuda_patches import CudaAPIError, CudaSupportError
from purse.engine import cpu, gpu, gpu_memory
from purse.engine.gpu_memory import PathMemory
from purse.engine.job import Job, _NoScratch, make_job, sees_contexts
from purse.engine.rounds import GOING
from purse.testing import check_gpu
from purse.testing.games import _standard_world, half_down, suitable
from purse.types import STOP_RULES
from tests.support.paths import MASKS_SEEN
from tests.support.soak import SOAK

NAMES = policies.names()
RULES = {"exp3.m.b": "retry", "kube": "fit"}  # others play under `exit`
SEVERAL_PLAYS = ["exp3.m.b", "ucb-mb", "uniform"]
needs_soak = pytest.mark.skipif(not SOAK, reason="set PURSE_SOAK=1")
SEEING = [name for name in NAMES if sees_contexts(policies.load(name))]


def check_code(code: str) -> None:
    assert ".entry" in code
    assert "__nv_" not in code  # log, exp and the like are ours
    assert ".extern .func" not in code  # nothing is allocated


@needs_soak
@pytest.mark.parametrize("name", NAMES)
def test_a_policy_compiles_for_a_gpu_and_without_a_call_of_a_library(name: str) -> None:
    place, horizon = suitable(name, 1, None)
    rule = RULES.get(name, "exit")
    check_code(gpu._ptx(make_job(name, place, 100, horizon=horizon, stop=rule)))


@needs_soak
@pytest.mark.parametrize("rule", STOP_RULES)
def test_several_plays_and_resources_and_marks_compile(rule: str) -> None:
    assert ".entry" in gpu._ptx(
        make_job("uniform", worlds.example("ad_slots"), [50, 50], stop=rule, plays=2, checkpoints=5)
    )


@needs_soak
def test_counted_masks_compile() -> None:
    check_code(gpu._ptx(make_job(MASKS_SEEN, half_down(_standard_world()), 20)))


def job_of(n_arms: int) -> Job:
    world = worlds.function("bernoulli")(rewards=[0.5] * n_arms, costs=[0.5] * n_arms)
    return make_job("exp3.bwk", world, 100)


def near_memory(job: Job) -> int:
    return gpu._launch_of(gpu_memory.path_memory(job)).near


def test_a_small_state_lies_in_fast_memory_and_products_are_fused_where_a_kernel_says_so() -> None:
    code = gpu._ptx(job_of(10))
    check_code(code)
    assert near_memory(job_of(10)) == 128 * 8 * (10 + 32 + 1)
    assert "ld.shared" in code
    assert "fma.rn.f64" in code
    assert near_memory(job_of(1000)) == 0


@needs_soak
def test_a_large_state_does_not() -> None:
    assert "ld.shared" not in gpu._ptx(job_of(1000))


NO_DRIVER = "Error at driver init: \n\nCUDA driver library cannot be found.\nEnsure that ...\n:"
FULL = "Call to cuMemAlloc results in\nCUDA_ERROR_OUT_OF_MEMORY"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            CudaSupportError(NO_DRIVER),
            r'^device="cuda" needs an NVIDIA GPU and its driver: CUDA driver library cannot be '
            r"found\.$",
        ),
        (
            CudaAPIError(2, FULL),
            r"^the GPU gave up: \[2\] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY$",
        ),
    ],
)
def test_what_is_wrong_with_a_gpu_is_said_in_one_line(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr("purse.engine.gpu_memory.cuda.current_context", fail)
    with pytest.raises(purse.PurseError, match=message):
        purse.simulate("uniform", "misleading_ratio", 10, device="cuda")


def test_a_state_that_a_gpu_cannot_hold_is_refused() -> None:
    class SmallState(NamedTuple):
        flags: np.ndarray[Any, np.dtype[np.bool_]]

    with pytest.raises(
        purse.PurseError,
        match=r"^state\.flags has items of 1 bytes \(bool\); a GPU needs 8: float64 or int64$",
    ):
        gpu._launch_of(PathMemory(SmallState(np.zeros(3, np.bool_)), _NoScratch(np.zeros(0))))


def test_a_missing_extra_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("purse.engine.gpu")
    for name in ("purse.engine.gpu", "purse.compiler.cuda_patches"):
        monkeypatch.delitem(sys.modules, name)

    def missing() -> None:
        raise ImportError("numba-cuda is not installed")

    monkeypatch.setattr("purse.compiler.numba_contract.cuda_parts", missing)
    with pytest.raises(
        purse.errors.MissingExtra,
        match=r"""^device="cuda" needs the extra gpu: pip install 'purse-bandits\[gpu\]'$""",
    ):
        purse.simulate("uniform", "misleading_ratio", 10, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_a_policy_plays_as_on_the_cpu(name: str) -> None:
    check_gpu(name)


@pytest.mark.gpu
@pytest.mark.parametrize("name", worlds.names())
def test_a_world_answers_as_on_the_cpu(name: str) -> None:
    check_gpu("uniform", worlds.make(worlds.example(name), 100))


@pytest.mark.gpu
@pytest.mark.parametrize("rule", STOP_RULES)
def test_rules_and_marks_are_as_on_the_cpu(rule: str) -> None:
    for name in ("exp3.bwk", "kube"):
        check_gpu(name, rule=rule, checkpoints=7)


@pytest.mark.gpu
@pytest.mark.parametrize("name", SEVERAL_PLAYS)
def test_several_plays_are_as_on_the_cpu(name: str) -> None:
    for rule in STOP_RULES:
        check_gpu(name, plays=2, rule=rule)


@pytest.mark.gpu
@pytest.mark.parametrize("rule", STOP_RULES)
def test_masks_are_counted_as_on_the_cpu(rule: str) -> None:
    check_gpu(MASKS_SEEN, half_down(_standard_world()), rule=rule)


@pytest.mark.gpu
@pytest.mark.parametrize("name", SEEING)
def test_contexts_are_seen_as_on_the_cpu(name: str) -> None:
    check_gpu(name, worlds.make("linear_contexts:rows=256,horizon=2000", 1), rule="retry")
    check_gpu(name, worlds.make("class_contexts:classes=5,rows=256,horizon=2000", 1), rule="fit")


@pytest.mark.gpu
def test_many_arms_and_long_games_are_as_on_the_cpu() -> None:
    grid = np.linspace(0.1, 0.9, 3000)
    check_gpu("exp3.bwk", purse.worlds.bernoulli(rewards=grid, costs=1 - grid / 2))
    ours, theirs = (
        purse.simulate("exp3++.bwk", "misleading_ratio", 30_000, n_paths=64, device=device)
        for device in ("cpu", "cuda")
    )
    assert (ours.gain == theirs.gain).all()
    assert (ours.pulls == theirs.pulls).all()


@pytest.mark.gpu
def test_neither_chunks_nor_stretches_nor_fast_memory_change_a_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = purse.simulate(
        "exp3.bwk", "misleading_ratio", 500, n_paths=1000, checkpoints=5, device="cuda"
    )
    monkeypatch.setattr(gpu_memory, "_CHUNK", 300)
    monkeypatch.setattr(gpu, "_FIRST_STRETCH", 7)
    monkeypatch.setattr(gpu, "_NEAR_BYTES", 0)
    pieces = purse.simulate(
        "exp3.bwk", "misleading_ratio", 500, n_paths=1000, checkpoints=5, device="cuda"
    )
    assert (whole.gain == pieces.gain).all()
    assert (whole.pulls == pieces.pulls).all()
    assert whole.by_round is not None
    assert pieces.by_round is not None
    assert (whole.by_round.gain == pieces.by_round.gain).all()


@pytest.mark.gpu
def test_paths_have_their_numbers_wherever_a_run_of_them_begins() -> None:
    job, shown = make_job("exp3.bwk", "misleading_ratio", 500, checkpoints=5), Progress("test")
    ours, theirs = (
        cpu.play_paths(job, 70, 50, np.zeros(2), np.zeros(1, np.int64)),
        gpu.simulate(job, 50, shown, start=70),
    )
    assert all(
        (here == there).all()
        for here, there in zip(cpu.iter_arrays(ours), cpu.iter_arrays(theirs), strict=True)
    )


@pytest.mark.gpu
def test_an_interrupt_is_heard_between_two_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job("uniform", "misleading_ratio", 1e9)
    stretch, chunk = gpu._ready(job, gpu_memory.path_memory(job), 0, 100)

    def interrupted(fraction: float) -> None:
        assert 0 < fraction < 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gpu._play_on(job, stretch, chunk, interrupted)
    assert (chunk.standing.copy_to_host() == GOING).all()
