"""Our intrinsics for numba: operations of compiled code for which Python has no word."""

import math
from typing import Any

from numba import types

from purse.compiler.numba_contract import cgutils, ir, populate_array
from purse.compiler.spans import array_type, pack_array


def fma(typingctx: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a b + c, rounded once."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), codegen


def load(typingctx: Any, address: Any, kind: Any) -> Any:
    """Return the value whose block lies at `address`; `kind` is its type, a constant."""
    target = kind.instance_type

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        count = 0

        def word() -> Any:
            nonlocal count
            count += 1
            return builder.load(builder.gep(block, [ir.IntType(64)(count - 1)]))

        def array_at(kind: Any) -> Any:
            data = context.get_value_type(types.CPointer(kind.dtype))
            address = builder.inttoptr(word(), data)
            return pack_array(context, builder, kind, address, [word() for _ in range(kind.ndim)])

        def read(kind: Any) -> Any:
            if isinstance(kind, types.BaseTuple):
                return context.make_tuple(builder, kind, [read(part) for part in kind.types])
            if isinstance(kind, types.Array):
                return array_at(kind)
            if isinstance(kind, types.Boolean):
                return builder.trunc(word(), cgutils.bool_t)
            return builder.bitcast(word(), context.get_value_type(kind))

        return read(target)

    return target(address, kind), codegen


def _array(context: Any, builder: Any, kind: Any, shape: tuple[int, ...]) -> Any:
    """Room for an array, not cleared, for as long as the function around all inlined kernels."""
    item = context.get_data_type(kind.dtype)
    room = cgutils.alloca_once(builder, ir.ArrayType(item, math.prod(shape)))
    data = builder.bitcast(room, item.as_pointer())
    sizes = [context.get_constant(types.intp, size) for size in shape]
    return pack_array(context, builder, kind, data, sizes)


def vector(typingctx: Any, size: Any, like: Any) -> Any:
    """Return an array of `size` numbers of the type of `like`; the size is a constant."""
    kind = array_type(typingctx, types.unliteral(like), 1)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, kind, (size.literal_value,))

    return kind(size, like), codegen


def matrix(typingctx: Any, rows: Any, columns: Any, like: Any) -> Any:
    """Return a `rows` x `columns` array of the type of `like`; the sizes are constants."""
    kind = array_type(typingctx, types.unliteral(like), 2)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _array(context, builder, kind, (rows.literal_value, columns.literal_value))

    return kind(rows, columns, like), codegen


def beside(typingctx: Any, rows: Any, room: Any, start: Any, lane: Any, lanes: Any) -> Any:
    """Arrays like those of `rows`, a NamedTuple, in `room` from item `start` on, where those of
    `lanes` paths, a constant, lie side by side.

    Items are 8 bytes each. Neighbouring paths have neighbouring items, and `lane` says which path
    is meant.
    """
    tuple_type = types.NamedTuple(
        [types.Array(kind.dtype, kind.ndim, "A") for kind in rows.types], rows.instance_class
    )

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        def word(value: int) -> Any:
            return context.get_constant(types.intp, value)

        first, mine = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(args[2:4], (start, lane), strict=True)
        )
        offset = builder.mul(builder.add(first, mine), word(8))
        data = builder.bitcast(
            context.make_array(room)(context, builder, args[1]).data, ir.IntType(8).as_pointer()
        )
        arrays = []
        for k, (old, new) in enumerate(zip(rows.types, tuple_type.types, strict=True)):
            like = context.make_array(old)(context, builder, builder.extract_value(args[0], k))
            shape = cgutils.unpack_tuple(builder, like.shape)
            step = word(8 * lanes.literal_value)
            steps = []
            for size in shape:
                steps.append(step)
                step = builder.mul(step, size)
            array = context.make_array(new)(context, builder)
            here = builder.bitcast(builder.gep(data, [offset]), array.data.type)
            populate_array(context, array, data=here, shape=shape, strides=steps, itemsize=word(8))
            arrays.append(array._getvalue())
            offset = builder.add(offset, step)
        return context.make_tuple(builder, signature.return_type, arrays)

    return tuple_type(rows, room, start, lane, lanes), codegen


def copy(typingctx: Any, source: Any, target: Any) -> Any:
    """Copy the items of each array of a NamedTuple into those of another."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        for k, kinds in enumerate(zip(source.types, target.types, strict=True)):
            pair = [
                context.make_array(kind)(context, builder, builder.extract_value(value, k))
                for kind, value in zip(kinds, args, strict=True)
            ]
            shape = cgutils.unpack_tuple(builder, pair[0].shape)
            with cgutils.loop_nest(builder, shape, context.get_value_type(types.intp)) as index:
                here, there = (
                    cgutils.get_item_pointer2(
                        context,
                        builder,
                        array.data,
                        shape,
                        cgutils.unpack_tuple(builder, array.strides),
                        kind.layout,
                        index,
                    )
                    for kind, array in zip(kinds, pair, strict=True)
                )
                builder.store(builder.load(here), there)
        return context.get_dummy_value()

    return types.none(source, target), codegen
