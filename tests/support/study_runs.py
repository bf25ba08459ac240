"""Studies run by processes of their own, and what they leave in their folders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

STUDY = """
policies = ["uniform", "exp3.bwk"]
budgets = [40, 150]
paths = 50
seed = 5

[worlds]
"fixed costs" = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
"random costs" = "two_point:rewards=[.9,.6,.3],costs=[.6,.3,.9],cost_min=0.2"
"""
SMALL_SHARDS = (
    "import purse.study.shard; purse.study.shard.WORK = 2.5e4; "  # many shards from a small study
)


def command(file: Path, folder: Path, before: str = "", **options: Any) -> list[str]:
    """What runs a study in a process of its own, without the report, which takes longer than the
    study.
    """
    code = (
        f"{SMALL_SHARDS}{before}from purse.study import compare, study_file; "
        f"compare.run(study_file.load({str(file)!r}), folder={str(folder)!r}, **{options!r})"
    )
    return [sys.executable, "-c", code]


def run(file: Path, folder: Path, **options: Any) -> dict[str, bytes]:
    """Run a study to its end; what it came to."""
    done = subprocess.run(
        command(file, folder, **options), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a study's results, by its path; scratch files that a killed process left are
    not results, and the manifest says when.
    """
    files = {
        str(path.relative_to(folder)): path
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }
    return {
        name: path.read_bytes() for name, path in sorted(files.items()) if name != "manifest.json"
    }
