"""The memory of compiled code: arguments in one block, and small arrays on the stack.

To take a NamedTuple of arrays apart, numba compiles as much code as most of our loops have, and
runs all of it in every call. Here Python writes the addresses, sizes and numbers of all arguments
into one array, once. Compiled code gets the address of that array and reads them with `load`.
"""

from array import array
from struct import Struct
from typing import Any

import numpy as np

from purse.compiler.kernel import Intrinsic

_FLOAT, _INT = Struct("d"), Struct("q")
_FLOAT64, _INT64, _UINT64, _BOOL = (np.dtype(letters).str for letters in ("f8", "i8", "u8", "?"))


class Kind:
    """The parts of a value in a block.

    tree   for a number its type in NumPy's letters, such as "<f8"; for an array (type, dimensions,
           whether it is read only); for a tuple its class, and the trees of its items
    """

    def __init__(self, tree: Any) -> None:
        self.tree = tree

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and self.tree == other.tree

    def __hash__(self) -> int:
        return hash(self.tree)


class Block:
    """The block of one value: a number, an array in C order, or a tuple of such values.

    kind      what the value consists of
    address   where the block lies; valid as long as the `Block` lives

    The block holds numbers as they are now, and arrays by their address: compiled code sees what is
    written into them later. Raise `TypeError` for a value that cannot be in a block.
    """

    def __init__(self, value: Any) -> None:
        words: list[Any] = []
        self.kind = Kind(_flatten(value, words))
        self._memory = array("q", words)
        self._value = value  # the arrays must live as long as the block
        self.address, _ = self._memory.buffer_info()


def _flatten(value: Any, words: list[Any]) -> Any:
    """Append the words of a value; return the tree of its kind."""
    if isinstance(value, tuple):
        return type(value), *[_flatten(item, words) for item in value]
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise TypeError("a block cannot hold an array that is not in C order")
        words += (value.ctypes.data, *value.shape)
        return value.dtype.str, value.ndim, not value.flags.writeable
    if isinstance(value, float):
        words += _INT.unpack(_FLOAT.pack(value))
        return _FLOAT64
    if not isinstance(value, (int, np.bool_, np.int64, np.uint64)):
        raise TypeError(f"a block cannot hold {type(value).__name__}")
    number = int(value)
    words.append(number if number < 2**63 else number - 2**64)
    if isinstance(value, (bool, np.bool_)):
        return _BOOL
    return _UINT64 if isinstance(value, np.uint64) or number >= 2**63 else _INT64


def _no_memory(*args: Any) -> Any:
    raise TypeError("plain Python reads no block")


def _cleared(shape: Any, like: float) -> Any:
    return np.zeros(shape, np.int64 if isinstance(like, int) else np.float64)


def _gpu_only(*args: Any) -> Any:
    raise TypeError("only a GPU lays the arrays of several paths side by side")


_CODE = "purse.compiler.intrinsics"
load: Any = Intrinsic(f"{_CODE}:load", _no_memory)
# Small arrays on the stack: what never leaves the loop stays in registers, on a CPU as on a GPU.
# They have the type of `like`, the last argument; sizes are constants.
vector: Any = Intrinsic(f"{_CODE}:vector", _cleared, prefer_literal=True)
matrix: Any = Intrinsic(
    f"{_CODE}:matrix",
    lambda rows, columns, like: _cleared((rows, columns), like),
    prefer_literal=True,
)
beside: Any = Intrinsic(f"{_CODE}:beside", _gpu_only, prefer_literal=True)
copy: Any = Intrinsic(f"{_CODE}:copy", _gpu_only)
