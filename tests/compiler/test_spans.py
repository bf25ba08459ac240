"""Spans do what arrays do, in kernels and wherever numba's own code gets one."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from purse.compiler.blocks import Block, vector
from purse.compiler.jit import BlockFunction
from purse.compiler.kernel import kernel
from purse.compiler.machine_code import _MACHINE_CODE
from purse.compiler.spans import span_type
from tests.support.processes import fresh_process


class Arrays(NamedTuple):
    line: Any  # (5,) floats
    table: Any  # (2, 3) integers
    cube: Any  # (2, 2, 3) floats
    flags: Any  # (4,) truth values
    known: Any  # (3,) floats, only read


class Pair(NamedTuple):
    first: Any
    second: Any


def example() -> Arrays:
    known = np.array([0.5, 0.25, 0.125])
    known.flags.writeable = False
    return Arrays(
        np.arange(5.0),
        np.arange(6).reshape(2, 3),
        np.arange(12.0).reshape(2, 2, 3),
        np.array([True, False, False, True]),
        known,
    )


def call(function: Any, *args: Any) -> Any:
    """Call a function whose arguments come in a block, so that its arrays are spans."""
    return BlockFunction(function)(args)


@kernel
def last_of(row: Any) -> Any:
    return row[-1]


def read_items(a: Arrays, i: int, j: int) -> Any:
    return (
        a.line[i],
        a.line[-1],
        a.line[i - 5],
        a.table[i, j],
        a.table[-1, -1],
        a.cube[i, j, 2],
        a.cube[i, j][1],
        a.cube[i][j, 0],
        a.flags[i],
        a.known[j],
        last_of(a.cube[i, j]),
        last_of(a.table[j]),
    )


def test_items_and_rows_are_those_of_the_arrays() -> None:
    expected = (1.0, 4.0, 1.0, 3, 5, 8.0, 7.0, 6.0, False, 0.5, 8.0, 2)
    assert call(read_items, example(), 1, 0) == expected


def write_items(a: Arrays, i: int) -> None:
    a.line[i] = 7
    a.line[-1] += 0.5
    a.table[i, 0] = 2.9
    a.table[-1, -1] = True
    a.cube[i, 0][1] = -1
    a.cube[0, 1, i] = 3
    a.flags[i] = 5
    a.flags[0] = False


def test_what_is_written_is_in_the_arrays() -> None:
    arrays = example()
    call(write_items, arrays, 1)
    assert arrays.line.tolist() == [0.0, 7.0, 2.0, 3.0, 4.5]
    assert arrays.table.tolist() == [[0, 1, 2], [2, 4, 1]]
    assert arrays.cube.reshape(-1).tolist() == [0, 1, 2, 3, 3, 5, 6, -1, 8, 9, 10, 11]
    assert arrays.flags.tolist() == [False, True, False, True]


def look_around(a: Arrays) -> Any:
    rows, columns = a.table.shape
    return rows, columns, len(a.cube), a.cube.shape[2], a.line.size, a.table.ndim, a.cube.size


def test_shapes_and_sizes() -> None:
    assert call(look_around, example()) == (2, 3, 2, 3, 5, 2, 12)


def use_numpy(a: Arrays) -> Any:
    total = 0.0
    for x in a.line:
        total += x
    for i, flag in enumerate(a.flags):
        total += 10 * i * flag
    a.line[1:3] = 9.0
    a.cube[1] = 0.5
    part = a.line[2:]
    return (
        total,
        np.argmax(a.line),
        a.line.sum(),
        a.table.sum(),
        a.cube[1].mean(),
        part[0] + part[-1],
        len(part),
        a.table[:, 1].sum(),
    )


def test_numbas_own_code_takes_spans_for_arrays() -> None:
    arrays = example()
    assert call(use_numpy, arrays) == (40.0, 1, 25.0, 15, 0.5, 13.0, 3, 5)
    assert arrays.line.tolist() == [0.0, 9.0, 9.0, 3.0, 4.0]


def swap_ends(a: Arrays, shorter: bool) -> float:
    part = a.line
    if shorter:
        part = part[1:4]
    part[0], part[-1] = part[-1], part[0]
    return float(part[0])


@pytest.mark.parametrize(("shorter", "line"), [(False, [4, 1, 2, 3, 0]), (True, [0, 3, 2, 1, 4])])
def test_a_variable_may_hold_an_array_or_a_slice_of_it(shorter: bool, line: list[int]) -> None:
    arrays = example()
    assert call(swap_ends, arrays, shorter) == arrays.line[1 if shorter else 0]
    assert arrays.line.tolist() == line


def mix(a: Arrays, from_stack: bool) -> float:
    mine = vector(5, 0.0)
    for i in range(5):
        mine[i] = 2.0 * a.line[i]
    pair = Pair(mine, a.line)
    chosen = pair.first if from_stack else pair.second
    return float(chosen[3])


def test_arrays_on_the_stack_are_spans_too() -> None:
    assert (call(mix, example(), True), call(mix, example(), False)) == (6.0, 3.0)


def read_from_either(line: Any, i: int) -> Any:
    mine = vector(3, 0.0)
    mine[0] = 5.0
    chosen = mine if i < 0 else line
    return chosen[0] + len(chosen)


def test_a_variable_may_hold_a_span_or_an_array_of_numbas() -> None:
    plain = kernel(read_from_either)  # called by Python, its argument is an array of numba's
    assert (plain(np.ones(7), -1), plain(np.ones(7), 1)) == (8.0, 8.0)
    assert plain(np.arange(14.0)[::2], 1) == 7.0


def write_known(a: Arrays) -> None:
    a.known[0] = 1.0


def test_an_array_that_is_only_read_cannot_be_written() -> None:
    with pytest.raises(Exception, match=r"readonly span\(float64, 1d\)"):
        call(write_known, example())


class Rates(NamedTuple):
    first: float
    second: float
    third: float


def loop_over(rates: Rates, pair: Pair, i: int) -> float:
    total = rates[i]
    for rate in rates:
        total += 10 * rate
    for line in pair:
        line[i] = total
    return total


def test_fields_of_one_type_can_be_looped_over_and_counted() -> None:
    pair = Pair(np.zeros(2), np.zeros(2))
    assert call(loop_over, Rates(1.0, 2.0, 4.0), pair, 1) == 72.0
    assert [line.tolist() for line in pair] == [[0.0, 72.0]] * 2


class Mixed(NamedTuple):
    line: Any
    factor: int


def choose_between(given: Mixed, pair: Pair, own: bool) -> float:
    mixed = Mixed(pair.second, 3) if own else given
    both = Pair(given.line, given.line) if own else pair
    return float(mixed.line[0] * mixed.factor + both.second[0])


@pytest.mark.parametrize(("own", "expected"), [(False, 2.0 + 5.0), (True, 15.0 + 1.0)])
def test_a_variable_may_hold_an_argument_or_a_tuple_of_the_kernels(
    own: bool, expected: float
) -> None:
    ones, fives = np.ones(1), np.full(1, 5.0)
    assert call(choose_between, Mixed(ones, 2), Pair(ones, fives), own) == expected


BEYOND = """
import json
import numpy as np
from purse.compiler.jit import BlockFunction

def beyond(line, table, i):
    table[1, i] = 2.0
    return line[i]

found = []
for i in (1, -2, 2):
    try:
        found.append(BlockFunction(beyond)((np.ones(2), np.zeros((2, 2)), i)))
    except IndexError:
        found.append("beyond")
print(json.dumps(found))
"""


def test_bounds_are_checked_where_numba_is_asked_to(tmp_path: Path) -> None:
    found = fresh_process(BEYOND, cache=tmp_path, NUMBA_BOUNDSCHECK="1")
    assert found == [1.0, 1.0, "beyond"]


def test_types_of_arguments_hold_spans() -> None:
    kind = _MACHINE_CODE.of(Block((example(), 3)).kind)
    arrays, number = kind.types
    assert arrays.instance_class is Arrays
    assert number == types.int64
    assert [str(part) for part in arrays.types] == [
        "span(float64, 1d)",
        "span(int64, 2d)",
        "span(float64, 3d)",
        "span(bool, 1d)",
        "readonly span(float64, 1d)",
    ]


def test_a_span_is_no_array_of_numbas() -> None:
    kind = types.Array(types.float64, 2, "C")
    assert span_type(kind) == span_type(kind) != kind
