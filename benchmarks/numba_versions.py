"""The tests of compiled code on the oldest and on the newest numba that pyproject.toml allows.

Each has an environment of its own in `.venv`, which is kept for the next time; `make clean` removes
it. One line each says what was found.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("hypothesis>=6.100", "pytest>=8.0,<9.2", "pytest-xdist>=3.5")
TESTS = (  # what another version of numba may break, in a few minutes
    "tests/compiler/test_numba_contract.py",
    "tests/compiler/test_fingerprint.py::test_a_moved_kernel_is_compiled_anew",
    "tests/compiler/test_jit.py::test_a_bound_loop_counts_no_references",
    "tests/compiler/test_jit.py::test_a_comment_elsewhere_still_hits_the_cache",
    "tests/compiler/test_blocks.py",
    "tests/compiler/test_spans.py",
    "tests/compiler/test_cuda_patches.py",
    "tests/kernels/test_fastmath.py",
    "tests/kernels/test_random.py",
    "tests/kernels/test_sumtree.py",
    "tests/engine/test_loop.py",
    "tests/policies/test_known_costs.py",
)
VERSIONS = """
from importlib.metadata import version
print(*(f"{name} {version(name)}" for name in ("numba", "numba-cuda", "numpy")), sep=", ")
"""


def requirements(which: str) -> list[str]:
    """Return the requirements: the lower bounds themselves, or the newest within the bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = [
        need
        for extra in ("lab", "gpu")
        for need in project["optional-dependencies"][extra]
        if need.startswith("numba")
    ]
    if which == "newest":
        return bounds
    return [re.sub(r">=([\d.]+),.*", r"==\1", need) for need in bounds]


def check(which: str) -> bool:
    """Run the tests on the oldest or newest numba, print one line and say whether all passed."""
    folder = ROOT / ".venv" / f"numba-{which}"
    python = str(folder / "bin" / "python")
    if not Path(python).exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = ["-m", "pip", "install", "--quiet", "--upgrade", "--no-compile", "--editable"]
    subprocess.run(
        [python, *install, f"{ROOT}[lab]", *TOOLS, *requirements(which)], check=True, cwd=ROOT
    )
    versions = subprocess.run([python, "-c", VERSIONS], check=True, capture_output=True, text=True)
    tests = subprocess.run(
        [python, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *TESTS],
        env={**os.environ, "NUMBA_OPT": "1", "NUMBA_CACHE_DIR": str(folder / "numba-cache")},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if tests.returncode:
        print(tests.stdout[-5000:], tests.stderr[-2000:], sep="\n")
    verdict = "FAILED" if tests.returncode else "ok"
    summary = (tests.stdout.strip().splitlines() or ["no output"])[-1].strip("= ")
    print(f"{which}: {versions.stdout.strip()}: {verdict}, {summary}", flush=True)
    return tests.returncode == 0


if __name__ == "__main__":
    results = [check(which) for which in sys.argv[1:] or ("oldest", "newest")]
    sys.exit(not all(results))
