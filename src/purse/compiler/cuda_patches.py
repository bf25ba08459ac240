"""Settings of numba-cuda's compiler, so that a GPU gives the CPU's bits and does nothing but the
arithmetic.

numba-cuda has no options for these; each is the least that does it. `compiling` replaces a few of
its functions, and puts them back when the last thread of ours is done. A replacement acts only in
a thread that is inside `compiling`: a kernel that another thread compiles at the same time gets
numba-cuda's usual code. Threads of ours do not wait for each other here; numba's own lock lets one
of all threads compile at a time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, local
from types import SimpleNamespace
from typing import Any

import numpy as np

from purse.compiler.numba_contract import cuda_parts, ir

_cuda = cuda_parts()
_ARRAY = "_cudapy_cmem"  # what numba-cuda calls each constant array
_GLOBAL_MEMORY = 1  # LLVM's number
CudaAPIError, CudaSupportError = _cuda.CudaAPIError, _cuda.CudaSupportError


class _Here(local):
    """The state of this thread."""

    depth = 0  # of `compiling`
    capability: tuple[int, int] | None = None  # compile for such a card; None: for the one there is


_here = _Here()


def _unfused(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Compile without fusing products and sums that a kernel does not fuse: the CPU's bits."""

    def compile_ir(llvmir: Any, **options: Any) -> Any:
        return usual(llvmir, **({"fma": False, **options} if _here.depth else options))

    return compile_ir


def _counted_from_zero(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Take an index as it is: only a constant may be negative."""

    def fix_index(builder: Any, idx: Any, size: Any) -> Any:
        as_it_is = _here.depth and not isinstance(idx, ir.Constant)
        return idx if as_it_is else usual(builder, idx, size)

    return fix_index


def _stepped(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Move a pointer as a pointer, not as a number: the compiler sees which memory it means."""

    def pointer_add(builder: Any, ptr: Any, offset: Any, return_type: Any = None) -> Any:
        if not _here.depth:
            return usual(builder, ptr, offset, return_type)
        step = _cuda.cgutils.intp_t(offset) if isinstance(offset, int) else offset
        return builder.bitcast(
            builder.gep(builder.bitcast(ptr, _cuda.cgutils.voidptr_t), [step]),
            return_type or ptr.type,
        )

    return pointer_add


@_cuda.iternext_impl(_cuda.borrowed)  # type: ignore[untyped-decorator]
def _next_in_range(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    """Take one step of `for i in range(n)`: the counters move on whether or not the loop does.

    numba-cuda moves them on only if it does, which costs more instructions than the body of most
    loops over arms.
    """
    (kind,) = signature.args
    state = _cuda.cgutils.create_struct_proxy(kind)(context, builder, args[0])
    count, value = builder.load(state.count), builder.load(state.iter)
    result.set_valid(builder.icmp_signed(">", count, count.type(0)))
    result.yield_(value)
    builder.store(builder.sub(count, count.type(1), flags=["nsw"]), state.count)
    builder.store(builder.add(value, state.step, flags=["nsw"]), state.iter)


def _counting(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Find the code for a function; for a step in a range it is `_next_in_range`."""

    def get_function(self: Any, fn: Any, sig: Any, _firstcall: bool = True) -> Any:
        if not _here.depth or fn != "iternext" or sig.args != (_cuda.types.range_iter64_type,):
            return usual(self, fn, sig, _firstcall)
        return lambda builder, args, loc=None: _next_in_range(self, builder, sig, args)

    return get_function


def _stand_in(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Return the card to compile for, which may be absent."""

    def get_current_device() -> Any:
        wanted = _here.capability
        return SimpleNamespace(compute_capability=wanted) if wanted else usual()

    return get_current_device


def _in_global_memory(usual: Callable[..., Any]) -> Callable[..., Any]:
    """Put a constant array where threads may read different items of it at once."""

    def add_global_variable(module: Any, ty: Any, name: str, addrspace: int = 0) -> Any:
        ours = _here.depth and name == _ARRAY
        return usual(module, ty, name, _GLOBAL_MEMORY if ours else addrspace)

    return add_global_variable


class _Quiet(int):
    """A number that counts as 0 in a thread that compiles our kernels: few paths are no mistake."""

    def __bool__(self) -> bool:
        return not _here.depth and self != 0


_REPLACEMENTS: dict[str, Callable[[Any], Any]] = {
    "compile_ir": _unfused,
    "fix_index": _counted_from_zero,
    "pointer_add": _stepped,
    "add_global_variable": _in_global_memory,
    "get_function": _counting,
    "get_current_device": _stand_in,
    "CUDA_LOW_OCCUPANCY_WARNINGS": _Quiet,
}

_lock = Lock()  # for the three below, held for an instant
_inside = 0  # calls of `compiling` that have not ended, in all threads
_usual: dict[str, Any] = {}


def _enter() -> None:
    """Put the replacements in, if this is the first call."""
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            for name, holder in _cuda.replaceable.items():
                _usual[name] = getattr(holder, name)
                setattr(holder, name, _REPLACEMENTS[name](_usual[name]))
            if not hasattr(np, "row_stack"):  # numba-cuda 0.30 looks for it; NumPy 2.5 has none
                _usual["row_stack"] = vars(np)["row_stack"] = np.vstack


def _leave() -> None:
    """Put back what was there, if this is the last call."""
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0:
            for name, holder in _cuda.replaceable.items():
                setattr(holder, name, _usual[name])
            if "row_stack" in _usual:
                del vars(np)["row_stack"]
            _usual.clear()


@contextmanager
def compiling(capability: tuple[int, int] | None = None) -> Iterator[None]:
    """Let numba-cuda compile our way in this thread, for a compute capability or the card's."""
    before = _here.capability
    _enter()
    _here.depth, _here.capability = _here.depth + 1, capability or before
    try:
        yield
    finally:
        _here.depth, _here.capability = _here.depth - 1, before
        _leave()
