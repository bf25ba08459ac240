"""The same loop on a GPU: one thread plays one path.

A block's states lie side by side, item by item, so that neighbouring threads touch neighbouring
words. Small states are copied into the fast memory beside the processors for the
length of a launch. A launch plays a stretch of rounds and comes back, so that progress can be shown
and Ctrl-C is heard; paths are cut into chunks that fit into the card's memory.

Each operation gives the CPU's bits (see `purse.compiler.cuda_patches`, `purse.kernels.fastmath`):
path by path the results are the same.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numba import cuda, typeof, types

from purse.base.progress import Progress
from purse.compiler.blocks import beside, copy, matrix, vector
from purse.compiler.cuda_patches import CudaAPIError, CudaSupportError, compiling
from purse.compiler.fingerprint import fingerprint
from purse.compiler.jit import compile_errors
from purse.compiler.kernel import attached
from purse.compiler.machine_code import compilable
from purse.engine.cpu import (
    bind_policy,
    empty_results,
    fault_error,
    iter_arrays,
    slice_paths,
    spoken_name,
)
from purse.engine.gpu_memory import (
    MAX_THREADS,
    DeviceBuffers,
    PathMemory,
    allocate,
    chunk_of,
    example_buffers,
    fetch,
    map_arrays,
    path_memory,
    words_of,
)
from purse.engine.job import Job
from purse.engine.rounds import FAULT, GOING
from purse.engine.rules import Game
from purse.engine.workspace import CheckpointPlan, PathResults, Workspace
from purse.errors import PurseError
from purse.worlds._draw import draw_any, draw_simply

play: Any = None  # these are bound by `bound`
PLAYS = 1
RESOURCES = 1
BLOCK = 128  # threads
CONTEXTS = False  # whether each path has a context
NEAR = False  # whether the states of a block are kept in fast memory

_NEAR_BYTES = 48 << 10  # fast memory that a block may have
_FEWEST_THREADS = 64  # whose states must fit into it: with fewer the processors wait for memory
_FIRST_STRETCH = 1 << 10  # rounds
_STRETCH_S = 0.2  # seconds between two looks at progress and at Ctrl-C
_SAMPLE = 1 << 10  # paths that tell how far all are


class _Launch(NamedTuple):
    """The number of threads in a block, and their bytes of fast memory."""

    block: int
    near: int


def _threads(
    params: Any,
    tables: Any,
    game: Game,
    plan: CheckpointPlan,
    number: int,
    card: DeviceBuffers,
    rounds: int,
) -> None:
    """Play each path on by `rounds` rounds; the first path has this number."""
    path = cuda.grid(1)
    out = card.out
    if path < out.gain.shape[0] and card.standing[path] == GOING:
        space = Workspace(
            vector(PLAYS, 0),
            vector(PLAYS, 0.0),
            vector(PLAYS, 0.0),
            matrix(PLAYS, RESOURCES, 0),
            matrix(PLAYS, RESOURCES, 0.0),
            vector(RESOURCES, 0),
            vector(RESOURCES, 0.0),
            card.excluded[path],
            card.allowed[path],
            card.owed[path],
            card.masks[path],
            card.seen[path],
            card.pending,
            card.context[path if CONTEXTS else 0],
        )
        last = min(out.rounds[path] + rounds, game.last_round)
        first = card.first
        lane = cuda.threadIdx.x
        here = cuda.blockIdx.x * (card.memory.shape[0] // cuda.gridDim.x)
        state = beside(first.state, card.memory, here, lane, BLOCK)
        beyond = card.state_words * BLOCK
        if out.rounds[path] == 0:
            copy(first.state, state)
        if NEAR:
            shared = cuda.shared.array(0, "float64")
            near = beside(first.state, shared, 0, lane, BLOCK)
            scratch = beside(first.scratch, shared, beyond, lane, BLOCK)
            copy(state, near)
            card.standing[path] = play(
                params, near, scratch, tables, game, plan, number + path, path, out, space, last
            )
            copy(near, state)
        else:
            scratch = beside(first.scratch, card.memory, here + beyond, lane, BLOCK)
            card.standing[path] = play(
                params, state, scratch, tables, game, plan, number + path, path, out, space, last
            )


def available() -> bool:
    """Return whether there is a GPU that can be used."""
    return bool(cuda.is_available())


@contextmanager
def _gpu_errors() -> Iterator[None]:
    """Say in one line that no GPU can be used, or why one gave up."""
    try:
        yield
    except CudaSupportError as error:
        reasons = [
            line.strip()
            for line in str(error).splitlines()
            if line.strip(" :") and not line.startswith("Error at driver init")
        ]
        raise PurseError(
            'device="cuda" needs an NVIDIA GPU and its driver: '
            f"{reasons[0] if reasons else 'none was found'}"
        ) from error
    except CudaAPIError as error:
        raise PurseError(f"the GPU gave up: {' '.join(str(error).split())}") from error


def _launch_of(first: PathMemory) -> _Launch:
    """Return the launch: with fast memory if the states of two warps fit into a block's share."""
    for kind, part in first._asdict().items():
        for name, array in part._asdict().items():
            if array.itemsize != 8:
                raise PurseError(
                    f"{kind}.{name} has items of {array.itemsize} bytes ({array.dtype}); a GPU "
                    "needs 8: float64 or int64"
                )
    per_path = 8 * words_of(first)
    fitting = min(MAX_THREADS, _NEAR_BYTES // max(1, per_path) // 32 * 32)
    if fitting < _FEWEST_THREADS:
        return _Launch(MAX_THREADS, 0)
    return _Launch(fitting, fitting * per_path)


def _bind_kernel(job: Job, launch: _Launch) -> tuple[Callable[..., None], str]:
    """Return the code of a thread with the policy bound to it, and its fingerprint.

    What this job does not need is left out, since registers are scarce: checkpoints, the other stop
    rules, the way to draw of other worlds.
    """
    draw = {} if job.world.draw else {"draw": draw_simply if job.world.tables.simple else draw_any}
    game = bind_policy(job, CHECKPOINTS=len(job.checkpoints.left) > 0, RULE=job.game.rule, **draw)
    sizes = {
        "PLAYS": job.problem.plays,
        "RESOURCES": job.problem.n_resources,
        "CONTEXTS": job.contexts,
        "BLOCK": launch.block,
        "NEAR": launch.near > 0,
    }
    code = attached(_threads, {"play": game, **sizes})
    mark = fingerprint(code)
    return compilable(code, mark), mark


_kernels: dict[str, Any] = {}


def _compiled_kernel(job: Job, launch: _Launch) -> Any:
    """Return the kernel for this policy; its machine code is cached on disk."""
    code, mark = _bind_kernel(job, launch)
    if mark not in _kernels:
        _kernels[mark] = cuda.jit(code, cache=True, lto=False)  # the linker would fuse again
    return _kernels[mark]


def _ptx(job: Job, capability: tuple[int, int] = (9, 0)) -> str:
    """Return the kernel as assembly for cards of a compute capability; needs no card."""
    first = path_memory(job)
    launch = _launch_of(first)
    kinds = [
        typeof(value)
        for value in (
            job.params,
            job.world.tables,
            job.game,
            job.checkpoints,
            0,
            example_buffers(job, first),
            0,
        )
    ]
    with compile_errors(job.name, job.policy), compiling(capability):
        code, _ = cuda.compile(
            _bind_kernel(job, launch)[0],
            types.void(*kinds),
            device=False,
            cc=capability,
            abi="numba",
        )
    return str(code)


def simulate(job: Job, n_paths: int, shown: Progress, start: int = 0) -> PathResults:
    """Run the paths start .. start + n_paths - 1."""
    first = path_memory(job)
    results = empty_results(job, n_paths)
    with _gpu_errors():
        size = chunk_of(job, first)
        for row in range(0, n_paths, size):
            _play_chunk(job, first, start, slice(row, min(row + size, n_paths)), results, shown)
    return results


def _play_chunk(
    job: Job, first: PathMemory, start: int, rows: slice, results: PathResults, shown: Progress
) -> None:
    """Play a chunk of paths to their ends, into their rows; row 0 is path `start`."""

    def show(fraction: float) -> None:
        shown.show((rows.start + fraction * (rows.stop - rows.start)) / len(results.gain))

    with shown.busy(f"compiling {spoken_name(job)} for the GPU, once"):
        stretch, card = _ready(job, first, start + rows.start, rows.stop - rows.start)
    _play_on(job, stretch, card, show)
    for target, source in zip(
        iter_arrays(slice_paths(results, rows)), iter_arrays(card.out), strict=True
    ):
        target[:] = fetch(source)


def _ready(
    job: Job, first: PathMemory, start: int, n_paths: int
) -> tuple[Callable[[int], None], DeviceBuffers]:
    """Return a compiled function that plays a chunk on by some rounds, and the chunk's buffers."""
    launch = _launch_of(first)
    card = allocate(job, first, n_paths, launch.block)
    arguments = [
        map_arrays(part, cuda.to_device)
        for part in (job.params, job.world.tables, job.game, job.checkpoints)
    ]
    with compile_errors(job.name, job.policy), compiling():
        kernel = _compiled_kernel(job, launch)[
            -(-n_paths // launch.block), launch.block, 0, launch.near
        ]
        kernel(*arguments, start, card, 0)

    def stretch(rounds: int) -> None:
        kernel(*arguments, start, card, rounds)
        cuda.synchronize()

    return stretch, card


def _play_on(
    job: Job, stretch: Callable[[int], None], card: DeviceBuffers, show: Callable[[float], None]
) -> None:
    """Play the paths of a chunk to their ends."""
    rounds = _FIRST_STRETCH
    while True:
        began = time.perf_counter()
        stretch(rounds)
        standing = card.standing.copy_to_host()
        if (standing == FAULT).any():
            raise fault_error(job)
        if not (standing == GOING).any():
            return
        sample: Any = card.out.spent[:_SAMPLE, 0]
        show(float(sample.copy_to_host().mean()) / float(job.game.budget[0]))
        if time.perf_counter() - began < _STRETCH_S / 2:
            rounds *= 2
