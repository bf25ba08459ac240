"""A GPU that is none: its paths are played by this process, which notes what it was asked for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from purse.base.progress import Progress
from purse.engine import cpu
from purse.engine.job import Job
from purse.engine.workspace import PathResults
from purse.lab.study import executors


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
