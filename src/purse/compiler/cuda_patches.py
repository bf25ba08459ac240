"""What numba-cuda's compiler is told, so that a GPU gives the CPU's bits and does nothing but the
arithmetic.

numba-cuda has no options for these; each is the least that does it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir
from numba.cuda import cgutils, types
from numba.cuda.core import config
from numba.cuda.core.imputils import RefType, iternext_impl
from numba.cuda.cpython import rangeobj, slicing
from numba.cuda.cudadrv import nvvm


def next_in_range(context: Any, builder: Any, signature: Any, args: Any, result: Any) -> None:
    """One step of `for i in range(n)`: the counters move on whether or not the loop does.

    numba-cuda moves them on only if it does, which costs more instructions than the body of most
    loops over arms.
    """
    (kind,) = signature.args
    state = cgutils.create_struct_proxy(kind)(context, builder, args[0])
    count, value = builder.load(state.count), builder.load(state.iter)
    result.set_valid(builder.icmp_signed(">", count, count.type(0)))
    result.yield_(value)
    builder.store(builder.sub(count, count.type(1), flags=["nsw"]), state.count)
    builder.store(builder.add(value, state.step, flags=["nsw"]), state.iter)


rangeobj.lower("iternext", types.range_iter64_type)(iternext_impl(RefType.BORROWED)(next_in_range))


def counted_from_zero(builder: Any, index: Any, size: Any) -> Any:
    """The index as it is; only of constants is it asked whether they are negative, which of all
    would take longer than the arithmetic.
    """
    return usual_index(builder, index, size) if isinstance(index, ir.Constant) else index


def stepped(builder: Any, pointer: Any, offset: Any, return_type: Any = None) -> Any:
    """A pointer so many bytes further on, as a pointer all the way: the compiler sees which memory
    it points into.
    """
    step = cgutils.intp_t(offset) if isinstance(offset, int) else offset
    return builder.bitcast(
        builder.gep(builder.bitcast(pointer, cgutils.voidptr_t), [step]),
        return_type or pointer.type,
    )


def unfused(code: Any, **options: Any) -> Any:
    """Compile without fusing a product and a sum that a kernel does not fuse itself: the CPU's
    bits.
    """
    return usual_compile(code, **{"fma": False, **options})


usual_index, usual_compile = slicing.fix_index, nvvm.compile_ir
REPLACED = (
    (nvvm, "compile_ir", unfused),
    (slicing, "fix_index", counted_from_zero),
    (cgutils, "pointer_add", stepped),
    (config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0),  # few paths are no mistake
)


@contextmanager
def compiling() -> Iterator[None]:
    """While our kernels are compiled, numba-cuda does some things our way, and finds a name that
    its version 0.30 looks for and NumPy 2.5 has dropped.
    """
    usual = [getattr(module, name) for module, name, _ in REPLACED]
    for module, name, ours in REPLACED:
        setattr(module, name, ours)
    renamed = not hasattr(np, "row_stack")
    if renamed:
        vars(np)["row_stack"] = np.vstack
    try:
        yield
    finally:
        for (module, name, _), theirs in zip(REPLACED, usual, strict=True):
            setattr(module, name, theirs)
        if renamed:
            del vars(np)["row_stack"]
