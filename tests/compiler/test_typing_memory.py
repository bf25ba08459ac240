"""What numba's typing has found once is not looked for again."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from numba import types
from numba.core.registry import cpu_target

from purse.compiler.stack_arrays import vector
from purse.compiler.typing_memory import TypingMemory, remember

NUMBERS = types.float64, types.int64


class Counting:
    """numba's typing context; it counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answer: Any = "found"

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        self.asked.append((func, args, kws))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def resolve_getattr(self, kind: Any, name: str) -> str:
        return f"{kind}.{name}"


def test_it_answers_as_numba_does() -> None:
    context = cpu_target.typing_context
    context.refresh()
    memory = TypingMemory(context)
    expected = context.resolve_function_type(operator.add, NUMBERS, {})
    for _ in range(2):
        assert memory.resolve_function_type(operator.add, NUMBERS, {}) == expected
    assert memory.resolve_function_type(operator.add, NUMBERS[:1] * 2, {}).return_type is not None


def test_the_same_types_are_asked_for_once() -> None:
    context = Counting()
    memory = TypingMemory(context)
    for func, args in [(min, NUMBERS), (max, NUMBERS), (min, NUMBERS[:1]), (min, NUMBERS)] * 2:
        assert memory.resolve_function_type(func, args, {}) == "found"
    assert len(context.asked) == 3


def test_a_compilation_for_a_gpu_may_have_changed_where_the_code_is_found() -> None:
    context = cpu_target.typing_context
    context.refresh()
    memory = TypingMemory(context)
    func = context.resolve_value_type(vector)
    sizes = types.literal(3), types.literal(0)
    found = memory.resolve_function_type(func, sizes, {})
    code = func.get_impl_key(found)
    func._impl_keys[found.args] = None  # as that of another context would be
    assert memory.resolve_function_type(func, sizes, {}) == found
    assert func.get_impl_key(found) is code


def test_calls_of_kernels_or_with_names_are_not_kept() -> None:
    context = Counting()
    memory = TypingMemory(context)
    for _ in range(2):
        memory.resolve_function_type(types.none, NUMBERS, {})
        memory.resolve_function_type(min, NUMBERS, {"key": types.int64})
    assert len(context.asked) == 4


@pytest.mark.parametrize("answer", [None, TypeError("no")])
def test_what_is_not_found_is_looked_for_again(answer: Any) -> None:
    context = Counting()
    memory = TypingMemory(context)
    context.answer = answer
    for _ in range(2):
        if answer is None:
            assert memory.resolve_function_type(min, NUMBERS, {}) is None
        else:
            with pytest.raises(TypeError, match="no"):
                memory.resolve_function_type(min, NUMBERS, {})
    context.answer = "found"
    assert memory.resolve_function_type(min, NUMBERS, {}) == "found"
    assert len(context.asked) == 3


def test_all_else_is_numbas() -> None:
    context = Counting()
    assert TypingMemory(context).resolve_getattr("point", "x") == "point.x"


def test_each_context_has_one_memory_for_what_is_inlined_and_one_for_the_rest() -> None:
    first, second = Counting(), Counting()
    assert remember(first, True) is remember(first, True)
    assert len({id(remember(c, inline)) for c in (first, second) for inline in (True, False)}) == 4
