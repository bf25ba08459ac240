"""Kernels become machine code only within the function that Python calls."""

from typing import Any

import numba

from purse.compiler.jit import bind
from purse.compiler.kernel import cold, kernel
from purse.compiler.linking import _Part, _with_parts
from purse.compiler.machine_code import _MACHINE_CODE, _WHOLE
from purse.compiler.numba_contract import LEAN

inner: Any = None


@kernel
def one_more(x: int) -> int:
    return x + 1


@cold
def rarely(x: int) -> int:
    return one_more(x) * 3


@kernel
def of_policy(x: int) -> int:
    return rarely(x) - one_more(x)


@kernel
def beside(x: int) -> int:
    return of_policy(x) + rarely(x)


@cold
def rarely_too(x: int) -> int:
    return of_policy(x) + 1


def entry(x: int) -> Any:
    return inner(x)


def both(x: int) -> Any:
    return of_policy(x) + beside(x) + rarely_too(x)


def expected(x: int) -> int:
    policy = 3 * (x + 1) - (x + 1)
    return policy + (policy + 3 * (x + 1)) + (policy + 1)


def compiled(part: Any) -> Any:
    """What numba has compiled for whole numbers; not from a cache."""
    function = _MACHINE_CODE.of(part)

    def caller(x: int) -> Any:
        return function(x)

    numba.njit(**_WHOLE, **LEAN)(caller)(1)
    return function.overloads[(numba.int64,)]


def test_parts_are_linked_into_each_whole() -> None:
    for function in (bind(both), bind(both, unused=1)):
        assert [function(x) for x in (-5, 0, 7)] == [expected(x) for x in (-5, 0, 7)]
    assert bind(entry, inner=of_policy)(4) == 10
    assert of_policy(4) == 10  # Python may call it, too


def test_a_part_has_no_machine_code() -> None:
    part = compiled(beside)
    address = part.library.get_pointer_to_function(part.fndesc.llvm_func_name)
    assert isinstance(part.library, _Part)
    assert address == 0


def test_callers_come_before_callees() -> None:
    """LLVM drops what nothing calls yet: the wrong order is a call of address 0."""
    order = _with_parts([compiled(beside).library])
    for caller in order:
        for callee in caller._linking_libraries if isinstance(caller, _Part) else ():
            assert order.index(caller) < order.index(callee)
    assert len(order) == len(set(order)) >= 4


def test_numba_may_call_a_part_its_own_way() -> None:
    @numba.njit(**LEAN)
    def plain(x: int) -> Any:
        return beside(x) - of_policy(x)

    assert plain(2) == 9
