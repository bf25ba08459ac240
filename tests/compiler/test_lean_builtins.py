"""`min`, `max` and `int` in kernels do what Python's and numba's do."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from purse.compiler.jit import BlockFunction
from purse.compiler.kernel import cold, kernel
from purse.compiler.lean_builtins import LEAN, PREFIX, with_lean_builtins

PAIRS = [
    (1, 2),
    (2, 1),
    (-3, -3),
    (1.5, 2.5),
    (-0.0, 0.0),
    (0.0, -0.0),
    (math.nan, 1.0),
    (1.0, math.nan),
    (math.inf, -math.inf),
    (2, 1.5),
    (1.5, 2),
    (True, 0),
    (2**62 + 1, 2**62),
]


@kernel
def least_of(a: Any, b: Any) -> Any:
    return min(a, b)


@kernel
def most_of(a: Any, b: Any) -> Any:
    return max(a, b)


@kernel
def of_many(a: int, b: float, c: int) -> tuple[float, float, int]:
    return min(a, b, c), max(a, b, c), max(min(c, 5), 2)


@kernel
def of_a_tuple(a: float, b: float) -> tuple[float, float]:
    pair = (a, b)
    return min(pair), max(pair)


@kernel
def whole_of(x: Any) -> Any:
    return int(x)


def of_arrays(values: Any, other: int) -> Any:
    return values.min(), np.max(values), max(other, 2), min(other, 2)


def same(a: Any, b: Any) -> bool:
    return float(a).hex() == float(b).hex()


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_least_and_the_most_are_those_of_python(a: Any, b: Any) -> None:
    assert same(least_of(a, b), min(a, b))
    assert same(most_of(a, b), max(a, b))


def test_several_numbers_of_several_kinds() -> None:
    assert of_many(3, 2.5, 9) == (2.5, 9.0, 5)
    assert of_many(-1, -0.5, 0) == (-1.0, 0.0, 2)
    assert of_a_tuple(2.0, 1.0) == (1.0, 2.0)


@pytest.mark.parametrize("x", [0, -7, 2.9, -2.9, True, np.uint64(2**64 - 1), 1e15])
def test_whole_numbers_are_those_of_python(x: Any) -> None:
    assert whole_of(x) == int(x)


def test_attributes_of_the_same_name_are_left_alone() -> None:
    code = with_lean_builtins(of_arrays).__code__.co_names
    assert "max" in code
    assert "min" in code
    assert kernel(of_arrays).py_func is of_arrays  # type: ignore[attr-defined]


def test_only_pythons_own_are_replaced() -> None:
    def loops(n: int) -> int:
        return sum(range(n)) + min(n, 3)

    def plain() -> int:
        return 3

    lean = with_lean_builtins(loops)
    assert {PREFIX + "range", PREFIX + "min"} <= lean.__globals__.keys()
    assert lean.__globals__[PREFIX + "range"] is LEAN["range"]
    assert (lean.__name__, lean.__qualname__, lean.__module__) == (
        loops.__name__,
        loops.__qualname__,
        loops.__module__,
    )
    assert with_lean_builtins(plain) is plain
    own = FunctionType(loops.__code__, {"range": len, "min": max})
    assert with_lean_builtins(own) is own


def narrow(values: Any) -> Any:
    low, high = values[0], values[0]
    for i in range(1, len(values)):
        low, high = min(low, values[i]), max(high, values[i])
    return int(low), high


def test_they_work_in_what_is_given_its_arguments_in_a_block() -> None:
    assert BlockFunction(narrow)((np.array([2.5, -1.5, 7.0]),)) == (-1, 7.0)


@kernel
def asks_for_types(x: Any) -> int:
    return 1 if isinstance(x, int) else int(min(x, 5.0)) + 10


@cold
def depth(n: int) -> int:
    if n <= 0:
        return 0
    return 1 + max(depth(n - 1), 0)


def go_down(n: int) -> int:
    return depth(n)


def test_functions_that_ask_for_types_or_call_themselves_are_left_alone() -> None:
    assert (asks_for_types(3), asks_for_types(3.5)) == (1, 13)
    assert BlockFunction(go_down)((4,)) == 4
