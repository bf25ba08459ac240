"""Check the code of a policy's kernels, without running it."""

from __future__ import annotations

import dis
from types import FunctionType, ModuleType
from typing import Any

from purse import policies
from purse.base import spec
from purse.compiler.kernel import Kernel


def check_code(policy: str | ModuleType) -> None:
    """Check that no kernel of the policy raises: a GPU would go on, and a CPU lose the games.

    Raise `AssertionError`, which names the file and the line.
    """
    name = spec.parse(policy)[0] if isinstance(policy, str) else policy
    module = policies.load(name)
    seen: set[Any] = set()
    for part in ("choose", "update", "probabilities"):
        _visit(getattr(module, part, None), seen)


def _visit(kernel: Any, seen: set[Any]) -> None:
    """Look through a kernel and those that it calls."""
    if not isinstance(kernel, Kernel) or kernel in seen:
        return
    seen.add(kernel)
    function: FunctionType = kernel.py_func
    code, line = function.__code__, 0
    for step in dis.get_instructions(code):
        line = (step.positions and step.positions.lineno) or line
        assert step.opname != "RAISE_VARARGS", (
            f"{code.co_filename}, line {line}: {function.__name__} may raise, and kernels never "
            "raise; check options in params"
        )
    for name in code.co_names:
        _visit(function.__globals__.get(name), seen)
