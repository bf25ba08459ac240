"""Kernels as plain Python, for those who call one a few times: to compile it takes seconds."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar, cast

from purse.compiler.jit import with_globals

F = TypeVar("F")


def interpret(kernel: F, **parts: Any) -> F:
    """The code of a kernel as a Python function, with `parts` in place of what it calls.

    Its numbers may differ from those of the kernel in the last bits.
    """
    origin = cast(FunctionType, getattr(kernel, "py_func", kernel))
    made = with_globals(origin, {**origin.__globals__, **parts}, origin.__name__)
    return cast(F, made)
