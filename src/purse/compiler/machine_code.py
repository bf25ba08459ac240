"""Kernels as numba compiles them.

Two facts shape this file. Reference counting costs four times the work of a round, so kernels are
compiled without it (`_nrt`, a private option of numba; a test watches that it holds). And numba's
disk cache never looks beyond the file of the function that it caches, so a bound function carries a
fingerprint of all the code and constants that it reaches in its name: a fresh process finds it, and
an edit anywhere makes a new one.
"""

import atexit
import gc
import warnings
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from pkgutil import resolve_name
from types import FunctionType
from typing import Any, cast

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic, typeof_impl

from purse.compiler.blocks import Kind
from purse.compiler.error_text import NO_FOLDER
from purse.compiler.fingerprint import fingerprint
from purse.compiler.kernel import Form, Intrinsic, Kernel, with_globals
from purse.compiler.linking import PartCompiler, WholeCompiler
from purse.compiler.numba_contract import (
    COMPILER_LOCK,
    INLINE,
    LEAN,
    NO_WRAPPER,
    CPUDispatcher,
    ForceLiteralArg,
    FunctionCache,
    TypingError,
    config,
    normalize_signature,
)
from purse.compiler.spans import span_type

_PART, _WHOLE = {"pipeline_class": PartCompiler}, {"pipeline_class": WholeCompiler}
# what becomes of code also depends on how it is compiled
_COMPILER = sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
).hexdigest()
# At its end Python looks for cycles among all objects, and the compiler has made most of them. What
# is frozen is passed over: a process that compiles ends 0.4 s sooner, any other 0.1 s.
atexit.register(gc.freeze)


class _KernelDispatcher(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that other compiled functions call, and Python does not."""

    def compile(self, sig: Any) -> Any:
        """Return the code for these types; compile it the first time.

        numba's own way starts two timers and tells all compilations around it of every event, which
        takes a part of the time.
        """
        args, return_type = normalize_signature(sig)
        overload = self.overloads.get(tuple(args))
        if overload is not None:
            return overload.entry_point
        with COMPILER_LOCK, self._compiling_counter:
            if tuple(args) not in self.overloads:  # another thread may have been first
                try:
                    self.add_overload(self._compiler.compile(args, return_type))
                except ForceLiteralArg as wanted:
                    fold = self._compiler.fold_argument_types
                    raise wanted.bind_fold_arguments(lambda *kinds: fold(*kinds)[1]) from wanted
            return self.overloads[tuple(args)].entry_point

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile one code for all constants that are passed, unless it has to know them."""
        try:
            return super().get_call_template(tuple(map(types.unliteral, args)), kws)
        except TypingError:
            return super().get_call_template(args, kws)


class _MachineCode(Form):
    """Kernels as dispatchers of numba."""

    def __init__(self) -> None:
        super().__init__()
        self._intrinsics: dict[Intrinsic, Any] = {}

    def of_kernel(self, kernel: Kernel, copy: FunctionType) -> Any:
        """Return the dispatcher."""
        if kernel.named:
            name = f"{copy.__name__}_{fingerprint(kernel.py_func)}"
            copy = with_globals(copy, copy.__globals__, name)
        own = {INLINE: kernel.inline, "nopython": True, "boundscheck": None}
        options = {**own, **NO_WRAPPER, **LEAN}
        return _KernelDispatcher(py_func=copy, locals={}, targetoptions=options, **_PART)

    def of_other(self, item: Any) -> Any:
        """Return numba's intrinsic, or its type of what a block holds."""
        if isinstance(item, Kind):
            return span_type(_numba_type(item.tree))
        if not isinstance(item, Intrinsic):
            return item
        if item not in self._intrinsics:
            compiled = intrinsic(prefer_literal=item.prefer_literal)(resolve_name(item.code))
            self._intrinsics[item] = compiled
        return self._intrinsics[item]


_MACHINE_CODE = _MachineCode()


@typeof_impl.register(Kernel)  # type: ignore[untyped-decorator]
def _type_of_kernel(kernel: Kernel, context: Any) -> Any:
    """Return numba's type of a kernel that numba's own functions call."""
    return _MACHINE_CODE.of(kernel)._numba_type_


def _numba_type(tree: Any) -> Any:
    """Return numba's type of what a block holds, from the tree of a `Kind`."""
    if isinstance(tree, str):
        return numba.from_dtype(np.dtype(tree))
    first, *others = tree
    if isinstance(first, str):
        return types.Array(_numba_type(first), others[0], "C", readonly=others[1])
    named = first if hasattr(first, "_fields") else None
    return types.BaseTuple.from_types(tuple(map(_numba_type, others)), named)


class _Cache(FunctionCache):  # type: ignore[misc]
    """numba's disk cache, without loading numba's built-in functions for code that needs none."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the machine code for these types, or None."""
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def compilable(function: Callable[..., Any], mark: str) -> Any:
    """Return a function for numba, under a name that stands for its code and compilation."""
    how = f"{numba.__version__} {LEAN} {int(config.OPT)} {_COMPILER} {mark}"
    name = f"{function.__name__}_{sha256(how.encode()).hexdigest()[:16]}"
    return with_globals(function, _MACHINE_CODE.scope_of(cast(FunctionType, function)), name)


def dispatcher_of(function: Callable[..., Any], mark: str) -> Any:
    """Return numba's dispatcher of a bound function with this fingerprint.

    It is compiled when it is called. Its machine code is cached on disk if a folder for that can be
    written: the package's own, or else one in the user's home.
    """
    copy = compilable(function, mark)
    dispatcher = numba.njit(nogil=True, **_WHOLE, **LEAN)(copy)
    try:
        dispatcher._cache = _Cache(copy)
    except RuntimeError as error:
        if "no locator" not in str(error):
            raise
        warnings.warn(NO_FOLDER, RuntimeWarning, stacklevel=2)
    return dispatcher


def folder_of(function: Callable[..., Any]) -> Path | None:
    """Return the folder in whose folders this function's machine code is kept, or None."""
    try:
        folder = Path(FunctionCache(function).cache_path)
    except RuntimeError:  # none can be written
        return None
    return folder.parents[1] if folder.name == "__pycache__" else folder.parent


def direct(dispatcher: Any, *args: Any) -> Callable[..., Any]:
    """Return the compiled function for arguments of these types."""
    kinds = tuple(map(dispatcher.typeof_pyval, args))
    dispatcher.compile(kinds)
    return cast(Callable[..., Any], dispatcher.overloads[kinds].entry_point)
