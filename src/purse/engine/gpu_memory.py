"""The memory of a GPU."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import cuda

from purse.compiler.cuda_patches import compiling
from purse.engine.cpu import empty_results, iter_arrays
from purse.engine.job import Job, scratch_of
from purse.engine.rounds import GOING
from purse.engine.rules import RETRY
from purse.engine.workspace import COUNTED_MASKS, PathResults, new_workspace

MAX_THREADS = 128  # in a block
_CHUNK = 1 << 20  # paths on the card at once, at most
_MEMORY_FRACTION = 0.8  # of the card's free memory


class PathMemory(NamedTuple):
    """The memory of one path: the policy's first state, and its room to work in."""

    state: Any
    scratch: Any


class DeviceBuffers(NamedTuple):
    """The arrays on the card for a chunk of paths."""

    first: PathMemory
    state_words: int  # items of one path's state; those of its scratch follow
    memory: Any  # (blocks block words,) floats
    out: PathResults  # the path axis contiguous
    excluded: Any  # (P, K) integers for rule `retry`, else (P, 0)
    allowed: Any  # (P, K) booleans if arms may be masked, else (P, 0)
    owed: Any  # (P, K) integers likewise
    masks: Any  # (P, C, K) booleans if masks are counted, else (P, 0, K)
    seen: Any  # (P, C) integers likewise
    pending: Any  # (K,) zeros
    context: Any  # (P, A, n) if the policy sees contexts, else (1, A, n)
    standing: Any  # (P,) integers: `GOING`, `OVER` or `FAULT`


def path_memory(job: Job) -> PathMemory:
    """Return the memory of one path as it starts."""
    state = job.policy.init(job.params, job.problem)
    return PathMemory(state, scratch_of(job.policy, job.params, job.problem))


@cuda.jit  # type: ignore[untyped-decorator]
def _repeat(one: Any, many: Any) -> None:
    """Give every path the same items; `many` is flat, the path axis the fastest."""
    k = cuda.grid(1)
    if k < many.shape[0]:
        many[k] = one[k // (many.shape[0] // one.shape[0])]


@cuda.jit  # type: ignore[untyped-decorator]
def _transpose(columns: Any, rows: Any) -> None:
    """Turn (P, S) from column after column to row after row; both are flat."""
    k = cuda.grid(1)
    if k < rows.shape[0]:
        size = rows.shape[0] // columns.shape[0]
        rows[k] = columns[k // size, k % size]


def words_of(memory: Any) -> int:
    """Count the items of 8 bytes in the arrays of a NamedTuple."""
    return sum(array.size for array in iter_arrays(memory))


def map_arrays(values: Any, change: Callable[[Any], Any]) -> Any:
    """Return a NamedTuple with its arrays, and those of NamedTuples in it, changed."""
    changed = (
        map_arrays(value, change)
        if isinstance(value, tuple)
        else change(value)
        if isinstance(value, np.ndarray)
        else value
        for value in values
    )
    return type(values)._make(changed)


def _repeat_paths(one: Any, n_paths: int) -> Any:
    """Repeat (1, ...) as (P, ...) on the card, all paths alike, the path axis contiguous."""
    many = cuda.device_array((n_paths, *one.shape[1:]), one.dtype, order="F")
    if many.size:
        with compiling():
            _repeat[-(-many.size // MAX_THREADS), MAX_THREADS](
                cuda.to_device(one.ravel()), many.ravel(order="F")
            )
    return many


def fetch(many: Any) -> Any:
    """Return (P, ...) from the card with the last axis contiguous.

    The card turns it, which would take the host longer than the rest.
    """
    axes = many.shape[1:]
    flat = cuda.device_array(many.size, many.dtype)
    if many.size:
        with compiling():
            _transpose[-(-many.size // MAX_THREADS), MAX_THREADS](
                many.reshape(many.shape[0], many.size // many.shape[0], order="F"), flat
            )
    turned = flat.copy_to_host().reshape(many.shape[0], *reversed(axes))
    return turned.transpose(0, *range(len(axes), 0, -1))


def allocate(job: Job, first: PathMemory, n_paths: int, block: int) -> DeviceBuffers:
    """Allocate the card's memory for a chunk of paths, none of which has begun."""
    n_arms = job.problem.n_arms
    n_masked = n_arms if job.masks else 0
    n_counted = COUNTED_MASKS if job.counts_masks else 0
    return DeviceBuffers(
        map_arrays(first, cuda.to_device),
        words_of(first.state),
        cuda.device_array(-(-n_paths // block) * block * words_of(first)),
        map_arrays(empty_results(job, 1), lambda one: _repeat_paths(one, n_paths)),
        _repeat_paths(np.zeros((1, n_arms if job.game.rule == RETRY else 0), np.int64), n_paths),
        _repeat_paths(np.ones((1, n_masked), np.bool_), n_paths),
        _repeat_paths(np.ones((1, n_masked), np.int64), n_paths),
        _repeat_paths(np.zeros((1, n_counted, n_arms), np.bool_), n_paths),
        _repeat_paths(np.zeros((1, n_counted), np.int64), n_paths),
        cuda.to_device(np.zeros(n_arms, np.int64)),
        _repeat_paths(new_workspace(job.problem).context[None], n_paths if job.contexts else 1),
        _repeat_paths(np.full(1, GOING), n_paths),
    )


def chunk_of(job: Job, first: PathMemory) -> int:
    """Return how many paths fit on the card at once, at most `CHUNK`."""
    context = math.prod(job.problem.context_shape)
    n_counted = COUNTED_MASKS if job.counts_masks else 0
    per_path = (
        8 * (words_of(first) + 3 * job.problem.n_arms + n_counted + 1 + context)
        + n_counted * job.problem.n_arms
        + sum(array.nbytes for array in iter_arrays(empty_results(job, 1)))
    )
    return max(
        1,
        min(
            _CHUNK,
            int(cuda.current_context().get_memory_info().free * _MEMORY_FRACTION) // per_path,
        ),
    )


def example_buffers(job: Job, first: PathMemory) -> DeviceBuffers:
    """Return buffers of the same types in the host's memory."""
    out = map_arrays(empty_results(job, 2), np.asfortranarray)
    per_arm = np.zeros((2, 2), np.int64, order="F")
    return DeviceBuffers(
        first,
        0,
        np.zeros(1),
        out,
        per_arm,
        np.zeros((2, 2), np.bool_, order="F"),
        per_arm,
        np.zeros((2, 2, 2), np.bool_, order="F"),
        per_arm,
        np.zeros(2, np.int64),
        np.zeros((2, 2, 2), order="F"),
        np.zeros(2, np.int64),
    )
