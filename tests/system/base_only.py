"""A process that cannot import what only extras bring."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from tests.support.paths import ROOT

# markupsafe and llvmlite come with jinja2 and numba
LAB = ("altair", "jinja2", "llvmlite", "markupsafe", "numba", "polars", "scipy", "vl_convert")
SERVE = ("httptools", "prometheus_client", "starlette", "uvicorn", "uvloop")
OTHERS = ("gymnasium", "joblib", "litellm", "numba_cuda", "pandas",
          "psycopg", "pyarrow", "pydantic_ai", "ray")  # fmt: skip
EXTRAS = (*LAB, *SERVE, *OTHERS)


def printed(code: str, folder: Path, hidden: Sequence[str] = EXTRAS) -> list[str]:
    """Run Python code in a process of its own, in a folder, without packages; return the lines that
    it prints.
    """
    begin = f"import sys\nsys.modules |= dict.fromkeys({tuple(hidden)!r})\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", begin + code],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def commands(lines: Sequence[str], folder: Path) -> list[list[str]]:
    """Run command lines one after the other in one such process; return for each its exit code and
    the lines that it prints.
    """
    code = f"from tests.system.base_only import run\nfor line in {list(lines)!r}:\n    run(line)"
    return [json.loads(each) for each in printed(code, folder)]


def run(line: str) -> None:
    """Run a command line in this process, and print its exit code and its lines as JSON."""
    from purse.cli import main

    sys.argv, out, code = ["purse", *shlex.split(line)], StringIO(), None
    try:
        with redirect_stdout(out), redirect_stderr(out):
            main()
    except SystemExit as end:
        code = end.code
    print(json.dumps([str(code), *out.getvalue().splitlines()]))
