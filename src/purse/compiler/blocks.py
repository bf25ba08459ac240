"""Arguments in one block of memory: what compiled code is given instead of NamedTuples of arrays.

To take a NamedTuple of arrays apart, numba compiles as much code as most of our loops have, and
runs all of it in every call. Here Python writes the addresses, sizes and numbers of all arguments
into one array, once. Compiled code gets the address of that array and reads them with `load`.
"""

from __future__ import annotations

from array import array
from struct import Struct
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

import purse.compiler.span_access  # noqa: F401  # tells numba what to do with spans
from purse.compiler.numba_contract import cgutils, ir
from purse.compiler.spans import pack_array, span_type

FLOAT, INT = Struct("d"), Struct("q")


class Block:
    """The block of one value: a number, an array in C order, or a tuple of such values.

    kind      numba's type of the value
    address   where the block lies; valid as long as the `Block` lives

    The block holds numbers as they are now, and arrays by their address: compiled code sees what is
    written into them later. Raise `TypeError` for a value that cannot be in a block.
    """

    def __init__(self, value: Any) -> None:
        looks: list[Any] = []  # all that the type depends on: much quicker than to ask numba
        words: list[Any] = []
        _flatten(value, looks, words)
        key = tuple(looks)
        if key not in _kinds:
            _kinds[key] = span_type(_check(numba.typeof(value)))
        self.kind = _kinds[key]
        self._memory = array("q", words)
        self._value = value  # the arrays must live as long as the block
        self.address, _ = self._memory.buffer_info()


_kinds: dict[tuple[Any, ...], Any] = {}


def _flatten(value: Any, looks: list[Any], words: list[Any]) -> None:
    """Append the words of a value, and what its type depends on."""
    if isinstance(value, tuple):
        looks += (type(value), len(value))
        for item in value:
            _flatten(item, looks, words)
    elif isinstance(value, np.ndarray):
        looks += (value.dtype.num, value.ndim, value.flags.num)
        words += (value.ctypes.data, *value.shape)
    else:
        number = int(value) if isinstance(value, (int, np.integer, np.bool_)) else 0
        looks += (type(value), number >= 2**63)
        words.append(number if number < 2**63 else number - 2**64)
        if isinstance(value, float):
            words[-1:] = INT.unpack(FLOAT.pack(value))


def _check(kind: Any) -> Any:
    """Return the type where a block can hold it."""
    if isinstance(kind, types.BaseTuple):
        for part in kind.types:
            _check(part)
    elif not (
        (isinstance(kind, types.Array) and kind.layout == "C")
        or (isinstance(kind, types.Integer) and kind.bitwidth == 64)
        or kind in (types.boolean, types.float64)
    ):
        raise TypeError(f"a block cannot hold {kind}")
    return kind


def _load(typingctx: Any, address: Any, kind: Any) -> Any:
    """The value whose block lies at `address`; `kind` is its type, a constant."""
    target = kind.instance_type

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
        count = 0

        def word() -> Any:
            nonlocal count
            count += 1
            return builder.load(builder.gep(place, [ir.IntType(64)(count - 1)]))

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


load: Any = intrinsic(_load)
