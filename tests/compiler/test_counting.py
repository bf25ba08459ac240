"""`range` in kernels counts as Python's does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from purse.compiler.kernel import kernel

ENDS = [(0, 0), (0, 4), (-2, 3), (3, -1), (5, 5), (-7, -7)]


@kernel
def up_to(stop: int, out: Any) -> int:
    k = 0
    for i in range(stop):
        out[k] = i
        k += 1
    return k


@kernel
def between(start: int, stop: int, out: Any) -> int:
    k = 0
    for i in range(start, stop):
        out[k] = i
        k += 1
    return k


@kernel
def in_steps(start: int, stop: int, step: int, out: Any) -> int:
    k = 0
    for i in range(start, stop, step):
        out[k] = i
        k += 1
    return k


@kernel
def nested(size: int, out: Any) -> int:
    k = 0
    for i in range(size):
        size = 2  # the outer loop has its end already
        for j in range(i, size + i):
            if j == 3:
                break
            out[k] = 10 * i + j
            k += 1
    return k


@kernel
def kept(stop: int) -> int:
    numbers = range(1, stop)
    total = 0
    for i in numbers:
        for j in numbers:
            total += 10 * i + j
    return total


@kernel
def beside(values: Any) -> float:
    total = 0.0
    for i, value in zip(range(2, 9), values):  # noqa: B905
        total += i * value
    for i, k in enumerate(range(4)):
        total += 100 * i * k
    return total


def counted(function: Any, *args: int) -> list[int]:
    out = np.full(40, -99)
    return out[: function(*args, out)].tolist()


@pytest.mark.parametrize(("start", "stop"), ENDS)
def test_the_numbers_are_those_of_python(start: int, stop: int) -> None:
    assert counted(up_to, stop) == list(range(stop))
    assert counted(between, start, stop) == list(range(start, stop))
    for step in (1, 2, -1, -3):
        assert counted(in_steps, start, stop, step) == list(range(start, stop, step))


def test_unsigned_numbers_are_left_to_numba() -> None:
    out = np.full(3, 9, np.uint64)
    assert up_to(np.uint64(3), out) == 3
    assert out.tolist() == [0, 1, 2]


def test_loops_within_loops_begin_again() -> None:
    assert counted(nested, 3) == [0, 1, 11, 12, 22]


def test_a_range_can_be_gone_through_twice() -> None:
    assert kept(4) == sum(10 * i + j for i in (1, 2, 3) for j in (1, 2, 3))


def test_a_range_goes_along_with_others() -> None:
    assert beside(np.array([1.0, 10.0])) == 2 + 30 + 100 * (1 + 4 + 9)


@kernel
def other_uses(n: int, up: bool) -> tuple[int, int, int, bool, bool, int]:
    numbers = range(n) if up else range(n - 1, -1, -1)
    total = 0
    for i in numbers:
        total = 10 * total + i
    both = range(2, n)
    return total, sum(range(n)), len(both), 3 in both, n in both, both.start + both.stop + both.step


@kernel
def narrow_numbers(counts: Any, step: Any) -> tuple[int, int]:
    total = steps = 0
    for _ in range(counts[0]):
        total += 1
    for _ in range(0, 10, step):
        steps += 1
    return total, steps


def test_ranges_are_still_what_numba_takes_for_one() -> None:
    assert other_uses(5, True) == (1234, 10, 3, True, False, 8)
    assert other_uses(4, False) == (3210, 6, 2, True, False, 7)
    assert other_uses(1, True)[2] == 0


@pytest.mark.parametrize("kind", [np.uint8, np.uint32, np.int32, np.int64])
def test_narrow_numbers_count_too(kind: Any) -> None:
    assert narrow_numbers(np.array([3], kind), np.int32(4)) == (3, 3)
