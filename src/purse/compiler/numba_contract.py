"""The private parts of numba that purse relies on. This is the only file that names them.

numba may change any of them in a minor version. So each is looked up here, what is missing is a
`PurseError` of one line, and the versions have an upper bound.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from operator import attrgetter
from typing import Any, NamedTuple

import numba

from purse.errors import PurseError

_NUMBA = ">=0.61,<0.69"  # as in pyproject.toml; `make numba-versions` tests both ends
_NUMBA_CUDA = ">=0.30,<0.31"


def _missing(name: str) -> PurseError:
    """Return the error for a part that is missing."""
    return PurseError(
        f"numba {numba.__version__} has no {name}; "
        f"purse needs numba {_NUMBA}, and on a GPU numba-cuda {_NUMBA_CUDA}"
    )


def _part(module: str, name: str, *members: str) -> Any:
    """Return a part of numba, by its dotted name, or raise the one line that it is missing.

    members   what the part has to have
    """
    try:
        item = attrgetter(name)(import_module(module))
    except (ImportError, AttributeError) as error:
        raise _missing(f"{module}.{name}") from error
    for member in members:
        if not hasattr(item, member):
            raise _missing(f"{module}.{name}.{member}")
    return item


# no exceptions, no reference counts, no C callback
LEAN = {"error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
# for functions that only compiled functions call
NO_WRAPPER = {"no_cpython_wrapper": True}
INLINE = "forceinline"
CPUDispatcher: Any = _part("numba.core.registry", "CPUDispatcher", "add_overload")
_part("numba.core.registry", "CPUDispatcher.targetdescr.options", *LEAN, *NO_WRAPPER, INLINE)
TypingError: Any = _part("numba.core.errors", "TypingError")
ForceLiteralArg: Any = _part("numba.core.errors", "ForceLiteralArg")
COMPILER_LOCK: Any = _part("numba.core.compiler_lock", "global_compiler_lock")
normalize_signature: Any = _part("numba.core.sigutils", "normalize_signature")
config: Any = _part("numba.core", "config")
ir: Any = _part("llvmlite", "ir")
cgutils: Any = _part(
    "numba.core", "cgutils", "alloca_once", "get_item_pointer2", "loop_nest", "unpack_tuple"
)
Compiler: Any = _part("numba.core.compiler", "Compiler")
_part("numba.core.compiler", "CompileResult", "entry_point")
JITCodeLibrary: Any = _part(
    *("numba.core.codegen", "JITCodeLibrary", "finalize", "get_pointer_to_function"),
    *("_get_module_for_linking", "_optimize_final_module", "enable_object_caching"),
)
FunctionCache: Any = _part(
    *("numba.core.caching", "FunctionCache", "_load_overload"), "_guard_against_spurious_io_errors"
)
# what spans rest on
struct_proxies: Any = _part("numba.core.cgutils", "_struct_proxy_cache")
getitem_array_tuple: Any = _part("numba.np.arrayobj", "getitem_array_tuple")
setitem_array: Any = _part("numba.np.arrayobj", "setitem_array")
TypingContext: Any = _part("numba.core.typing", "Context")
# what these look for is not in a kernel: `with`, `literally`, expressions of arrays, and, without
# reference counts, the places where variables end
_NEEDLESS = {
    "untyped_passes": ("WithLifting", "FindLiterallyCalls", "LiteralUnroll"),
    "typed_passes": (
        "NopythonRewrites",
        "AnnotateTypes",
        "DumpParforDiagnostics",
        "IRLegalization",
    ),
}
_CLOSURES = {"untyped_passes": ("InlineClosureLikes", "MakeFunctionToJitFunction")}


def _passes(names: Mapping[str, tuple[str, ...]]) -> frozenset[Any]:
    """Return the passes of these names that this numba has."""
    modules = {module: import_module(f"numba.core.{module}") for module in names}
    return frozenset(
        getattr(modules[module], name)
        for module in names
        for name in names[module]
        if hasattr(modules[module], name)
    )


NEEDLESS_PASSES, CLOSURE_PASSES = _passes(_NEEDLESS), _passes(_CLOSURES)
# the whole is optimised once: numba's cheap passes before that look for reference counts; numba
# 0.61 has another kind of pass managers, without builders
OPTIMISES_ONCE = "mpb_full" in JITCodeLibrary._optimize_final_module.__code__.co_varnames


def populate_array(context: Any, array: Any, **fields: Any) -> None:
    """Fill in an array that owns no memory."""
    try:
        context.populate_array(array, meminfo=None, **fields)
    except (AttributeError, TypeError, ValueError) as error:
        raise _missing("populate_array(..., meminfo=None)") from error


class _CudaParts(NamedTuple):
    """The parts of numba-cuda that purse calls, and those that it replaces while it compiles."""

    types: Any
    cgutils: Any
    iternext_impl: Any
    borrowed: Any
    CudaAPIError: Any
    CudaSupportError: Any
    replaceable: dict[str, Any]  # from name to the module or class that holds it


# what is replaced, and the parameters it has (None: it is a number); `compile_ir` keeps the bits,
# the others make kernels fast or quiet
_REPLACEABLE: dict[tuple[str, str], tuple[str, ...] | None] = {
    ("numba.cuda.cudadrv.nvvm", "compile_ir"): ("llvmir", "options"),
    ("numba.cuda.cpython.slicing", "fix_index"): ("builder", "idx", "size"),
    ("numba.cuda.cgutils", "pointer_add"): ("builder", "ptr", "offset", "return_type"),
    ("numba.cuda.cgutils", "add_global_variable"): ("module", "ty", "name", "addrspace"),
    ("numba.cuda.core.base", "BaseContext.get_function"): ("self", "fn", "sig", "_firstcall"),
    ("numba.cuda.dispatcher", "get_current_device"): (),
    ("numba.cuda.core.config", "CUDA_LOW_OCCUPANCY_WARNINGS"): None,
}


def _replaceable() -> dict[str, Any]:
    """Find the modules and classes that hold what is replaced."""
    holders = {}
    for (module, dotted), parameters in _REPLACEABLE.items():
        item, (*holder, name) = _part(module, dotted), dotted.split(".")
        if parameters is not None and tuple(signature(item).parameters) != parameters:
            raise _missing(f"{module}.{dotted}({', '.join(parameters)})")
        holders[name] = _part(module, holder[0]) if holder else import_module(module)
    return holders


@cache
def cuda_parts() -> _CudaParts:
    """Return the parts of numba-cuda; raise an ImportError if it is not installed."""
    if find_spec("numba_cuda") is None:
        raise ImportError("numba-cuda is not installed", name="numba_cuda")
    return _CudaParts(
        _part("numba.cuda", "types"),
        _part("numba.cuda", "cgutils"),
        _part("numba.cuda.core.imputils", "iternext_impl"),
        _part("numba.cuda.core.imputils", "RefType.BORROWED"),
        _part("numba.cuda.cudadrv.driver", "CudaAPIError"),
        _part("numba.cuda.cudadrv.error", "CudaSupportError"),
        _replaceable(),
    )
