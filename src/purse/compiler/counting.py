"""`range` with step 1, in a third of the code: numba's own allows for steps of either sign, and
checks that the step is not zero.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model

from purse.compiler.numba_contract import OWN_TYPES, UNTRACKED, cgutils, iternext_impl


class CountIterator(types.SimpleIteratorType):  # type: ignore[misc]
    """Counts on."""

    def __init__(self) -> None:
        super().__init__("count iterator", types.int64)


class Count(types.RangeType):  # type: ignore[misc]
    """A range of step 1 over numbers of 64 bits; all but a loop is done by numba's own code."""

    def __init__(self) -> None:
        super().__init__(types.int64)
        self.name = "count"
        self._iterator_type = CountIterator()


COUNT = Count()


@register_model(Count)
class CountModel(models.StructModel):  # type: ignore[misc]
    """What compiled code knows of a range: what numba's own knows."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [(name, types.int64) for name in ("start", "stop", "step")]
        super().__init__(manager, kind, members)


@register_model(CountIterator)
class CountIteratorModel(models.StructModel):  # type: ignore[misc]
    """What compiled code knows while it counts: where the next number is kept, and the end."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [("next", types.CPointer(types.int64)), ("stop", types.int64)]
        super().__init__(manager, kind, members)


def _count(typingctx: Any, *bounds: Any) -> Any:
    """Return `range(*bounds)`, numba's own for other steps and other kinds of numbers."""
    kinds = tuple(types.unliteral(each) for each in bounds)
    simple = 1 <= len(kinds) <= 2 and all(
        isinstance(each, types.Integer) and each.signed for each in kinds
    )
    usual = None if simple else typingctx.resolve_function_type(range, kinds, {})

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        values = cgutils.unpack_tuple(builder, args[0], len(kinds))
        wanted = (types.int64,) * len(kinds) if usual is None else usual.args
        words = [
            context.cast(builder, value, kind, to)
            for value, kind, to in zip(values, kinds, wanted, strict=True)
        ]
        if usual is not None:
            return context.get_function(range, usual)(builder, words)
        zero, one = (context.get_constant(types.int64, number) for number in (0, 1))
        start, stop = words if len(words) == 2 else (zero, words[0])
        return cgutils.pack_struct(builder, [start, stop, one])

    made = COUNT if usual is None else usual.return_type
    return made(types.StarArgTuple.from_types(kinds)), codegen


count: Any = intrinsic(_count)


def start_count(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Begin to count."""
    place = cgutils.alloca_once_value(builder, builder.extract_value(args[0], 0))
    return cgutils.pack_struct(builder, [place, builder.extract_value(args[0], 1)])


def next_number(context: Any, builder: Any, sig: Any, args: Any, result: Any) -> None:
    """Count on."""
    place, stop = (builder.extract_value(args[0], k) for k in range(2))
    number = builder.load(place)
    result.set_valid(builder.icmp_signed("<", number, stop))
    result.yield_(number)
    builder.store(builder.add(number, number.type(1), flags=["nsw"]), place)


def length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower `len(range(...))`."""
    start, stop = (builder.extract_value(args[0], k) for k in range(2))
    is_empty = builder.icmp_signed("<=", stop, start)
    return builder.select(is_empty, start.type(0), builder.sub(stop, start))


lower_builtin("getiter", Count)(start_count)
lower_builtin(len, Count)(length)
if OWN_TYPES:
    lower_builtin("iternext", CountIterator)(iternext_impl(UNTRACKED)(next_number))
