"""The private parts of numba that purse relies on. This is the only file that names them.

numba may change any of them in a minor version, so each is checked once, here, and the versions
have an upper bound. What purse cannot do without is a `PurseError` of one line. The rest has a
slower fallback and a warning of one line:

    missing                            instead                                        numbers
    `_nrt` (no reference counts)       kernels count references, four times slower    the same
    wrapper and inlining options       compiled without them, slower, not on disk     the same
    a dispatcher class of our own      plain `njit`, twice the time to compile        the same
    libraries of code of our own       numba's, half as long again to compile         the same
    what spans rest on                 numba's arrays, longer to compile              the same
    hooks of the disk cache            `cache=True`, loads more slowly                the same
    entry points                       calls through the dispatcher, slower           the same
    CUDA: what makes kernels fast      numba-cuda's own way, slower                   the same
    CUDA: `compile_ir`                 none: a GPU would give other bits than a CPU

A loop with reference counts must not call a kernel without them, which crashes: `LEAN` is decided
once, when this file is imported, and holds for all kernels.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from operator import attrgetter
from typing import Any, NamedTuple

import numba

from purse.errors import PurseError

NUMBA = ">=0.61,<0.69"  # as in pyproject.toml; `make numba-versions` tests both ends
NUMBA_CUDA = ">=0.30,<0.31"


def missing(name: str) -> PurseError:
    """Return the error for a part that purse cannot do without."""
    return PurseError(
        f"numba {numba.__version__} has no {name}; "
        f"purse needs numba {NUMBA}, and on a GPU numba-cuda {NUMBA_CUDA}"
    )


def slower(name: str, effect: str) -> None:
    """Warn that a part is missing that purse has a fallback for."""
    warnings.warn(
        f"numba {numba.__version__} has no {name}: {effect}; purse is made for numba {NUMBA}, "
        f"and on a GPU numba-cuda {NUMBA_CUDA}",
        RuntimeWarning,
        stacklevel=3,
    )


def part(module: str, name: str) -> Any:
    """Return a part of numba, by its dotted name, or raise the one line that it is missing."""
    try:
        return attrgetter(name)(import_module(module))
    except (ImportError, AttributeError) as error:
        raise missing(f"{module}.{name}") from error


def supported(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that this numba knows; none of them changes a number."""
    known = {name: value for name, value in options.items() if hasattr(_options, name)}
    for name in options.keys() - known.keys():
        times = "four times slower" if name == "_nrt" else "slower"
        slower(f"option {name}", f"kernels are {times}")
    return known


# what there is no fallback for
CPUDispatcher: Any = part("numba.core.registry", "CPUDispatcher")
TypingError: Any = part("numba.core.errors", "TypingError")
ForceLiteralArg: Any = part("numba.core.errors", "ForceLiteralArg")
COMPILER_LOCK: Any = part("numba.core.compiler_lock", "global_compiler_lock")
normalize_signature: Any = part("numba.core.sigutils", "normalize_signature")
config: Any = part("numba.core", "config")
cgutils: Any = part("numba.core", "cgutils")
ir: Any = part("llvmlite", "ir")
_options: Any = part("numba.core.registry", "CPUDispatcher.targetdescr.options")
for _name in ("alloca_once", "get_item_pointer2", "loop_nest", "unpack_tuple"):
    part("numba.core.cgutils", _name)

# no exceptions, no reference counts, no C callback
LEAN = {"error_model": "numpy", **supported({"_nrt": False, "no_cfunc_wrapper": True})}
# for functions that only compiled functions call
INLINE = supported({"forceinline": True})
NO_WRAPPER = supported({"no_cpython_wrapper": True})


def _probe() -> None:
    """Serve the checks as an example; it is never compiled."""


def _has(name: str, effect: str, check: Callable[[], bool]) -> bool:
    """Return whether a part that has a fallback is there, and warn where it is not."""
    try:
        found = check()
    except (ImportError, AttributeError, TypeError, PurseError):
        found = False
    if not found:
        slower(name, effect)
    return found


def _builds() -> bool:
    made = CPUDispatcher(py_func=_probe, locals={}, targetoptions={})
    names = ("_compiler", "_compiling_counter", "add_overload", "overloads")
    return made.py_func is _probe and all(hasattr(made, name) for name in names)


def _links() -> bool:
    library = part("numba.core.codegen", "JITCodeLibrary")
    names = ("finalize", "_get_module_for_linking", "enable_object_caching")
    set_up = part("numba.core.codegen", "CPUCodeLibrary.__init__").__code__.co_names
    given = list(signature(part("numba.core.compiler", "Compiler").__init__).parameters)
    return (
        all(hasattr(library, name) for name in (*names, "get_pointer_to_function"))
        and {"_final_module", "_linking_libraries"} <= set(set_up)
        and given[1:4] == ["typingctx", "targetctx", "library"]
    )


def _hooks() -> bool:
    kind = part("numba.core.caching", "FunctionCache")
    names = ("load_overload", "_load_overload", "_guard_against_spurious_io_errors")
    return all(hasattr(kind, name) for name in names) and hasattr(numba.njit(_probe), "_cache")


