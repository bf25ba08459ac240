"""A fingerprint changes with all that code reaches, and with nothing else."""

from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest

from purse.compiler.fingerprint import fingerprint
from purse.compiler.kernel import cold, kernel
from tests.support.processes import fresh_process


def marked(source: str, **scope: Any) -> str:
    """The fingerprint of `f` in a fresh module with this source."""
    module = ModuleType("scratch")
    vars(module).update({"kernel": kernel, "cold": cold, "numba": numba, "np": np, **scope})
    exec(dedent(source), vars(module))
    return fingerprint(module.f)


SOURCE = """
from enum import IntEnum
from typing import NamedTuple

RATE = 2.0
COUNT = 3
TABLE = np.array([1.0, 2.0, 3.0])
PAIR = (1, 2)
LONG = (np.zeros(5000),)
UNUSED = 1

class State(NamedTuple):
    first: int
    second: int

class Rule(IntEnum):
    HOLD = 1

def deep(x):
    return x + 1

@kernel
def inner(x, by=1):
    return deep(x) * RATE + by

def outer():
    scale = 4
    @numba.njit
    def scaled(x):
        return scale * x
    return scaled

closed = outer()

@kernel
def f(x):
    local = 7
    state = State(inner(x), closed(COUNT))
    return state, TABLE[0], PAIR[0], LONG[0][2500], Rule.HOLD, local, np.sqrt(x)
"""


OTHER = "class Other(NamedTuple):\n    first: int\n    second: int\n\nState = Other"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(old, new, id=name)
        for name, old, new in [
            ("constant", "RATE = 2.0", "RATE = 2.5"),
            ("type_of_constant", "COUNT = 3", "COUNT = 3.0"),
            ("numpy_type_of_constant", "COUNT = 3", "COUNT = np.int32(3)"),
            ("array", "2.0, 3.0])", "2.0, 4.0])"),
            ("type_of_array", "2.0, 3.0])", "2.0, 3.0], np.float32)"),
            ("tuple", "PAIR = (1, 2)", "PAIR = (1, 3)"),
            ("array_in_tuple", "zeros(5000),)", "zeros(5000),); LONG[0][2500] = 1.0"),
            ("called_function", "x + 1", "x + 2"),
            ("default", "by=1", "by=2"),
            ("closure", "scale = 4", "scale = 5"),
            ("order_of_fields", "first: int\n    second: int", "second: int\n    first: int"),
            ("name_of_field", "second: int", "third: int"),
            ("name_of_class", "class State", f"{OTHER}\n\nclass Unused"),
            ("enum", "HOLD = 1", "HOLD = 2"),
            ("local", "local = 7", "local = 8"),
            ("numpy_function", "np.sqrt(x)", "np.cbrt(x)"),
            ("compiler_option", "@numba.njit", "@numba.njit(fastmath=True)"),
        ]
    ],
)
def test_fingerprint_changes_with_everything_that_the_code_reaches(old: str, new: str) -> None:
    assert old in SOURCE
    assert marked(SOURCE) != marked(SOURCE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("UNUSED = 1", "UNUSED = 2"),
        ("RATE = 2.0", "# a remark\nRATE = 2.0"),
        ("def deep(x):", "\n\ndef deep(x):  # moved down"),
        ("UNUSED = 1", "def unused(x): return x"),
    ],
    ids=["nothing", "constant_not_used", "comment", "line_numbers", "function_not_used"],
)
def test_fingerprint_does_not_change_otherwise(old: str, new: str) -> None:
    assert marked(SOURCE) == marked(SOURCE.replace(old, new))


@pytest.mark.parametrize(
    "access",
    ["tools.double(x)", "package.tools.double(x)", "package.tools.FACTOR * x"],
    ids=["module", "kernel_of_submodule", "constant_of_submodule"],
)
def test_fingerprint_follows_modules(access: str) -> None:
    def mark(factor: int) -> str:
        tools, package = ModuleType("package.tools"), ModuleType("package")
        vars(package)["tools"] = tools
        vars(tools).update(FACTOR=factor, kernel=kernel)
        exec("@kernel\ndef double(x): return FACTOR * x", vars(tools))
        return marked(
            f"def f(x): return {access}",
            **({"tools": tools} if access.startswith("tools") else {"package": package}),
        )

    assert mark(2) == mark(2)
    assert mark(2) != mark(3)


def test_fingerprint_of_functions_that_call_each_other_ends() -> None:
    source = "def f(x): return g(x) if x else 0\ndef g(x): return f(x - 1)"
    assert marked(source) == marked(source)
    assert marked(source) != marked(source.replace("- 1", "- 2"))


KERNEL = """\
from purse.compiler.kernel import kernel

@kernel
def triple(x):
    return 3 * x
"""
WHOLE = """\
import json, sys
from importlib import import_module
from purse.compiler.jit import bind

part = None

def whole(x):
    return part(x) + 1

def main():
    code = bind(whole, part=import_module(sys.argv[1]).triple)
    print(json.dumps([code(5), sum(code.machine_code.stats.cache_hits.values())]))
"""


def test_a_moved_kernel_is_compiled_anew(tmp_path: Path) -> None:
    """As after an upgrade over an old cache: machine code loads the modules of its kernels."""
    (tmp_path / "wholes.py").write_text(WHOLE)
    home, cache = tmp_path / "old_home.py", tmp_path / "cache"
    home.write_text(KERNEL)

    def run(module: str) -> Any:
        code = "import wholes; wholes.main()"
        return fresh_process(code, module, cache=cache, path=tmp_path)

    assert run("old_home") == [16, 0]
    assert run("old_home") == [16, 1]
    home.rename(tmp_path / "new_home.py")
    assert run("new_home") == [16, 0]
