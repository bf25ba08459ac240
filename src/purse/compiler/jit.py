"""Compilation: one decorator for what runs in the loop, one function that binds the loop to its
parts.

Two facts shape this file. Reference counting costs four times the work of a round, so kernels are
compiled without it (`_nrt`, a private option of numba; a test watches that it holds). And numba's
disk cache never looks beyond the file of the function that it caches, so a bound loop carries a
fingerprint of all the code and constants that it reaches in its name: a fresh process finds it, and
an edit anywhere makes a new one.
"""

from __future__ import annotations

import atexit
import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
from numba import types

from purse.compiler.blocks import Block, load
from purse.compiler.error_text import explain
from purse.compiler.fingerprint import fingerprint
from purse.compiler.linking import PartCompiler, WholeCompiler
from purse.compiler.numba_contract import (
    CACHE_HOOKS,
    COMPILER_LOCK,
    ENTRY_POINTS,
    INLINE,
    LEAN,
    LINKS_PARTS,
    NO_WRAPPER,
    OWN_DISPATCHERS,
    READS_INTRINSICS,
    CPUDispatcher,
    ForceLiteralArg,
    FunctionCache,
    NumbaError,
    TypingError,
    normalize_signature,
)
from purse.errors import PurseError

F = TypeVar("F", bound=Callable[..., Any])
PART = {"pipeline_class": PartCompiler} if LINKS_PARTS else {}
WHOLE = {"pipeline_class": WholeCompiler} if LINKS_PARTS else {}
# At its end Python looks for cycles among all objects, and the compiler has made most of them. What
# is frozen is passed over: a process that compiles ends 0.4 s sooner, any other 0.1 s.
atexit.register(gc.freeze)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that other compiled functions call; what lets Python call it is compiled
    only when Python does.
    """

    def __call__(self, *args: Any) -> Any:
        """Take what Python passes: the code for that takes as long to compile as all the rest, and
        is seldom needed.
        """
        if self not in _from_python:
            _from_python[self] = numba.njit(**WHOLE, **LEAN)(self.py_func)
        return _from_python[self](*args)

    def compile(self, sig: Any) -> Any:
        """Return the code for these types; compile it where there is none.

        numba's own way starts two timers and tells all compilations around it of every event, which
        takes a part of the time.
        """
        args, return_type = normalize_signature(sig)
        found = self.overloads.get(tuple(args))
        if found is not None:
            return found.entry_point
        with COMPILER_LOCK, self._compiling_counter:
            if tuple(args) not in self.overloads:  # another thread may have been first
                try:
                    self.add_overload(self._compiler.compile(args, return_type))
                except ForceLiteralArg as wanted:
                    fold = self._compiler.fold_argument_types
                    raise wanted.bind_fold_arguments(lambda *given: fold(*given)[1]) from wanted
            return self.overloads[tuple(args)].entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile one code for all constants that are passed, unless it has to know them."""
        try:
            return super().get_call_template(tuple(map(types.unliteral, args)), kws)
        except TypingError:
            return super().get_call_template(args, kws)

    def __reduce__(self) -> Any:
        """Travel by name to other processes where it is one of ours: a copy would not be known by
        the fingerprint.
        """
        module, name = self.py_func.__module__, self.py_func.__name__
        if module.startswith("purse.") and getattr(sys.modules[module], name, None) is self:
            return resolve_name, (f"{module}:{name}",)
        return super().__reduce__()


_from_python: dict[Kernel, Any] = {}


def _inner(function: F, *, inline: bool) -> F:
    inlined = dict.fromkeys(INLINE, inline)
    if not OWN_DISPATCHERS:
        return cast(F, numba.njit(**inlined, **LEAN)(function))
    options = {**inlined, **NO_WRAPPER, **LEAN, "nopython": True, "boundscheck": None}
    return cast(F, Kernel(py_func=function, locals={}, targetoptions=options, **PART))


def kernel(function: F) -> F:
    """Compile a function that the loop calls: inlined, never allocates, never raises."""
    return _inner(function, inline=True)


def cold(function: F) -> F:
    """Compile a function that the loop calls rarely: it may stay a call, which keeps the loop small
    and quick to compile.

    It says so, because a function is compiled with the options of the one that calls it where it
    has none of its own.
    """
    return _inner(function, inline=False)


@contextmanager
def compile_errors(name: str, module: ModuleType | None = None) -> Iterator[None]:
    """Say in one line that a policy does not compile, and why.

    module   the policy's; its lines are named before others
    """
    try:
        yield
    except NumbaError as error:
        why = explain(str(error), getattr(module, "__file__", None))
        raise PurseError(f"{name} does not compile: {why}") from error