OWN_DISPATCHERS = _has("CPUDispatcher(py_func, ...)", "kernels compile more slowly", _builds)
LINKS_PARTS = OWN_DISPATCHERS and _has(
    "JITCodeLibrary._linking_libraries", "policies compile more slowly", _links
)
JITCodeLibrary: Any = part("numba.core.codegen", "JITCodeLibrary") if LINKS_PARTS else object
Compiler: Any = part("numba.core.compiler", "Compiler") if LINKS_PARTS else object
# what these look for is not in a kernel: `with`, `literally`, expressions of arrays, and, where
# there are no reference counts, the places where variables end
_NEEDLESS = {
    "untyped_passes": ("WithLifting", "FindLiterallyCalls", "LiteralUnroll"),
    "typed_passes": (
        "NopythonRewrites",
        "AnnotateTypes",
        "DumpParforDiagnostics",
        *(("IRLegalization",) if "_nrt" in LEAN else ()),
    ),
}
_CLOSURES = {"untyped_passes": ("InlineClosureLikes", "MakeFunctionToJitFunction")}


def _passes(names: Mapping[str, tuple[str, ...]]) -> frozenset[Any]:
    """Return the passes of these names that this numba has."""
    places = {place: import_module(f"numba.core.{place}") for place in names}
    found = (getattr(places[place], each, None) for place in names for each in names[place])
    return frozenset(each for each in found if each is not None)


NEEDLESS_PASSES, CLOSURE_PASSES = _passes(_NEEDLESS), _passes(_CLOSURES)
# the whole is optimised once: numba's cheap passes before that look for reference counts
_optimises: Any = getattr(JITCodeLibrary, "_optimize_final_module", None)
OPTIMISES_ONCE = (
    "_nrt" in LEAN
    # numba 0.61 has another kind of pass managers, without builders
    and "mpb_full" in getattr(getattr(_optimises, "__code__", None), "co_varnames", ())
)


def _types() -> bool:
    found = part("numba.core.cgutils", "create_struct_proxy").__code__.co_names
    names = ("getitem_array_tuple", "setitem_array")
    return (
        "_struct_proxy_cache" in found
        and all(callable(part("numba.np.arrayobj", name)) for name in names)
        and isinstance(part("numba.core.typing", "Context"), type)
    )


OWN_TYPES = LINKS_PARTS and _has(
    "cgutils._struct_proxy_cache", "policies compile more slowly", _types
)


def _own(module: str, name: str) -> Any:
    """Return a part that spans need."""
    return part(module, name) if OWN_TYPES else None


struct_proxies: Any = part("numba.core.cgutils", "_struct_proxy_cache") if OWN_TYPES else {}
getitem_array_tuple: Any = _own("numba.np.arrayobj", "getitem_array_tuple")
setitem_array: Any = _own("numba.np.arrayobj", "setitem_array")
TypingContext: Any = _own("numba.core.typing", "Context")
CACHE_HOOKS = _has("FunctionCache._load_overload", "compiled code loads more slowly", _hooks)
FunctionCache: Any = part("numba.core.caching", "FunctionCache") if CACHE_HOOKS else object
ENTRY_POINTS = _has(
    "CompileResult.entry_point",
    "live policies answer more slowly",
    lambda: hasattr(part("numba.core.compiler", "CompileResult"), "entry_point"),
)


def populate_array(context: Any, array: Any, **fields: Any) -> None:
    """Fill in an array that owns no memory."""
    try:
        context.populate_array(array, meminfo=None, **fields)
    except (AttributeError, TypeError, ValueError) as error:
        raise missing("populate_array(..., meminfo=None)") from error


class CudaParts(NamedTuple):
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
REPLACEABLE: dict[tuple[str, str], tuple[str, ...] | None] = {
    ("numba.cuda.cudadrv.nvvm", "compile_ir"): ("llvmir", "options"),
    ("numba.cuda.cpython.slicing", "fix_index"): ("builder", "idx", "size"),
    ("numba.cuda.cgutils", "pointer_add"): ("builder", "ptr", "offset", "return_type"),
    ("numba.cuda.cgutils", "add_global_variable"): ("module", "ty", "name", "addrspace"),
    ("numba.cuda.core.base", "BaseContext.get_function"): ("self", "fn", "sig", "_firstcall"),
    ("numba.cuda.dispatcher", "get_current_device"): (),
    ("numba.cuda.core.config", "CUDA_LOW_OCCUPANCY_WARNINGS"): None,
}


def _replaceable() -> dict[str, Any]:
    """Find the modules and classes that hold what is replaced; leave out what is missing."""
    holders = {}
    for (module, dotted), parameters in REPLACEABLE.items():
        holder, _, name = f"{module}.{dotted}".rpartition(".")
        try:
            found = part(module, dotted)
            fits = parameters is None or tuple(signature(found).parameters) == parameters
        except PurseError:
            fits = False
        if fits:
            place = import_module(module)
            holders[name] = place if holder == module else getattr(place, holder.split(".")[-1])
        elif name == "compile_ir":
            raise missing(f"{holder}.{name}({', '.join(parameters or ())})")
        else:
            slower(f"{holder}.{name}", "GPU kernels are slower")
    return holders


@cache
def cuda_parts() -> CudaParts:
    """Return the parts of numba-cuda; raise an ImportError where it is not installed."""
    if find_spec("numba_cuda") is None:
        raise ImportError("numba-cuda is not installed")
    return CudaParts(
        part("numba.cuda", "types"),
        part("numba.cuda", "cgutils"),
        part("numba.cuda.core.imputils", "iternext_impl"),
        part("numba.cuda.core.imputils", "RefType.BORROWED"),
        part("numba.cuda.cudadrv.driver", "CudaAPIError"),
        part("numba.cuda.cudadrv.error", "CudaSupportError"),
        _replaceable(),
    )
