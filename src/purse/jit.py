"""Compilation: one decorator for what runs in the loop, one function that binds the loop to its parts.

Two facts shape this file. Reference counting costs four times the work of a round, so kernels are compiled without it
(`_nrt`, a private option of numba; a test watches that it holds). And numba's disk cache never looks beyond the file of
the function that it caches, so a bound loop carries a fingerprint of all the code and constants that it reaches in its
name: a fresh process finds it, and an edit anywhere makes a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from hashlib import sha256
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import config
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError
from numba.core.extending import _Intrinsic

from purse.errors import PurseError, shorten

F = TypeVar("F", bound=Callable[..., Any])
LEAN: dict[str, Any] = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}  # no exceptions, no reference counts, no C callback


def kernel(function: F) -> F:
    """Compile a function that the loop calls: inlined, never allocates, never raises."""
    return cast(F, numba.njit(forceinline=True, **LEAN)(function))


def cold(function: F) -> F:
    """Compile a function that the loop calls rarely: it stays a call, which keeps the loop small and quick to compile."""
    return cast(F, numba.njit(**LEAN)(function))


@contextmanager
def compile_errors(name: str) -> Iterator[None]:
    """Say in one line that a policy does not compile, and why."""
    try:
        yield
    except NumbaError as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        telling = next((line for line in lines if not line.startswith("Failed in")), "no reason given")
        where = next((line.replace("File ", "") for line in reversed(lines) if line.startswith('File "')), "")
        raise PurseError(f"{name} does not compile: {shorten(telling, 300)} {where}".strip()) from error


_bound: dict[tuple[Any, str], Any] = {}


def bind(function: Callable[..., Any], **parts: Any) -> Any:
    """The function's code with `parts` as globals, compiled; the machine code is cached on disk.

    Kernels and constants are bound alike: as globals the compiler sees through both.
    """
    origin = cast(FunctionType, function)
    scope = {**origin.__globals__, **parts}
    mark = fingerprint(FunctionType(origin.__code__, scope))
    if (origin, mark) not in _bound:
        name = f"{origin.__name__}_{mark}"
        copy = FunctionType(origin.__code__.replace(co_name=name, co_qualname=name), scope, name)
        copy.__module__ = origin.__module__
        _bound[origin, mark] = numba.njit(nogil=True, cache=True, **LEAN)(copy)
    return _bound[origin, mark]


def fingerprint(value: Any) -> str:
    """A hash of a function and of everything that it reaches through global names: code, constants, types, options, level of optimisation.

    The NamedTuples of each module count too, named or not: numba knows arguments by their class, fields in order.
    """
    level = int(config.OPT)  # type: ignore[attr-defined]
    digest = sha256(f"{numba.__version__} {LEAN} {level}".encode())
    seen: set[int] = set()

    def add(*items: Any) -> None:
        for item in items:
            digest.update(repr(item).encode() + b"\0")

    def visit_function(function: FunctionType) -> None:
        add(function.__defaults__)
        visit_code(function.__code__, function.__globals__)
        for cell in function.__closure__ or ():
            visit(cell.cell_contents)
        for item in list(function.__globals__.values()):
            if isinstance(item, type) and hasattr(item, "_fields"):
                visit(item)

    def visit_code(code: CodeType, scope: dict[str, Any]) -> None:
        add(code.co_code, code.co_varnames, code.co_names)
        for constant in code.co_consts:
            visit_code(constant, scope) if isinstance(constant, CodeType) else add(constant)
        for name in code.co_names:
            if name in scope:
                visit(scope[name], code.co_names)

    def visit(item: Any, names: tuple[str, ...] = ()) -> None:
        if isinstance(item, Dispatcher):
            add(item.targetoptions)
            item = item.py_func
        elif isinstance(item, _Intrinsic):
            item = item._defn
        if isinstance(item, FunctionType):
            if id(item) not in seen:
                seen.add(id(item))
                visit_function(item)
        elif isinstance(item, ModuleType):
            add(item.__name__)
            for name in names:  # attributes are looked up by the names that the code mentions, submodules' too
                found = getattr(item, name, None)
                if not (isinstance(found, ModuleType) and id(found) in seen):
                    seen.add(id(found)) if isinstance(found, ModuleType) else None
                    visit(found, names)
        elif isinstance(item, np.ndarray):
            add(item.dtype, item.shape, item.tobytes())
        elif isinstance(item, tuple):
            add(type(item).__qualname__, len(item))
            for part in item:
                visit(part)
        elif isinstance(item, (int, float, str, np.generic)):
            add(item)
        elif isinstance(item, type):
            add(item.__module__, item.__qualname__, getattr(item, "_fields", ()))
            add(*item) if issubclass(item, Enum) else None
        else:
            add(type(item).__qualname__, getattr(item, "__qualname__", ""))

    visit(value)
    return digest.hexdigest()[:16]