class Cache(FunctionCache):  # type: ignore[misc]
    """numba's disk cache, without loading all of numba's built-in functions before machine code
    that needs none of them.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for these types, or None."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


_bound: dict[tuple[Any, str], Any] = {}
NO_FOLDER = (
    "no folder for compiled code can be written, so every process compiles again; set "
    "NUMBA_CACHE_DIR to a folder that this user may write"
)


def bind(function: Callable[..., Any], **parts: Any) -> Any:
    """The function's code with `parts` as globals, compiled; the machine code is cached on disk.

    Kernels and constants are bound alike: as globals the compiler sees through both.
    """
    scope = {**cast(FunctionType, function).__globals__, **parts}
    mark = fingerprint(with_globals(function, scope, function.__name__))
    if (function, mark) not in _bound:
        copy = with_globals(function, scope, f"{function.__name__}_{mark}")
        _bound[function, mark] = compiled(copy)
    return _bound[function, mark]


def compiled(function: Callable[..., Any]) -> Any:
    """The function, to be compiled when it is called; its machine code is cached on disk where a
    folder for that can be written: the package's own, or else one in the user's home.
    """
    how: dict[str, Any] = {"nogil": True, **WHOLE, **LEAN}
    try:
        if not READS_INTRINSICS or CACHE_HOOKS:
            made = numba.njit(**how)(function)
            if READS_INTRINSICS:
                made._cache = Cache(function)
            return made
        return numba.njit(cache=True, **how)(function)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        warnings.warn(NO_FOLDER, RuntimeWarning, stacklevel=2)
        return numba.njit(**how)(function)


def code_folder() -> Path | None:
    """Return the folder in whose folders machine code is kept; None where processes cannot find
    the machine code of others.
    """
    if not (CACHE_HOOKS and READS_INTRINSICS):
        return None
    try:
        folder = Path(FunctionCache(call_block).cache_path)
    except RuntimeError:  # none can be written
        return None
    return folder.parents[1] if folder.name == "__pycache__" else folder.parent


def direct(dispatcher: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled function for arguments of these types: its dispatcher would look at the
    types in every call.
    """
    types = tuple(map(dispatcher.typeof_pyval, args))
    dispatcher.compile(types)
    found = dispatcher.overloads[types].entry_point if ENTRY_POINTS else dispatcher
    return cast(Callable[..., Any], found)


def attach(function: F, **parts: Any) -> F:
    """The function with `parts` as globals, as a kernel."""
    return cast(F, kernel(_attached(function, parts)))


def attach_call(function: F, **parts: Any) -> F:
    """The same for a function that is called and not inlined.

    LLVM knows of the arguments of such a function that they and its stack lie apart. The name
    carries a fingerprint: machine code from the disk cache finds the function by its name, and
    may find one that another process compiled with other parts.
    """
    attached = _attached(function, parts)
    name = f"{function.__name__}_{fingerprint(attached)}"
    named = with_globals(attached, attached.__globals__, name)
    return cast(F, _inner(named, inline=False))


def _attached(function: Callable[..., Any], parts: dict[str, Any]) -> Any:
    scope = {**cast(FunctionType, function).__globals__, **parts}
    return with_globals(function, scope, function.__name__)


called: Any = None  # these two are bound by `BlockFunction`
KIND: Any = None


def call_block(block: int) -> Any:
    """Call the function with the arguments whose block lies at this address."""
    return called(*load(block, KIND))


class BlockFunction:
    """A bound function that gets its arguments in a block.

    function   the function as a kernel
    name       stands for all its code and constants
    by_kind    what is compiled: from the type of the tuple of arguments to a function of the
               address of their block
    """

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        self.function: Any = attach_call(function, **parts)
        self.name: str = self.function.__name__
        self.by_kind: dict[Any, Any] = {}

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """Call the function with these arguments."""
        block = Block(args)
        code = self.by_kind.get(block.kind)
        if code is not None:
            return code(block.address)
        code = bind(call_block, called=self.function, KIND=block.kind)
        result = code(block.address)
        self.by_kind[block.kind] = code  # now that it is compiled
        return result


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
    """A copy of the function under another name, with other globals."""
    origin = cast(FunctionType, function)
    copy = FunctionType(origin.__code__.replace(co_name=name, co_qualname=name), scope, name)
    copy.__module__ = origin.__module__
    return cast(F, copy)
