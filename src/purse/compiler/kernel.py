"""Kernels: Python functions that run in the loop, as machine code or as plain Python.

`@kernel` only wraps a function. What it becomes is made when it is needed, in one of two forms: as
Python runs it (below), or as numba compiles it (`purse.compiler.machine_code`). Importing this file
imports no compiler.
"""

import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import update_wrapper
from pkgutil import resolve_name
from threading import RLock
from types import CellType, CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


class Kernel:
    """A function that the loop calls; called from Python it runs as plain Python, with the bits of
    its machine code.

    py_func   the function as it is written
    inline    whether it is compiled into the functions that call it
    named     whether its name in machine code stands for its parts: code from the disk cache finds
              functions by name, and may find one that another process compiled with other parts
    forms     what it has become so far
    """

    def __init__(self, function: FunctionType, *, inline: bool, named: bool = False) -> None:
        update_wrapper(self, function)
        self.py_func, self.inline, self.named = function, inline, named
        self.forms: dict[Form, Any] = {}

    def __call__(self, *args: Any) -> Any:
        """Run it as plain Python."""
        return plain(self)(*args)

    def __reduce__(self) -> Any:
        module, name = self.py_func.__module__, self.py_func.__name__
        if module.startswith("purse.") and getattr(sys.modules[module], name, None) is self:
            return resolve_name, (f"{module}:{name}",)
        return _made_again, (self.py_func, self.inline, self.named)


def _made_again(function: FunctionType, inline: bool, named: bool) -> Kernel:
    return Kernel(function, inline=inline, named=named)


class Intrinsic:
    """An operation that compiled code does in its own way.

    code     "module:name" of that way, which numba's `intrinsic` is given
    python   what plain Python does instead
    prefer_literal   whether it has to know constants
    """

    def __init__(
        self, code: str, python: Callable[..., Any], *, prefer_literal: bool = False
    ) -> None:
        self.code, self.python, self.prefer_literal = code, python, prefer_literal

    def __call__(self, *args: Any) -> Any:
        """Do what plain Python does."""
        return self.python(*args)


def kernel(function: F) -> F:
    """Return the kernel of a function that the loop calls: inlined, never allocates or raises."""
    return cast(F, Kernel(cast(FunctionType, function), inline=True))


def cold(function: F) -> F:
    """Return the kernel of a function that the loop calls rarely: it may stay a call."""
    return cast(F, Kernel(cast(FunctionType, function), inline=False))


def attach(function: F, **parts: Any) -> F:
    """Return the function with `parts` as globals, as a kernel."""
    return kernel(attached(function, parts))


def attached(function: F, parts: dict[str, Any]) -> F:
    """Return the function with `parts` as globals."""
    scope = {**cast(FunctionType, function).__globals__, **parts}
    return with_globals(function, scope, function.__name__)


_rows: dict[type, Any] = {}


def row_kernel(state: type) -> Any:
    """Return the kernel that takes one path's row out of a NamedTuple of stacked arrays."""
    if state not in _rows:
        fields = ", ".join(f"states.{name}[path]" for name in vars(state)["_fields"])
        scope: dict[str, Any] = {"State": state, "__name__": state.__module__}
        exec(f"def row(states, path):\n    return State({fields})\n", scope)
        _rows[state] = kernel(scope["row"])
    return _rows[state]


def with_globals(function: F, scope: dict[str, Any], name: str) -> F:
    """Return a copy of the function under another name, with other globals."""
    origin = cast(FunctionType, function)
    copy = FunctionType(origin.__code__.replace(co_name=name, co_qualname=name), scope, name)
    copy.__module__ = origin.__module__
    return cast(F, copy)


class Form(ABC):
    """A way to run kernels.

    A kernel finds what it calls among its globals. In a form it is a copy of its function whose
    globals are in that form, too.
    """

    def __init__(self) -> None:
        self._lock = RLock()

    @abstractmethod
    def of_kernel(self, kernel: Kernel, copy: FunctionType) -> Any:
        """Return the form of a kernel, from the copy of its function."""

    @abstractmethod
    def of_other(self, item: Any) -> Any:
        """Return the form of what is neither a kernel nor a module that holds any."""

    def of(self, item: Any, names: frozenset[str] = frozenset()) -> Any:
        """Return an item in this form; `names` are those by which a module is looked into."""
        if isinstance(item, ModuleType):
            return self._of_module(item, names)
        if not isinstance(item, Kernel):
            return self.of_other(item)
        with self._lock:
            if self not in item.forms:
                origin, scope = item.py_func, dict[str, Any]()
                copy = FunctionType(
                    origin.__code__,
                    scope,
                    origin.__name__,
                    origin.__defaults__,
                    tuple(
                        CellType(self.of(cell.cell_contents)) for cell in origin.__closure__ or ()
                    )
                    or None,
                )
                copy.__module__ = origin.__module__
                copy.__kwdefaults__ = origin.__kwdefaults__
                item.forms[self] = self.of_kernel(item, copy)  # first: it may call itself
                scope.update(self.scope_of(origin))
            return item.forms[self]

    def scope_of(self, function: FunctionType) -> dict[str, Any]:
        """Return the globals that a function names, in this form."""
        names = _names_in(function.__code__)
        scope = function.__globals__
        parts = {name: self.of(scope[name], names) for name in names & scope.keys()}
        return {"__builtins__": scope["__builtins__"], "__name__": scope["__name__"], **parts}

    def _of_module(self, module: ModuleType, names: frozenset[str]) -> Any:
        """Return a copy of a module that holds kernels, or of one whose submodules do."""
        parts = {name: vars(module)[name] for name in names & vars(module).keys()}
        changed = {
            name: changed_item
            for name, item in parts.items()
            if isinstance(item, (Kernel, Intrinsic))
            or (isinstance(item, ModuleType) and item.__name__.startswith(f"{module.__name__}."))
            if (changed_item := self.of(item, names)) is not item
        }
        if not changed:
            return self.of_other(module)
        copy = ModuleType(module.__name__)
        vars(copy).update({**parts, **changed})
        return copy


def _names_in(code: CodeType) -> frozenset[str]:
    """Return the global names and attributes that code mentions, in functions within it, too."""
    inner = (_names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(code.co_names).union(*inner)


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
    """Kernels as Python functions: there seconds before machine code, and hundreds of times slower.

    Every operation on float64, int64 and uint64 rounds and wraps as in machine code, so the bits
    are the same; a test holds every policy to that.
    """

    def of_kernel(self, kernel: Kernel, copy: FunctionType) -> Any:
        """Return the function."""
        return copy

    def of_other(self, item: Any) -> Any:
        """Return the Python of an intrinsic, of a function of `math` or of one of numba's."""
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
