"""Python's `range`, `min`, `max` and `int` in kernels, written in place. numba has functions of its
own for them, and compiles one for each kind of numbers.
"""

from __future__ import annotations

import operator
from dis import get_instructions
from functools import reduce
from types import FunctionType
from typing import Any

from numba import types
from numba.extending import intrinsic

from purse.compiler.counting import count
from purse.compiler.numba_contract import OWN_TYPES, cgutils

NUMBERS = types.Integer, types.Float, types.Boolean


def _extreme(usual: Any, better: Any) -> Any:
    """Return `min` or `max`. Of equal numbers the first is returned. A nan is treated as Python
    treats it.
    """

    def typed(typingctx: Any, *values: Any) -> Any:
        if not values:
            return None
        kinds = tuple(types.unliteral(each) for each in values)
        star = types.StarArgTuple.from_types(kinds)
        if not all(isinstance(each, NUMBERS) for each in kinds):  # of a tuple: left to numba
            function = typingctx.resolve_value_type(usual)
            found = function.get_call_type(typingctx, kinds, {})

            def call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
                # newer versions of numba take them as one, too
                as_one = found.args and found.args[0] == star
                given = args if as_one else cgutils.unpack_tuple(builder, args[0], len(kinds))
                return context.get_function(function, found)(builder, given)

            return found.return_type(star), call
        kind = typingctx.unify_types(*kinds)

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            words = [
                context.cast(builder, value, each, kind)
                for value, each in zip(
                    cgutils.unpack_tuple(builder, args[0], len(kinds)), kinds, strict=True
                )
            ]
            compare = context.get_function(better, types.boolean(kind, kind))
            return reduce(
                lambda best, word: builder.select(compare(builder, (word, best)), word, best), words
            )

        return kind(star), codegen

    return typed


def _whole(typingctx: Any, value: Any) -> Any:
    """Return `int(value)` of a number."""
    kind = types.unliteral(value)
    if not isinstance(kind, NUMBERS):
        return None
    made = kind if isinstance(kind, types.Integer) else types.intp

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.cast(builder, args[0], kind, made)

    return made(kind), codegen


least: Any = intrinsic(_extreme(min, operator.lt))
most: Any = intrinsic(_extreme(max, operator.gt))
whole: Any = intrinsic(_whole)
LEAN: dict[str, Any] = {"range": count, "min": least, "max": most, "int": whole}
PREFIX = "lean "  # numba does not allow another `range` under that name


def with_lean_builtins(function: FunctionType) -> FunctionType:
    """Return the function with these in place of Python's, where it means those.

    A name that is also that of an attribute, such as `max` in `np.max`, is left alone, and so are
    functions that ask for types and those that call themselves: numba knows these by the function.
    """
    code, scope = function.__code__, function.__globals__
    names = LEAN.keys() & set(code.co_names) - scope.keys()
    if not OWN_TYPES or not names or "isinstance" in code.co_names:
        return function
    names -= {each.argval for each in get_instructions(code) if each.opname != "LOAD_GLOBAL"}
    itself = any(getattr(scope.get(each), "py_func", None) is function for each in code.co_names)
    if not names or itself:
        return function
    copy = FunctionType(
        code.replace(
            co_names=tuple(PREFIX + name if name in names else name for name in code.co_names)
        ),
        {**scope, **{PREFIX + name: LEAN[name] for name in names}},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy
