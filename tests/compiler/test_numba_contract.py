"""What happens if numba lacks a private part that purse relies on: one line."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numba
import pytest

from purse.compiler import numba_contract
from purse.errors import PurseError
from tests.support.processes import fresh_process

ROOT = Path(__file__).parents[2]


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
            "numba.core.registry.CPUDispatcher.add_overload",
        ),
        (
            "from numba.core import cpu\ndel cpu._options_mixin._nrt",
            "numba.core.registry.CPUDispatcher.targetdescr.options._nrt",
        ),
    ],
)
def test_a_missing_part_is_named_in_one_line(take: str, name: str, tmp_path: Path) -> None:
    found = fresh_process(
        f"{take}\nimport json\ntry:\n    import purse.compiler.machine_code\n"
        "except Exception as error:\n    print(json.dumps([type(error).__name__, str(error)]))",
        cache=tmp_path,
    )
    assert found == [
        "PurseError",
        f"numba {numba.__version__} has no {name}; purse needs numba {numba_contract._NUMBA}, "
        f"and on a GPU numba-cuda {numba_contract._NUMBA_CUDA}",
    ]


def other(*args: Any) -> None:
    """Takes other parameters than what it stands for."""


def test_gpu_kernels_need_what_keeps_the_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.cuda.cudadrv.nvvm.compile_ir", other)
    with pytest.raises(
        PurseError, match=r"^numba \S+ has no numba\.cuda\.cudadrv\.nvvm\.compile_ir\(llvmir, opt"
    ):
        numba_contract._replaceable()


def test_the_versions_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"numba{numba_contract._NUMBA}" in project["optional-dependencies"]["lab"]
    gpu = f"numba-cuda[cu13]{numba_contract._NUMBA_CUDA}"
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
