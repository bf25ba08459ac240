"""Studies of many small shards, and what they leave in their folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from purse.lab.study import compare, shard, study_file

STUDY = """
policies = ["uniform", "exp3.bwk"]
budgets = [40, 150]
paths = 50
seed = 5

[worlds]
"fixed costs" = "bernoulli:rewards=[.9,.6],costs=[.8,.3]"
"random costs" = "two_point:rewards=[.9,.6,.3],costs=[.6,.3,.9],cost_min=0.2"
"""
WORK = 2.5e4  # so little that a small study has many shards


def command(file: Path, folder: Path, before: str = "") -> list[str]:
    """What runs a study in a process of its own, without the report, which takes longer than the
    study.
    """
    code = (
        f"import purse.lab.study.shard; purse.lab.study.shard._WORK = {WORK}; {before}"
        "from purse.lab.study import compare, study_file; "
        f"compare.run(study_file.load({str(file)!r}), folder={str(folder)!r})"
    )
    return [sys.executable, "-c", code]


def run(file: Path, folder: Path, **options: Any) -> dict[str, bytes]:
    """Run a study here, to its end; what it came to."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "_WORK", WORK)
        compare.run(study_file.load(file), folder=folder, **options)
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
