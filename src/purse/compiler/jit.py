"""Functions bound to their parts, to be compiled when they are called.

Nothing here imports numba before something has to be compiled.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import FunctionType, ModuleType
from typing import Any, cast

from purse.base.fork_safety import cached_property
from purse.base.optional import needs
from purse.compiler.blocks import Block, Kind, load
from purse.compiler.error_text import explain
from purse.compiler.fingerprint import fingerprint
from purse.compiler.kernel import Kernel, attached
from purse.errors import PurseError

# held while numba is imported or told what to compile; a fork waits for it
_COMPILING = RLock()


def compiler_locks() -> list[Any]:
    """Return the locks that a fork waits for: ours, and numba's own once it is imported."""
    loaded = sys.modules.get("purse.compiler.numba_contract")
    return [_COMPILING] if loaded is None else [_COMPILING, loaded.COMPILER_LOCK]


@contextmanager
def _compiler() -> Iterator[Any]:
    """Give the module that compiles, to one thread at a time."""
    with _COMPILING:
        with needs("compiling", "lab"):
            from purse.compiler import machine_code
        yield machine_code


@contextmanager
def compile_errors(name: str, module: ModuleType | None = None) -> Iterator[None]:
    """Say in one line that a policy does not compile, and why.

    module   the policy's; its lines are named before others
    """
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith("numba."):
            raise
        why = explain(str(error), getattr(module, "__file__", None))
        raise PurseError(f"{name} does not compile: {why}") from error


class _Bound:
    """A function whose globals are bound to parts; its machine code is cached on disk.

    function   the function with its parts
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function: Any = function
        self.dispatcher: Any = None  # numba's, once it is needed

    @cached_property
    def mark(self) -> str:
        """The fingerprint of its code and constants."""
        return fingerprint(self.function)

    @property
    def machine_code(self) -> Any:
        """numba's dispatcher; not cached by `functools`, whose lock would be another one."""
        if self.dispatcher is None:
            with _compiler() as machine_code:
                if self.dispatcher is None:  # another thread may have been first
                    self.dispatcher = machine_code.dispatcher_of(self.function, self.mark)
        return self.dispatcher

    def __call__(self, *args: Any) -> Any:
        """Call the machine code for arguments of these types; compile it the first time."""
        return self.machine_code(*args)

    def direct(self, *args: Any) -> Callable[..., Any]:
        """Return the machine code for arguments of these types, without a look at each call's."""
        with _compiler() as machine_code:
            return cast(Callable[..., Any], machine_code.direct(self.machine_code, *args))


_bound: dict[tuple[Any, str], _Bound] = {}


def bind(function: Callable[..., Any], **parts: Any) -> Any:
    """Return the code of a function or kernel with `parts` as globals, compiled when it is called.

    Kernels and constants are bound alike: as globals the compiler sees through both.
    """
    bound = _Bound(attached(getattr(function, "py_func", function), parts))
    return _bound.setdefault((function, bound.mark), bound)


def attach_call(function: Callable[..., Any], **parts: Any) -> Any:
    """Return the function with `parts` as globals, as a kernel that is called and not inlined.

    LLVM knows of the arguments of such a function that they and its stack lie apart.
    """
    return Kernel(cast(FunctionType, attached(function, parts)), inline=False, named=True)


called: Any = None  # these two are bound by `BlockFunction`
KIND: Any = None


def _call_block(block: int) -> Any:
    """Call the function with the arguments whose block lies at this address."""
    return called(*load(block, KIND))


class BlockFunction:
    """A bound function that gets its arguments in a block.

    function   the function as a kernel
    by_kind    what is compiled: from the kind of the tuple of arguments to a function of the
               address of their block
    """

    def __init__(self, function: Callable[..., Any], **parts: Any) -> None:
        self.function: Any = attach_call(function, **parts)
        self.by_kind: dict[Kind, _Bound] = {}

    @cached_property
    def mark(self) -> str:
        """The fingerprint of its code and constants."""
        return fingerprint(self.function)

    def __call__(self, args: tuple[Any, ...]) -> Any:
        """Call the function with these arguments."""
        block = Block(args)
        code = self.by_kind.get(block.kind)
        if code is not None:
            return code(block.address)
        code = bind(_call_block, called=self.function, KIND=block.kind)
        result = code(block.address)
        self.by_kind[block.kind] = code  # now that it is compiled
        return result


def code_folder() -> Path | None:
    """Return the folder of machine code; None if processes cannot find that of others."""
    with _compiler() as machine_code:
        return cast(Path | None, machine_code.folder_of(_call_block))
