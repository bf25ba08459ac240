"""Spans: arrays in C order of which compiled code knows the address and the shape.

numba's own arrays carry seven numbers or more, which every kernel hands to the kernels that it
calls, and to reach an item takes three times the code. With spans kernels compile in two thirds of
the time, and do the same. Items and rows are reached here; for all else numba's own code finds an
array: `_SpanProxy` puts the other numbers together on the spot.
"""

import operator
from typing import Any

from numba import types
from numba.extending import lower_builtin, lower_cast, lower_getattr, models, register_model

from purse.compiler.numba_contract import (
    TypingContext,
    cgutils,
    getitem_array_tuple,
    populate_array,
    setitem_array,
    struct_proxies,
)


class _Span(types.Array):  # type: ignore[misc]
    """An array in C order, as an address and a shape."""

    def __init__(self, dtype: Any, ndim: int, readonly: bool = False) -> None:
        kind = "readonly span" if readonly else "span"
        super().__init__(dtype, ndim, "C", readonly, name=f"{kind}({dtype}, {ndim}d)")
        struct_proxies.setdefault((self, "value"), type("SpanProxy", (_SpanProxy,), {"span": self}))

    def copy(self, *changes: Any, **named: Any) -> Any:
        """Return the type of a similar array; numba asks for that of a row or a slice."""
        kind = super().copy(*changes, **named)
        return span_type(kind) if kind.layout == "C" else kind


def span_type(kind: Any) -> Any:
    """Return the type with spans for its arrays."""
    if isinstance(kind, types.BaseTuple):
        parts = [span_type(part) for part in kind.types]
        return types.BaseTuple.from_types(parts, getattr(kind, "instance_class", None))
    is_array = isinstance(kind, types.Array)
    return _Span(kind.dtype, kind.ndim, not kind.mutable) if is_array else kind


def array_type(typingctx: Any, dtype: Any, ndim: int) -> Any:
    """Return the type of a new array in C order: a span if the code is for a CPU."""
    kind = types.Array(dtype, ndim, "C")
    return span_type(kind) if type(typingctx) is TypingContext else kind


@register_model(_Span)
class _SpanModel(models.StructModel):  # type: ignore[misc]
    """The model of a span in compiled code."""

    def __init__(self, manager: Any, kind: Any) -> None:
        shape = types.UniTuple(types.intp, kind.ndim)
        super().__init__(manager, kind, [("data", types.CPointer(kind.dtype)), ("shape", shape)])


class _SpanProxy(cgutils.ValueStructProxy):  # type: ignore[misc]
    """A span as numba's own code sees it: as an array."""

    span: Any = None

    def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        self._fe_type = types.Array(self.span.dtype, self.span.ndim, "C", not self.span.mutable)
        span = value if ref is None else builder.load(ref)
        array = None if span is None else _as_array(context, builder, self.span, None, span)
        super().__init__(context, builder, array)

    def _getvalue(self) -> Any:
        shape = cgutils.unpack_tuple(self._builder, self.shape)
        return pack_array(self._context, self._builder, self.span, self.data, shape)


def pack_array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """Return the value of an array in C order at an address, be it a span or not."""
    if isinstance(kind, _Span):
        return cgutils.pack_struct(builder, [data, cgutils.pack_array(builder, shape)])
    array = context.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [context.get_constant(types.intp, size)]
    for extent in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], extent))
    populate_array(context, array, data=data, shape=shape, strides=strides, itemsize=strides[-1])
    return array._getvalue()


def _as_array(context: Any, builder: Any, span: Any, kind: Any, value: Any) -> Any:
    data, shape = cgutils.unpack_tuple(builder, value)
    array = types.Array(span.dtype, span.ndim, "C")
    return pack_array(context, builder, array, data, cgutils.unpack_tuple(builder, shape))


def _numbers(builder: Any, kind: Any, index: Any) -> list[tuple[Any, Any]]:
    """Return the types and values of an index of numbers, none for one with slices or arrays."""
    if isinstance(kind, types.Integer):
        return [(kind, index)]
    whole = all(isinstance(item, types.Integer) for item in kind)
    return list(zip(kind, cgutils.unpack_tuple(builder, index), strict=True)) if whole else []


def _find(context: Any, builder: Any, value: Any, index: Any) -> tuple[Any, list[Any]]:
    """Return the address of an item or a row, and the row's shape; negative indices count back."""
    data, extents = cgutils.unpack_tuple(builder, value)
    shape = cgutils.unpack_tuple(builder, extents)
    item: Any = None
    for axis, (extent, (kind, number)) in enumerate(zip(shape, index, strict=False)):
        word = context.cast(builder, number, kind, types.intp if kind.signed else types.uintp)
        if kind.signed:
            below = builder.icmp_signed("<", word, word.type(0))
            word = builder.select(below, builder.add(word, extent), word)
        if context.enable_boundscheck:
            cgutils.do_boundscheck(context, builder, word, extent, axis)
        item = builder.add(builder.mul(item, extent), word) if axis else word
    for extent in shape[len(index) :]:
        item = builder.mul(item, extent)
    return builder.gep(data, [item]), shape[len(index) :]


def _get_item(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Lower `span[i]` and `span[i, j]`: an item, or the span of a row."""
    span, kind = sig.args
    index = _numbers(builder, kind, args[1])
    if not index:
        return getitem_array_tuple(context, builder, sig, args)
    address, row = _find(context, builder, args[0], index)
    if row:
        return pack_array(context, builder, sig.return_type, address, row)
    return context.unpack_value(builder, span.dtype, address)


def _set_item(context: Any, builder: Any, sig: Any, args: Any) -> None:
    """Lower `span[i] = x` and `span[i, j] = x`."""
    span, kind, value_kind = sig.args
    index = _numbers(builder, kind, args[1])
    if not index or len(index) < span.ndim:
        setitem_array(context, builder, sig, args)
        return
    address, _ = _find(context, builder, args[0], index)
    item = context.cast(builder, args[2], value_kind, span.dtype)
    context.pack_value(builder, span.dtype, item, address)


def _get_shape(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return builder.extract_value(value, 1)


lower_cast(_Span, types.Array)(_as_array)
lower_builtin("static_getitem", _Span, types.IntegerLiteral)(_get_item)
lower_getattr(_Span, "shape")(_get_shape)
for _index in (types.Integer, types.BaseTuple):
    lower_builtin(operator.getitem, _Span, _index)(_get_item)
    lower_builtin(operator.setitem, _Span, _index, types.Any)(_set_item)
