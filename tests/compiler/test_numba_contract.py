"""What happens where numba lacks a private part that purse relies on: one line, and the same
numbers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from purse.compiler import numba_contract
from purse.errors import PurseError
from tests.support.processes import fresh_process
from tests.support.soak import scale

ROOT = Path(__file__).parents[2]
# what is missing: how to take it away, and what the warnings begin with
TAKEN = {
    "_nrt": (
        """
from numba.core import cpu
del cpu._options_mixin._nrt
""",
        ["option _nrt: kernels are four times slower"],
    ),
    "forceinline": (
        """
from numba.core import cpu
del cpu._options_mixin.forceinline
""",
        ["option forceinline: kernels are slower"],
    ),
    "dispatcher": (
        """
from numba.core import registry, target_extension
class Renamed(registry.CPUDispatcher):
    def __init__(self, function=None, py_func=None, **options):
        if py_func is not None and py_func.__module__.startswith("purse"):
            raise TypeError("py_func")
        super().__init__(function or py_func, **options)
registry.CPUDispatcher = Renamed
""",
        ["CPUDispatcher(py_func, ...): kernels compile more slowly"],
    ),
    "libraries": (
        """
from numba.core import compiler
class Renamed(compiler.Compiler):
    def __init__(self, types, target, code, *rest):
        super().__init__(types, target, code, *rest)
compiler.Compiler = Renamed
""",
        ["JITCodeLibrary._linking_libraries: policies compile more slowly"],
    ),
    "types": (
        """
from numba.np import arrayobj
arrayobj.renamed = arrayobj.setitem_array
del arrayobj.setitem_array
""",
        ["cgutils._struct_proxy_cache: policies compile more slowly"],
    ),
    "cache": (
        """
from numba.core.caching import Cache
Cache._load = Cache._load_overload
del Cache._load_overload
Cache.load_overload = lambda self, sig, context: self._load(sig, context)
""",
        ["FunctionCache._load_overload: compiled code loads more slowly"],
    ),
    "entry_point": (
        """
from numba.core.compiler import CompileResult
kept = CompileResult.__mro__[1].entry_point
del CompileResult.__mro__[1].entry_point
import warnings
with warnings.catch_warnings(record=True) as early:
    warnings.simplefilter("always")
    import purse.compiler.numba_contract
CompileResult.__mro__[1].entry_point = kept  # numba itself needs it
""",
        ["CompileResult.entry_point: live policies answer more slowly"],
    ),
}


def test_nothing_is_missing_here(usual: Any) -> None:
    assert usual["warnings"] == []


# each compiles in a process of its own: one in `make test`, all in `make soak`
@pytest.mark.parametrize("missing", list(TAKEN)[: scale(1, len(TAKEN))])
def test_a_fallback_gives_a_warning_and_the_same_numbers(
    missing: str, usual: Any, play: Callable[[str], Any]
) -> None:
    take, warnings = TAKEN[missing]
    found = play(take)
    assert found["numbers"] == usual["numbers"]
    version = f"numba {numba.__version__}"
    made_for = f"purse is made for numba {numba_contract.NUMBA}, and on a GPU numba-cuda"
    # a kernel that is handed over and not inlined leaves an address in the code
    lines = [
        line
        for line in found["warnings"]
        if missing != "forceinline" or not line.startswith("Cannot cache compiled function")
    ]
    for line, begin in zip(sorted(lines), warnings, strict=True):
        assert line.startswith(f"{version} has no {begin}; {made_for}")
        assert "\n" not in line


@pytest.mark.parametrize(
    ("take", "name"),
    [
        (
            "from numba.core import cgutils\ndel cgutils.alloca_once",
            "numba.core.cgutils.alloca_once",
        ),
        (
            "from numba.core import registry\nregistry.cpu_target = registry.CPUDispatcher\n"
            "registry.CPUDispatcher = None",
            "numba.core.registry.CPUDispatcher.targetdescr.options",
        ),
    ],
)
def test_a_part_without_a_fallback_is_named_in_one_line(
    take: str, name: str, tmp_path: Path
) -> None:
    found = fresh_process(
        f"{take}\nimport json\ntry:\n    import purse.compiler.machine_code\n"
        "except Exception as error:\n    print(json.dumps([type(error).__name__, str(error)]))",
        cache=tmp_path,
    )
    assert found == [
        "PurseError",
        f"numba {numba.__version__} has no {name}; purse needs numba {numba_contract.NUMBA}, "
        f"and on a GPU numba-cuda {numba_contract.NUMBA_CUDA}",
    ]


def other(*args: Any) -> None:
    """Takes other parameters than what it stands for."""


def test_gpu_kernels_do_without_what_only_makes_them_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.cuda.cpython.slicing.fix_index", other)
    with pytest.warns(RuntimeWarning, match=r"slicing\.fix_index: GPU kernels are slower; purse"):
        assert "fix_index" not in numba_contract._replaceable()


def test_gpu_kernels_need_what_keeps_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.cuda.cudadrv.nvvm.compile_ir", other)
    with pytest.raises(
        PurseError, match=r"^numba \S+ has no numba\.cuda\.cudadrv\.nvvm\.compile_ir\(llvmir, opt"
    ):
        numba_contract._replaceable()


def test_the_versions_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"numba{numba_contract.NUMBA}" in project["optional-dependencies"]["lab"]
    gpu = f"numba-cuda[cu13]{numba_contract.NUMBA_CUDA}"
    assert gpu in project["optional-dependencies"]["gpu"]


PRIVATE = re.compile(
    r"^\s*(from|import) (numba\.(core|np|cuda\.)|llvmlite)|from numba\.cuda import (cgutils|types)"
    r"|_nrt\b|meminfo|unittest",
    re.MULTILINE,
)


def test_only_the_contract_names_private_parts() -> None:
    named = {
        path.name
        for path in (ROOT / "src").rglob("*.py")
        if PRIVATE.search(re.sub(r"`[^`]*`", "", path.read_text()))
    }
    assert named == {"numba_contract.py"}
