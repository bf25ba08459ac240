"""Blocks of paths in threads. The compiled loop releases the GIL; a path's numbers do not depend on
how paths are cut.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import cache, partial
from typing import Any

import numpy as np

from purse.base.progress import Progress
from purse.base.validation import usable_cores
from purse.compiler.jit import BlockFunction, compile_errors
from purse.compiler.kernel import attach, in_numpy, plain, row_kernel
from purse.engine import loop as loop_module
from purse.engine.job import Job, scratch_of, world_parts
from purse.engine.late import loop as late
from purse.engine.rounds import FAULT
from purse.engine.workspace import Checkpoints, PathResults, new_workspace
from purse.errors import PurseError
from purse.types import Floats, Ints

_LOGGER = logging.getLogger(__name__)
BLOCK_PATHS = 256  # that share an allocation, at most
_BLOCK_BYTES = 1 << 25  # of memory for their states, at most
_COMPILES = "usually 5 to 15 s"  # a policy, on a core that has nothing else to do
_POLL_S = 0.1  # seconds between two looks at progress and at Ctrl-C


_loops: dict[tuple[Any, ...], BlockFunction] = {}


def compiled_loop(job: Job) -> BlockFunction:
    """Return the loop for this policy, one for all worlds that share the draw.

    It is found again by its parts: to look through its code takes milliseconds.
    """
    policy, problem = job.policy, job.problem
    state = type(policy.init(job.params, problem))
    parts = (
        state,
        policy.choose,
        policy.update,
        job.world.draw,
        problem.plays,
        problem.n_resources,
        job.game.initial_rounds > 0,
        job.masks,
        job.counts_masks,
        job.contexts,
        job.world.view,
        job.delay.is_late,
    )
    if parts not in _loops:
        player = late.bind_policy(job) if job.delay.is_late else bind_policy(job)
        _loops[parts] = BlockFunction(loop_module.run, row_of=row_kernel(state), play=player)
    return _loops[parts]


def _arguments(
    job: Job, first: int, out: PathResults, pulse: Floats, halt: Ints
) -> tuple[Any, ...]:
    """Return the loop's arguments: states at the beginning, one for each row of `out`."""
    one = job.policy.init(job.params, job.problem)
    return (
        job.params,
        type(one)(*(np.repeat(array[None], len(out.gain), axis=0) for array in one)),
        scratch_of(job.policy, job.params, job.problem),
        job.world.tables,
        job.game,
        job.checkpoints,
        first,
        out,
        late.new_room(job)
        if job.delay.is_late
        else new_workspace(job.problem, masks=job.masks, counted=job.counts_masks),
        pulse,
        halt,
    )


def bind_policy(job: Job, **parts: Any) -> Any:
    """Return the kernel that plays one path with this policy; `parts` are bound to it, too."""
    return attach(
        loop_module.play,
        choose=job.policy.choose,
        update=job.policy.update,
        PLAYS=job.problem.plays,
        RESOURCES=job.problem.n_resources,
        INITIAL_PULLS=job.game.initial_rounds > 0,
        MASKS=job.masks,
        SEEN=job.counts_masks,
        **{**world_parts(job), **parts},
    )


def empty_results(job: Job, n_paths: int) -> PathResults:
    """Allocate the results of all paths."""
    n_arms, n_resources = job.problem.n_arms, job.problem.n_resources

    def record(n_marks: int) -> Checkpoints:
        return Checkpoints(
            np.zeros((n_paths, n_marks), np.int64),
            np.zeros((n_paths, n_marks)),
            np.zeros((n_paths, n_marks, n_resources), np.int64),
            np.zeros((n_paths, n_marks, n_arms), np.int64),
        )

    return PathResults(
        np.zeros(n_paths),
        np.zeros(n_paths),
        np.zeros(n_paths, np.int64),
        np.zeros((n_paths, n_resources), np.int64),
        np.zeros((n_paths, n_arms), np.int64),
        record(len(job.checkpoints.rounds)),
        record(len(job.checkpoints.left)),
    )


def slice_paths(results: PathResults, rows: slice) -> PathResults:
    """Return the rows of some paths."""
    *totals, by_round, by_budget = results
    return PathResults._make(
        [
            *(total[rows] for total in totals),
            *(Checkpoints._make(part[rows] for part in record) for record in (by_round, by_budget)),
        ]
    )


def iter_arrays(values: Any) -> Iterator[Any]:
    """Yield the arrays of a NamedTuple and of those in it."""
    for value in values:
        yield from iter_arrays(value) if isinstance(value, tuple) else (value,)


def play_rows(
    loop: BlockFunction, job: Job, first: int, out: PathResults, pulse: Floats, halt: Ints
) -> Any:
    """Play the paths first, first + 1, ... into the rows of `out`, in this thread.

    Return the policy's states at their ends.
    """
    arguments = _arguments(job, first, out, pulse, halt)
    if job.in_python:
        plain(loop.function)(*in_numpy(arguments))
    else:
        loop(arguments)
    return arguments[1]


