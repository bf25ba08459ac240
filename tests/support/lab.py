"""Studies of many small shards and what they leave in their folders, a GPU that is none, and charts
held against the schema of Vega-Lite, which the library does not take the time for.
"""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from purse.base.progress import Progress
from purse.engine import cpu
from purse.engine.job import Job
from purse.engine.workspace import PathResults
from purse.lab.figure import Figure
from purse.lab.study import compare, executors, shard, study_file

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


class Call(NamedTuple):
    """What the GPU was asked for."""

    policy: str
    first: int  # path
    n_paths: int
    part: tuple[float, float]  # of the progress bar: where it starts, and how long it is


def fake_gpu(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """Let studies find this GPU; return the list to which each call is added."""
    calls: list[Call] = []

    def simulate(job: Job, n_paths: int, shown: Progress, first: int = 0) -> PathResults:
        assert not job.delay.is_late, "a GPU plays no late reports"
        calls.append(Call(job.name, first, n_paths, (shown.start, shown.length)))
        return cpu.play_paths(job, first, n_paths, np.zeros(2), np.zeros(1, np.int64))

    monkeypatch.setattr(executors, "gpu_engine", lambda: SimpleNamespace(simulate=simulate))
    return calls


def checked_spec(figure: Figure) -> dict[str, Any]:
    """Return the figure's chart; Altair raises where the schema forbids it."""
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):
        chart = figure.chart().to_dict(validate=True)
        if "data" in chart:  # Altair writes what all panels share once
            shared = chart.pop("data")
            for panel in chart["concat"]:
                panel["data"] = shared
        assert figure.spec == chart
    return figure.spec
