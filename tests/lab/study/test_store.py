from __future__ import annotations

import math
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import purse
from purse.base.progress import Progress
from purse.engine import counterfactual
from purse.engine.job import Job, make_job
from purse.lab.study import shard
from purse.lab.study.shard import Frames, key_of, shards_of
from purse.lab.study.store import Store
from purse.worlds.bernoulli import bernoulli
from purse.worlds.two_point import two_point
from tests.lab.study.conftest import Played

FIXED = bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)


def job(
    policy: str = "uniform",
    world: str | purse.lab.World = RANDOM,
    budget: Any = 20.3,
    **options: Any,
) -> Job:
    return make_job(policy, world, budget, **options)


def kept_runs(folder: Path | None, work: Job, n_paths: int = 5) -> pl.DataFrame:
    return Store(folder).run(work, n_paths, 1, Progress("test"))


def kept_shadows(folder: Path | None, work: Job, runs: pl.DataFrame) -> pl.DataFrame:
    return Store(folder).counterfactuals(work, runs, 1, Progress("test"))


def frame(*numbers: int) -> pl.DataFrame:
    return pl.DataFrame({"number": numbers})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "shards").iterdir())


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(purse.PurseError, match=r"cannot write to folder '.*file'"):
        Store(tmp_path / "file")


def test_the_shards_that_are_missing_come_in_their_order_and_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard, "BYTES", 2 * shard.bytes_per_path(job()))
    store, shards = Store(tmp_path), list(shards_of(job(), 7))
    again = list(shards_of(job("uniform"), 7))
    assert [each.first for each in store.missing([*shards, *again])] == [0, 2, 4, 6]
    store.accept(shards[1], Frames(frame(1), None))
    assert [each.first for each in store.missing(shards)] == [0, 4, 6]
    assert [each.first for each in store.missing(again[::-1])] == [6, 4, 0]


def test_a_shard_is_there_only_when_its_trace_is_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, real = next(shards_of(job(), 5)), Store.put

    def interrupted(store: Store, name: str, what: pl.DataFrame) -> None:
        if name == one.name:
            raise KeyboardInterrupt
        real(store, name, what)

    monkeypatch.setattr(Store, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).accept(one, Frames(frame(1), frame(2)))
    assert names(tmp_path) == [f"{one.name}-trace.parquet"]
    assert Store(tmp_path).missing([one]) == [one]
    monkeypatch.setattr(Store, "put", real)
    Store(tmp_path).accept(one, Frames(frame(3), frame(4)))
    assert Store(tmp_path).missing([one]) == []
    assert Store(tmp_path).get(one.name).equals(frame(3))
    assert Store(tmp_path).get(f"{one.name}-trace").equals(frame(4))


def test_runs_are_those_of_all_shards_and_do_not_depend_on_how_they_are_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = kept_runs(None, job(), 7)
    monkeypatch.setattr(shard, "BYTES", 2 * shard.bytes_per_path(job()))
    cut = kept_runs(tmp_path, job(), 7)
    assert names(tmp_path) == sorted(
        f"{key_of(job())}-{first}-{n_paths}.parquet"
        for first, n_paths in ((0, 2), (2, 2), (4, 2), (6, 1))
    )
    assert cut.equals(whole)
    assert cut["path"].to_list() == list(range(7))
    assert Store(tmp_path).runs(list(shards_of(job(), 7))).equals(whole)


def test_only_what_is_missing_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, played: list[Played]
) -> None:
    monkeypatch.setattr(shard, "BYTES", 4 * shard.bytes_per_path(job()))
    few = kept_runs(tmp_path, job(), 6)
    assert [each[2:] for each in played] == [(0, 4), (4, 2)]
    assert kept_runs(tmp_path, job(), 6).equals(few)
    assert len(played) == 2
    many = kept_runs(tmp_path, job(), 9)
    assert [each[2:] for each in played[2:]] == [(4, 4), (8, 1)]
    assert many[:6].equals(few)
    assert many.equals(kept_runs(None, job(), 9))


def test_what_is_left_is_exact_where_floats_are_not(tmp_path: Path) -> None:
    found = kept_runs(tmp_path, job("fixed", bernoulli(rewards=[1], costs=[0.1]), 0.3), 1)
    assert 0.3 - 0.1 - 0.1 - 0.1 != 0
    assert (found["rounds"].to_list(), found["left"].to_list()) == ([3], [0.0])


def test_left_is_of_the_first_resource_and_efficiency_is_no_number(tmp_path: Path) -> None:
    world = bernoulli(rewards=[1, 1], costs=[[1, 3], [1, 1]])
    for _ in range(2):
        found = kept_runs(tmp_path, job("fixed", world, [10.5, 12]))
        assert found["left"].to_list() == [6.5] * 5
        assert found["used"].to_list() == [1.0] * 5
        assert all(map(math.isnan, found["efficiency"]))


def test_shadows_are_those_of_the_rounds_and_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = kept_runs(tmp_path, job(seed=4))
    made = kept_shadows(tmp_path, job(seed=4), runs)
    assert made.columns == ["shadow"]
    rounds = runs["rounds"].to_numpy()
    sums = counterfactual.counterfactual_sums(job(seed=4), rounds, Progress("test"))
    assert (made["shadow"].to_numpy() == sums).all()
    again = kept_runs(tmp_path, job(seed=4))
    assert again.equals(runs)
    assert again.schema == runs.schema
    assert runs.schema["pulls"] == pl.Array(pl.Int64, 3)
    monkeypatch.setattr("purse.engine.counterfactual.counterfactual_sums", None)
    found = kept_shadows(tmp_path, job(seed=4), runs)
    assert found.equals(made)
    assert found["shadow"].to_numpy().shape == (5, 3)
    # they lie beside the shards of their job
    code, key = counterfactual.compiled_sums(RANDOM).mark, key_of(job(seed=4))
    assert names(tmp_path) == [f"{key}-0-5.parquet", f"{key}-5-{code}.parquet"]


def test_changed_code_of_the_sums_makes_new_shadows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = kept_runs(tmp_path, job())
    first = kept_shadows(tmp_path, job(), runs)
    # a constant of the compiled function
    monkeypatch.setattr(counterfactual, "BEAT", 2 * counterfactual.BEAT + 1)
    again = kept_shadows(tmp_path, job(), runs)
    assert again.equals(first)
    assert len(list(tmp_path.rglob("*-*-????????????????.parquet"))) == 2


def test_what_is_kept_is_made_once_per_name_and_store(tmp_path: Path) -> None:
    numbers, store = count(1), Store(None)

    def kept(store: Store, name: str) -> int:
        return store.keep(name, lambda: frame(next(numbers)))["number"].item()

    assert [kept(Store(tmp_path), name) for name in "aabab"] == [1, 1, 2, 1, 2]
    assert [kept(store, name) for name in "aabab"] == [3, 3, 4, 3, 4]
    assert [kept(Store(None), "a") for _ in range(2)] == [5, 6]


def test_work_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail() -> pl.DataFrame:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).keep("name", fail)
    assert names(tmp_path) == []
    assert Store(tmp_path).keep("name", lambda: frame(7))["number"].item() == 7
