"""What kernels do with spans: items and rows are read, items are written. All else is done by
numba's own code for arrays.
"""

from __future__ import annotations

import operator
from typing import Any

from numba import types
from numba.extending import lower_builtin, lower_getattr

from purse.compiler.numba_contract import cgutils, getitem_array_tuple, setitem_array
from purse.compiler.spans import Span, pack_array


def find(
    context: Any, builder: Any, kind: Any, value: Any, index_types: Any, index: Any
) -> tuple[Any, list[Any]]:
    """Return the address of an item or a row, and the row's shape; negative indices count back."""
    shape = cgutils.unpack_tuple(builder, builder.extract_value(value, 1), kind.ndim)
    place: Any = None
    for axis, (extent, index_type, number) in enumerate(
        zip(shape, index_types, index, strict=False)
    ):
        signed = index_type.signed
        word = context.cast(builder, number, index_type, types.intp if signed else types.uintp)
        if signed:
            below = builder.icmp_signed("<", word, word.type(0))
            word = builder.select(below, builder.add(word, extent), word)
        if context.enable_boundscheck:
            cgutils.do_boundscheck(context, builder, word, extent, axis)
        place = word if place is None else builder.add(builder.mul(place, extent), word)
    row = shape[len(index_types) :]
    for extent in row:
        place = builder.mul(place, extent)
    return builder.gep(builder.extract_value(value, 0), [place]), row


def read(context: Any, builder: Any, sig: Any, value: Any, index_types: Any, index: Any) -> Any:
    """Return an item, or the span of a row."""
    kind = sig.args[0]
    place, row = find(context, builder, kind, value, index_types, index)
    if row:
        return pack_array(context, builder, sig.return_type, place, row)
    return context.unpack_value(builder, kind.dtype, place)


def get_at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower `span[i]`."""
    return read(context, builder, sig, args[0], sig.args[1:], args[1:])


def get_at_constant(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower `span[0]`."""
    index = context.get_constant(types.intp, args[1])
    return read(context, builder, sig, args[0], (types.intp,), (index,))


def are_numbers(index_types: Any) -> bool:
    """Whether an index is one or more numbers, without slices or arrays."""
    return bool(index_types) and all(isinstance(each, types.Integer) for each in index_types)


def get_at_tuple(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower `span[i, j]`."""
    index_types = sig.args[1].types
    if not are_numbers(index_types):
        return getitem_array_tuple(context, builder, sig, args)
    index = cgutils.unpack_tuple(builder, args[1], len(index_types))
    return read(context, builder, sig, args[0], index_types, index)


def set_at(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """Lower `span[i] = x` and `span[i, j] = x`."""
    kind, index_type, value_type = sig.args
    index_types, index = (index_type,), (args[1],)
    if isinstance(index_type, types.BaseTuple):
        index_types = index_type.types
        index = cgutils.unpack_tuple(builder, args[1], len(index_types))
    if not are_numbers(index_types) or len(index_types) < kind.ndim:
        setitem_array(context, builder, sig, args)
        return
    place, _ = find(context, builder, kind, args[0], index_types, index)
    item = context.cast(builder, args[2], value_type, kind.dtype)
    context.pack_value(builder, kind.dtype, item, place)


def get_shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Lower `span.shape`."""
    return builder.extract_value(value, 1)


def get_length(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower `len(span)`."""
    return builder.extract_value(args[0], [1, 0])


lower_builtin(operator.getitem, Span, types.Integer)(get_at)
lower_builtin("static_getitem", Span, types.IntegerLiteral)(get_at_constant)
lower_builtin(operator.getitem, Span, types.BaseTuple)(get_at_tuple)
lower_builtin(operator.setitem, Span, types.Integer, types.Any)(set_at)
lower_builtin(operator.setitem, Span, types.BaseTuple, types.Any)(set_at)
lower_getattr(Span, "shape")(get_shape)
lower_builtin(len, Span)(get_length)
