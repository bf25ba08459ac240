"""A hash of compiled code and of everything that it reaches."""

from __future__ import annotations

from enum import Enum
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np

from purse.compiler.numba_contract import LEAN, READS_INTRINSICS, Dispatcher, Intrinsic, config

# where edits of intrinsics cannot be seen, no process takes another's machine code for its own
SALT = "" if READS_INTRINSICS else token_hex(8)
# what becomes of code also depends on how it is compiled
COMPILER = sha256(
    b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
)


def fingerprint(value: Any) -> str:
    """A hash of a function and of everything that it reaches through global names: code, constants,
    types, options, level of optimisation.

    The NamedTuples of each module count too, named or not: numba knows arguments by their class,
    fields in order.
    """
    level = int(config.OPT)
    digest = sha256(f"{numba.__version__} {LEAN} {level}{SALT} {COMPILER.hexdigest()}".encode())
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
        elif isinstance(item, Intrinsic):
            item = item.__wrapped__
        if isinstance(item, FunctionType):
            if id(item) not in seen:
                seen.add(id(item))
                visit_function(item)
        elif isinstance(item, ModuleType):
            add(item.__name__)
            # attributes are looked up by the names that the code mentions, submodules' too
            for name in names:
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
        elif isinstance(item, numba.types.BaseNamedTuple):
            visit(item.instance_class)
            for part in item.types:
                visit(part)
        elif isinstance(item, numba.types.Type):
            add(str(item))
        elif isinstance(item, type):
            add(item.__module__, item.__qualname__, getattr(item, "_fields", ()))
            add(*item) if issubclass(item, Enum) else None
        else:
            add(type(item).__qualname__, getattr(item, "__qualname__", ""))

    visit(value)
    return digest.hexdigest()[:16]
