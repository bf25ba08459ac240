"""Spans: arrays in C order of which compiled code knows the address and the shape.

numba's own arrays carry seven numbers or more, and every kernel hands all of them to the kernels
that it calls. A span carries two to four, handed over as one value, and what is done with it takes
a third of the code. So kernels compile in half the time, and do the same. Wherever numba expects an
array it finds one: `SpanProxy` puts the other numbers together on the spot.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import lower_cast, models, register_model

from purse.compiler.numba_contract import (
    OWN_TYPES,
    TypingContext,
    cgutils,
    populate_array,
    struct_proxies,
)


class Span(types.Array):  # type: ignore[misc]
    """An array in C order, as an address and a shape."""

    def __init__(self, dtype: Any, ndim: int, readonly: bool = False) -> None:
        kind = "readonly span" if readonly else "span"
        super().__init__(dtype, ndim, "C", readonly, name=f"{kind}({dtype}, {ndim}d)")
        struct_proxies.setdefault((self, "value"), type("SpanProxy", (SpanProxy,), {"span": self}))

    def copy(
        self, dtype: Any = None, ndim: Any = None, layout: Any = None, readonly: Any = None
    ) -> Any:
        """Return the type of a similar array; numba asks for that of a row or a slice."""
        made = super().copy(dtype, ndim, layout, readonly)
        return Span(made.dtype, made.ndim, not made.mutable) if made.layout == "C" else made

    def __reduce__(self) -> Any:
        """Make it again in another process, where numba has to find its proxy."""
        return Span, (self.dtype, self.ndim, not self.mutable)


class WholeTuple(types.NamedTuple):  # type: ignore[misc]
    """A NamedTuple that is handed over as one value."""

    def unify(self, typingctx: Any, other: Any) -> Any:
        """Return the type of a variable that holds this one or one that a kernel has made."""
        same = isinstance(other, types.NamedTuple) and other.key == self.key
        return types.NamedTuple(self.types, self.instance_class) if same else None


class WholeUniTuple(types.NamedUniTuple):  # type: ignore[misc]
    """The same for fields of one type, which can be looped over."""

    def unify(self, typingctx: Any, other: Any) -> Any:
        """Return the type of a variable that holds this one or one that a kernel has made."""
        same = isinstance(other, types.NamedUniTuple) and other.key == self.key
        return types.NamedUniTuple(*self.key[1:], self.instance_class) if same else None


def span_type(kind: Any) -> Any:
    """Return the type with spans for its arrays and whole tuples for its NamedTuples."""
    if not OWN_TYPES:
        return kind
    if isinstance(kind, types.NamedUniTuple):
        return WholeUniTuple(span_type(kind.dtype), kind.count, kind.instance_class)
    if isinstance(kind, types.BaseTuple):
        parts = tuple(span_type(part) for part in kind.types)
        named = isinstance(kind, types.BaseNamedTuple)
        return (
            WholeTuple(parts, kind.instance_class) if named else types.BaseTuple.from_types(parts)
        )
    is_array = isinstance(kind, types.Array)
    return Span(kind.dtype, kind.ndim, not kind.mutable) if is_array else kind


def array_type(typingctx: Any, dtype: Any, ndim: int) -> Any:
    """Return the type of a new array in C order: a span, where the code is for a CPU."""
    for_cpu = OWN_TYPES and type(typingctx) is TypingContext
    return Span(dtype, ndim) if for_cpu else types.Array(dtype, ndim, "C")


class OneValue:
    """The model of a value that functions get as it is; numba would hand it over in pieces."""

    def get_argument_type(self: Any) -> Any:
        """Return the type of the argument."""
        return self.get_value_type()

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Return what is handed over."""
        return value

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Return what was handed over."""
        return value


@register_model(WholeTuple)
class WholeTupleModel(OneValue, models.TupleModel):  # type: ignore[misc]
    """What compiled code knows of such a NamedTuple."""


@register_model(WholeUniTuple)
class WholeUniTupleModel(OneValue, models.UniTupleModel):  # type: ignore[misc]
    """What compiled code knows of one whose fields have one type."""


@register_model(Span)
class SpanModel(OneValue, models.StructModel):  # type: ignore[misc]
    """What compiled code knows of a span."""

    def __init__(self, manager: Any, kind: Any) -> None:
        members = [
            ("data", types.CPointer(kind.dtype)),
            ("shape", types.UniTuple(types.intp, kind.ndim)),
        ]
        super().__init__(manager, kind, members)


class SpanProxy(cgutils.ValueStructProxy):  # type: ignore[misc]
    """A span as numba's own code sees it: as an array."""

    span: Any = None

    def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
        self._fe_type = types.Array(self.span.dtype, self.span.ndim, "C", not self.span.mutable)
        given = value if ref is None else builder.load(ref)
        array = None if given is None else as_array(context, builder, self.span, given)
        super().__init__(context, builder, array)

    def _getvalue(self) -> Any:
        """Return the span."""
        return pack_span(self._context, self._builder, self.span, self.data, self.shape)


def pack_span(context: Any, builder: Any, span: Any, data: Any, shape: Any) -> Any:
    """Return the value of a span."""
    empty = cgutils.get_null_value(context.get_value_type(span))
    return builder.insert_value(builder.insert_value(empty, data, 0), shape, 1)


def pack_array(context: Any, builder: Any, kind: Any, data: Any, shape: list[Any]) -> Any:
    """Return the value of an array in C order at an address, be it a span or not."""
    if isinstance(kind, Span):
        return pack_span(context, builder, kind, data, cgutils.pack_array(builder, shape))
    made = context.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [context.get_constant(types.intp, size)]
    for extent in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], extent))
    populate_array(context, made, data=data, shape=shape, strides=strides, itemsize=strides[-1])
    return made._getvalue()


def as_array(context: Any, builder: Any, span: Any, value: Any) -> Any:
    """Return the array of a span."""
    kind = types.Array(span.dtype, span.ndim, "C")
    shape = cgutils.unpack_tuple(builder, builder.extract_value(value, 1), span.ndim)
    return pack_array(context, builder, kind, builder.extract_value(value, 0), shape)


def cast_span(context: Any, builder: Any, span: Any, kind: Any, value: Any) -> Any:
    """Let a span be an array."""
    return as_array(context, builder, span, value)


def cast_array(context: Any, builder: Any, kind: Any, span: Any, value: Any) -> Any:
    """Let an array in C order be a span."""
    array = context.make_array(kind)(context, builder, value)
    return pack_span(context, builder, span, array.data, array.shape)


def keep(context: Any, builder: Any, kind: Any, other: Any, value: Any) -> Any:
    """Let a value be of another type that is laid out alike."""
    return value


lower_cast(Span, types.Array)(cast_span)
lower_cast(types.Array, Span)(cast_array)
lower_cast(Span, Span)(keep)
lower_cast(WholeTuple, types.NamedTuple)(keep)
lower_cast(WholeUniTuple, types.NamedUniTuple)(keep)