def play_block(job: Job, n_paths: int) -> tuple[PathResults, Any]:
    """Return the results of paths 0 .. n_paths - 1 and the policy's state at their ends."""
    results, stop_flag = empty_results(job, n_paths), np.zeros(1, np.int64)
    states = play_rows(compiled_loop(job), job, 0, results, np.zeros(1), stop_flag)
    if stop_flag[0] == FAULT:
        raise fault_error(job)
    return results, states


def block_size(job: Job) -> int:
    """Return how many paths may share an allocation."""
    if job.in_python:
        return 1
    bytes_per_path = sum(array.nbytes for array in job.policy.init(job.params, job.problem))
    return max(1, min(BLOCK_PATHS, _BLOCK_BYTES // max(1, bytes_per_path)))


def play_paths(job: Job, first: int, n_paths: int, pulse: Floats, halt: Ints) -> PathResults:
    """Play paths in this thread, a block at a time; `pulse` sums up to the paths done."""
    loop, size, results = compiled_loop(job), block_size(job), empty_results(job, n_paths)
    for start in range(0, n_paths, size):
        pulse[0], pulse[1] = 0, start
        play_rows(
            loop,
            job,
            first + start,
            slice_paths(results, slice(start, min(start + size, n_paths))),
            pulse,
            halt,
        )
        if halt[0]:
            break
    return results


def spoken_name(job: Job) -> str:
    """Return the name that progress shows; the arms that are played alone are a yardstick."""
    return "the yardstick, each arm alone" if job.name.startswith("fixed:") else job.name


def warm_up(job: Job, shown: Progress) -> BlockFunction:
    """Return the loop, compiled here, where Ctrl-C is heard, and not in a thread."""
    loop = compiled_loop(job)
    if not loop.by_kind and not job.in_python:
        title = f"compiling {spoken_name(job)}, once"
        with shown.busy(title, _COMPILES), compile_errors(job.name, job.policy):
            nothing = np.zeros(1), np.zeros(1, np.int64)
            play_rows(loop, job, 0, empty_results(job, 0), *nothing)
    return loop


def simulate(
    job: Job, n_paths: int, n_workers: int | None, block: int | None, shown: Progress
) -> PathResults:
    """Run paths 0 .. n_paths - 1."""
    loop = warm_up(job, shown)
    workers = n_workers or usable_cores()
    # several for each worker, so that none waits for the last
    n_blocks = 4 * workers if workers > 1 else 1
    size = block or min(block_size(job), -(-n_paths // n_blocks))
    results = empty_results(job, n_paths)
    starts = range(0, n_paths, size)
    pulses = np.zeros((len(starts), 1))
    halt = np.zeros(1, np.int64)

    def play(rows: slice, pulse: Floats) -> None:
        play_rows(loop, job, rows.start, slice_paths(results, rows), pulse, halt)

    tasks = [
        partial(play, slice(start, min(start + size, n_paths)), pulse)
        for start, pulse in zip(starts, pulses, strict=True)
    ]

    def glance() -> None:
        shown.show(float(pulses.sum()) / n_paths)

    in_turn(tasks, glance) if job.in_python else in_threads(tasks, workers, halt, glance)
    if halt[0] == FAULT:
        raise fault_error(job)
    return results


class Fault(PurseError):
    """A policy broke the rules, or a world did in a late game."""


def fault_error(job: Job) -> Fault:
    """Return the error for a job with such a policy or world."""
    drew = f", or {job.world.name} drew what is out of bounds" if job.delay.is_late else ""
    return Fault(
        f"{job.name} chose no arm, or one that does not exist or is not allowed{drew}; "
        "`purse.testing.check_policy` tells more"
    )


@cache
def _say_slow() -> None:
    _LOGGER.warning("plain Python plays some thousand times slower than machine code")


def in_turn(tasks: Sequence[Callable[[], None]], glance: Callable[[], None]) -> None:
    """Run the tasks, which are plain Python, in this thread: here a debugger stops."""
    for task in tasks:
        _say_slow()
        task()
        glance()


def in_threads(
    tasks: Sequence[Callable[[], None]], workers: int, halt: Ints, glance: Callable[[], None]
) -> None:
    """Run tasks that release the GIL, with glances; when interrupted, set `halt`."""
    pool = ThreadPoolExecutor(workers)
    try:
        pending: set[Future[None]] = {pool.submit(task) for task in tasks}
        while pending:
            done, pending = wait(pending, _POLL_S, FIRST_COMPLETED)
            for future in done:
                future.result()
            if pending:
                glance()
    except BaseException:
        halt[0] = 1
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
