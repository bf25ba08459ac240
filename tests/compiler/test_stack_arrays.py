"""Small arrays for kernels, here on a CPU: the same code lays them out on a GPU."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse.compiler.blocks import beside, copy, matrix, vector
from purse.compiler.jit import bind

LANES = 4


class PairState(NamedTuple):
    """A state with arrays of one and two axes per path, floats and integers."""

    values: Any
    counts: Any


@bind
def on_the_stack(x: float, n: int) -> tuple[float, int, int]:
    values = vector(3, 0.0)
    counts = matrix(2, 5, 0)
    for i in range(3):
        values[i] = x * i
    for i in range(2):
        for j in range(5):
            counts[i, j] = n * (10 * i + j)
    return values[0] + values[1] + values[2], counts[1, 4], counts.shape[0] * counts.shape[1]


@bind
def into_lane(rows: PairState, room: Any, start: int, lane: int) -> None:
    copy(rows, beside(rows, room, start, lane, LANES))


@bind
def out_of_lane(like: PairState, room: Any, start: int, lane: int, out: PairState) -> None:
    copy(beside(like, room, start, lane, LANES), out)


def test_arrays_on_the_stack_hold_what_is_written() -> None:
    assert on_the_stack(2.0, 3) == (6.0, 42, 10)


def test_neighbouring_paths_have_neighbouring_items() -> None:
    room = np.full(3 + LANES * (2 + 6), -1.0)
    paths = [
        PairState(np.array([10.0 * p, 10.0 * p + 1]), np.arange(6).reshape(2, 3) + 100 * p)
        for p in range(LANES)
    ]
    for lane, rows in enumerate(paths):
        into_lane(rows, room, 3, lane)
    assert room[:3].tolist() == [-1.0] * 3
    assert room[3:11].tolist() == [0.0, 10.0, 20.0, 30.0, 1.0, 11.0, 21.0, 31.0]
    first, down, across = room[11:].view(np.int64).reshape(6, LANES)[[0, 1, 2]].tolist()
    assert first == [0, 100, 200, 300]
    assert down == [3, 103, 203, 303]  # of an array's axes the first is the fastest
    assert across == [1, 101, 201, 301]
    for lane, rows in enumerate(paths):
        back = PairState(np.zeros(2), np.zeros((2, 3), np.int64))
        out_of_lane(rows, room, 3, lane, back)
        assert (back.values == rows.values).all()
        assert (back.counts == rows.counts).all()
