"""Kernels as plain Python: sooner than machine code by seconds, and slower by a factor of hundreds.

Every operation on float64, int64 and uint64 rounds and wraps as in machine code, so the bits are
the same; a test holds every policy to that.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np

from purse.compiler.kernel import Form, Intrinsic, Kernel

_fma: Any = ctypes.CDLL(ctypes.util.find_library("m")).fma
_fma.argtypes, _fma.restype = [ctypes.c_double] * 3, ctypes.c_double


def fma(a: float, b: float, c: float) -> float:
    """Return a b + c, rounded once."""
    return np.float64(_fma(a, b, c))


def _uint64(number: Any) -> Any:
    """Return a number as a uint64; a negative one wraps, as in compiled code."""
    return np.uint64(number % 2**64 if type(number) is int else number)


def _like_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of `math` that returns nan or inf, as compiled, if Python raises."""

    def call(*args: Any) -> Any:
        try:
            value = function(*args)
        except ValueError:
            pole = function in (math.log, math.log2, math.log10) and args[0] == 0
            return np.float64(-math.inf if pole else math.nan)
        except OverflowError:
            return np.float64(math.inf)
        return np.float64(value) if type(value) is float else value

    return call


_MATH = SimpleNamespace(
    **{
        name: _like_compiled(item) if callable(item) else item
        for name, item in vars(math).items()
        if not name.startswith("_")
    }
)
# the most used one: a third of the time
_MATH.sqrt = lambda x: np.sqrt(np.float64(x))


class _Plain(Form):
    """Kernels as Python functions."""

    def of_kernel(self, kernel: Kernel, copy: FunctionType) -> Any:
        """Return the function."""
        return copy

    def of_other(self, item: Any) -> Any:
        """Return what plain Python has for an intrinsic, a function of `math` or one of numba's."""
        if isinstance(item, Intrinsic):
            return item.python
        if item is math:
            return _MATH
        if item is np.uint64:
            return _uint64
        return _MATH_FUNCTIONS.get(id(item)) or getattr(item, "py_func", item)


_MATH_FUNCTIONS = {
    id(getattr(math, name)): item for name, item in vars(_MATH).items() if callable(item)
}
_PLAIN = _Plain()


def plain(kernel: Any) -> Callable[..., Any]:
    """Return the kernel as Python runs it, with all that it calls.

    Whole numbers wrap and x / 0 is infinite, both without a warning.
    """
    function = _PLAIN.of(kernel)

    def call(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return call


def in_numpy(value: Any) -> Any:
    """Return a value, or a tuple of values, with floats of NumPy, which can be divided by zero."""
    if isinstance(value, tuple):
        parts = map(in_numpy, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return np.float64(value) if type(value) is float else value
