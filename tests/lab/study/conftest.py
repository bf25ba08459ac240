"""What the tests of studies share."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from purse.lab.study import shard
from purse.lab.study.shard import Frames, Shard


class Played(NamedTuple):
    """A shard that was played."""

    policy: str
    budget: float
    first: int
    n_paths: int


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[Played]:
    """The shards that are played from now on."""
    seen: list[Played] = []
    real = shard.play_shard

    def play(shard: Shard, *args: Any) -> Frames:
        budget = float(shard.job.problem.budget[0]) / 1e9
        seen.append(Played(shard.job.name, budget, shard.first, shard.n_paths))
        return real(shard, *args)

    monkeypatch.setattr("purse.lab.study.executors.play_shard", play)
    return seen
