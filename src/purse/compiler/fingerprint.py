"""A hash of a kernel's code and of everything that it reaches."""

from enum import Enum
from hashlib import sha256
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from purse.compiler.blocks import Kind
from purse.compiler.kernel import Intrinsic, Kernel


def fingerprint(value: Any) -> str:
    """Return a hash of a function and of everything that it reaches through global names: code,
    constants, types. It is the same whether there is a compiler or not.

    The NamedTuples of each module count too, named or not: numba knows arguments by their class,
    fields in order.
    """
    digest = sha256()
    visited: set[int] = set()

    def add(*items: Any) -> None:
        for item in items:
            digest.update(repr(item).encode() + b"\0")

    def visit_function(function: FunctionType) -> None:
        add(function.__module__, function.__defaults__)  # machine code names the module
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
        if isinstance(item, Kernel):
            add(item.inline)
            item = item.py_func
        elif isinstance(item, Intrinsic):
            add(item.code)
        elif hasattr(item, "targetoptions"):  # a function that numba's own decorator was given
            add(item.targetoptions)
            item = item.py_func
        elif isinstance(getattr(item, "__wrapped__", None), FunctionType):  # numba's own intrinsics
            item = item.__wrapped__
        if isinstance(item, FunctionType):
            if id(item) not in visited:
                visited.add(id(item))
                visit_function(item)
        elif isinstance(item, ModuleType):
            add(item.__name__)
            # attributes are looked up by the names that the code mentions, submodules' too
            for name in names:
                part = getattr(item, name, None)
                if not (isinstance(part, ModuleType) and id(part) in visited):
                    visited.add(id(part)) if isinstance(part, ModuleType) else None
                    visit(part, names)
        elif isinstance(item, np.ndarray):
            add(item.dtype, item.shape, item.tobytes())
        elif isinstance(item, Kind):
            visit(item.tree)
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
