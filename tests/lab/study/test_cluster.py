from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

from purse import policies
from purse.base.progress import Progress
from purse.errors import InvalidInput, PurseError
from purse.lab.study import cluster
from purse.lab.study.shard import JobSpec, Shard, key_of, play_shard, shards_of
from tests.support.paths import EPSILON_GREEDY

RECIPE = JobSpec("uniform", "bernoulli:rewards=[.9,.6],costs=[.8,.3]", 20.0, 3, "exit", 4)


def test_a_worker_plays_the_shard_that_was_meant() -> None:
    job = RECIPE.make()
    (shard,) = shards_of(job, 6)
    name, frames = cluster.play_there(RECIPE, shard.key, 2, 3)
    ours = play_shard(Shard(job, shard.key, 2, 3), np.zeros(2), np.zeros(1, np.int64))
    assert name == f"{shard.key}-2-3"
    assert frames.runs.equals(ours.runs)
    assert frames.trace is not None
    assert ours.trace is not None
    assert frames.trace.equals(ours.trace)


def test_a_worker_with_other_code_refuses() -> None:
    with pytest.raises(PurseError, match="has other code than this machine"):
        cluster.play_there(RECIPE, "0" * 20, 0, 1)


def test_modules_travel_as_text() -> None:
    ours = policies.load("exp3.bwk")
    assert cluster.sendable(RECIPE._replace(policy=ours)).policy == "exp3.bwk"
    mine = policies.load(str(EPSILON_GREEDY))
    text = cluster.sendable(RECIPE._replace(policy=mine)).policy
    assert key_of(RECIPE._replace(policy=text).make()) == key_of(
        RECIPE._replace(policy=mine).make()
    )
    nowhere = ModuleType("nowhere")
    vars(nowhere).update(NAME="nowhere", __file__=None)
    with pytest.raises(InvalidInput, match="'nowhere' comes from no file"):
        cluster.sendable(RECIPE._replace(policy=nowhere))


@pytest.mark.parametrize("on", ["spark", "ray://", "dask://", "http://somewhere:80", ""])
def test_an_address_that_is_none_is_refused(on: str) -> None:
    with pytest.raises(
        InvalidInput, match=r"must be one of ray, ray://HOST:PORT, dask or dask://HOST:PORT"
    ):
        cluster.parse(on)


def test_a_cluster_that_is_not_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_TIMEOUT_S", 0.5)
    with pytest.raises(PurseError, match=r"cannot reach dask://127\.0\.0\.1:1: "):
        cluster.play_on_cluster(
            list(shards_of(RECIPE.make(), 2)),
            {},
            "dask://127.0.0.1:1",
            lambda shard, frames: None,
            Progress("test"),
        )


@pytest.mark.parametrize(
    ("on", "module"),
    [("ray", "ray"), ("ray", "joblib"), ("dask", "distributed"), ("dask", "joblib")],
)
def test_a_missing_extra_is_one_line(on: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        PurseError,
        match=rf"^a {on.title()} cluster needs \w+: pip install 'purse-bandits\[{on}\]'$",
    ):
        cluster.play_on_cluster([], {}, on, lambda shard, frames: None, Progress("test"))
