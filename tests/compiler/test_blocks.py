"""Arguments in a block of memory, which compiled code reads back, and small arrays on the stack."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from purse.compiler import blocks
from purse.compiler.blocks import Block, beside, copy, matrix, vector
from purse.compiler.jit import BlockFunction, bind
from purse.compiler.machine_code import _MACHINE_CODE
from purse.compiler.spans import span_type
from tests.support.processes import fresh_process

LARGEST = 2**63 - 1
KIND: Any = None


class Inner(NamedTuple):
    flag: bool
    table: np.ndarray
    cube: np.ndarray


class Outer(NamedTuple):
    n: int
    key: Any
    share: float
    inner: Inner
    mask: np.ndarray


def read(block: int) -> Any:
    return blocks.load(block, KIND)


def add_up(value: Outer, more: float) -> float:
    total = more + value.n + value.share
    for i in range(value.inner.table.shape[0]):
        for j in range(value.inner.table.shape[1]):
            total += value.inner.table[i, j] * (1 + i + 10 * j)
    total += value.inner.cube[1, 0, 2] if value.inner.flag else 0.0
    value.inner.table[0, 0] = 7.0
    return total


def example(flag: bool = True, count: int = 3, share: float = 0.25) -> Outer:
    table = np.arange(6.0).reshape(2, 3)
    cube = np.arange(12).reshape(2, 2, 3)
    mask = np.array([True, False])
    return Outer(count, np.uint64(2**64 - 5), share, Inner(flag, table, cube), mask)


@pytest.mark.parametrize("share", [0.25, -0.0, math.inf, 5e-324])
@pytest.mark.parametrize("count", [0, -1, LARGEST, -LARGEST - 1])
@pytest.mark.parametrize("flag", [True, False])
def test_numbers_come_back_to_the_bit(flag: bool, count: int, share: float) -> None:
    scalars = (count, np.uint64(2**64 - 5), share, flag)
    block = Block(scalars)
    found = bind(read, KIND=block.kind)(block.address)
    assert found == scalars
    assert math.copysign(1, found[2]) == math.copysign(1, share)


def test_arrays_are_read_and_written_where_they_lie() -> None:
    function, value = BlockFunction(add_up), example()
    expected = (
        1.5
        + 3
        + 0.25
        + sum(value.inner.table[i, j] * (1 + i + 10 * j) for i in range(2) for j in range(3))
    )
    assert function((value, 1.5)) == expected + value.inner.cube[1, 0, 2]
    assert value.inner.table[0, 0] == 7.0
    value.inner.table[0, 0] = 0.0
    assert function((value._replace(inner=value.inner._replace(flag=False)), 1.5)) == expected
    assert len(function.by_kind) == 1


def test_other_kinds_of_arguments_are_compiled_anew() -> None:
    function, value = BlockFunction(add_up), example()
    assert function((value, 0.5)) - function((example(), 2)) == -1.5
    assert len(function.by_kind) == 2
    read_only = np.ones(3)
    read_only.flags.writeable = False
    assert Block(read_only).kind != Block(np.ones(3)).kind


def test_the_kind_is_what_numba_says_with_spans_for_arrays() -> None:
    value = example()
    assert _MACHINE_CODE.of(Block(value).kind) == span_type(numba.typeof(value))
    assert Block(value).kind == Block(example(flag=False)).kind
    kinds = [_MACHINE_CODE.of(Block(number).kind) for number in (1, 2**63)]
    assert kinds == [numba.int64, numba.uint64]


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (np.ones((2, 2)).T, "an array that is not in C order"),
        (np.ones(4)[::2], "an array that is not in C order"),
        (("text", 1), "str"),
        (np.float32(1), "float32"),
        (1j, "complex"),
    ],
)
def test_what_a_block_cannot_hold_is_refused(value: Any, name: str) -> None:
    with pytest.raises(TypeError, match="a block cannot hold") as caught:
        Block(value)
    assert name in str(caught.value)


def test_the_name_of_a_function_says_what_is_bound_to_it() -> None:
    """Machine code from the disk cache finds a function by its name: another one with other parts,
    compiled by another process, must not answer to it.
    """
    one, other = BlockFunction(add_up, PART=1), BlockFunction(add_up, PART=2, SPARE=1)
    assert one.mark == BlockFunction(add_up, PART=1).mark
    assert BlockFunction(add_part, PART=1).mark != BlockFunction(add_part, PART=2).mark
    assert one.mark == other.mark  # nothing that the code reaches differs
    function = BlockFunction(add_part, PART=5)
    assert function((1,)) == 6
    (compiled,) = function.by_kind.values()
    if compiled.machine_code.stats.cache_misses:
        name = _MACHINE_CODE.of(function.function).__name__
        assert name in next(iter(compiled.machine_code.inspect_llvm().values()))


# long enough that LLVM does not inline the function
MODULE = (
    """
from purse.compiler.jit import BlockFunction
PART = 0
def add_part(number):
    total = number + PART
"""
    + "".join(
        f"    for i in range(number, {k}):\n        total += i // (number + {k})\n"
        for k in range(2, 14)
    )
    + "    return total\n"
)
ADD = """
import json, sys, adding
functions = [adding.BlockFunction(adding.add_part, PART=int(part)) for part in sys.argv[1:]]
found = [function((1,)) for function in functions]
codes = [code.machine_code for function in functions for code in function.by_kind.values()]
hits = [sum(code.stats.cache_hits.values()) for code in codes]
print(json.dumps([found, hits]))
"""


def test_functions_that_two_processes_compiled_stay_apart_in_a_third(tmp_path: Path) -> None:
    (tmp_path / "adding.py").write_text(MODULE)

    def add(*parts: int) -> Any:
        return fresh_process(ADD, *parts, cache=tmp_path, path=tmp_path, NUMBA_OPT="1")

    assert add(5) == [[6], [0]]
    assert add(7) == [[8], [0]]
    assert add(5, 7) == [[6, 8], [1, 1]]


PART = 0


def add_part(number: int) -> int:
    return number + PART


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
