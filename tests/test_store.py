from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import purse
from purse import store
from purse.engine import shadow
from purse.engine.cpu import Job
from purse.environments import bernoulli, two_point
from purse.progress import Progress
from purse.simulation import make_job
from purse.store import Store, cell_name

WORLD = purse.environments.bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
SMALL = {"budgets": [20, 50], "n_paths": 6, "seed": 3}


def test_finished_parts_are_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    played = []
    monkeypatch.setattr(store, "play", lambda job, *args, **kwargs: played.append(job.name))
    again = purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    assert played == []
    assert again.frame().equals(first.frame())


def test_an_interrupted_comparison_continues_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = purse.compare(["uniform"], WORLD, **SMALL)
    real, calls = store.play, []

    def interrupted(job, *args, **kwargs):  # type: ignore[no-untyped-def]
        calls.append(job.name)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return real(job, *args, **kwargs)

    monkeypatch.setattr(store, "play", interrupted)
    with pytest.raises(KeyboardInterrupt):
        purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    assert purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path).frame().equals(whole.frame())
    assert len(calls) == 5 + 4


@pytest.mark.parametrize(
    "change", [{"seed": 4}, {"n_paths": 5}, {"stop": "hold"}, {"budgets": [21, 50]}, {"policies": ["exp3.bwk:gamma=0.5"]}, {"world": "misleading_ratio"}]
)
def test_whatever_decides_the_numbers_makes_new_parts(tmp_path: Path, change: dict[str, object]) -> None:
    arguments: dict[str, object] = {"policies": ["exp3.bwk"], "world": WORLD, **SMALL, "folder": tmp_path}
    purse.compare(**arguments)  # type: ignore[arg-type]
    before = len(list(tmp_path.rglob("*.parquet")))
    purse.compare(**{**arguments, **change})  # type: ignore[arg-type]
    assert len(list(tmp_path.rglob("*.parquet"))) > before


def test_a_changed_first_state_makes_new_parts(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    source = (Path(__file__).parent.parent / "examples" / "epsilon_greedy.py").read_text()
    path.write_text(source)
    before = purse.compare(f"{path}", WORLD, **SMALL, folder=tmp_path / "out").frame()
    old = "return EpsilonGreedyState(np.zeros((n_paths, params.n_arms)), np.zeros((n_paths, params.n_arms)))"
    assert old in source
    path.write_text(source.replace(old, old.replace("np.zeros", "np.ones", 1) + "  # hopeful"))
    after = purse.compare(f"{path}", WORLD, **SMALL, folder=tmp_path / "out").frame()
    assert not after.equals(before)
    assert after.equals(purse.compare(f"{path}", WORLD, **SMALL).frame())


RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)


def job(policy: str = "uniform", world: str | purse.World = RANDOM, budget: float = 20.3, **options: Any) -> Job:
    return make_job(policy, world, budget, **options)


def kept_runs(folder: Path | None, work: Job, n_paths: int = 5) -> pl.DataFrame:
    return Store(folder).run(work, n_paths, 1, Progress("test"))


def kept_shadows(folder: Path | None, work: Job, runs: pl.DataFrame) -> pl.DataFrame:
    return Store(folder).shadows(work, runs, 1, Progress("test"))


@pytest.mark.parametrize("world", [RANDOM, bernoulli(rewards=[0.9], costs=[0.7])], ids=["three arms", "one arm"])
@pytest.mark.parametrize("times", [1, 2], ids=["made", "found"])
def test_a_part_has_everything_that_regrets_are_made_from(world: purse.World, times: int, tmp_path: Path) -> None:
    frame = [kept_runs(tmp_path, job(world=world, seed=4)) for _ in range(times)][-1]
    run = purse.simulate("uniform", world, 20.3, n_paths=5, seed=4)
    assert frame.columns == ["path", "gain", "rounds", "used", "ended", "efficiency", "left", "pulls"]
    assert frame["path"].to_list() == [0, 1, 2, 3, 4]
    for name in ("gain", "rounds", "ended", "efficiency", "pulls"):
        ours, theirs = frame[name].to_numpy(), getattr(run, name)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert (ours == theirs).all()
    assert frame["left"].to_list() == [(20_300_000_000 - units) / 10**9 for units in run.spent_units[:, 0].tolist()]
    assert frame["used"].to_list() == (run.spent[:, 0] / 20.3).tolist()


def test_what_is_left_is_exact_where_floats_are_not(tmp_path: Path) -> None:
    frame = kept_runs(tmp_path, job("fixed", bernoulli(rewards=[1], costs=[0.1]), 0.3), 1)
    assert 0.3 - 0.1 - 0.1 - 0.1 != 0
    assert (frame["rounds"].to_list(), frame["left"].to_list()) == ([3], [0.0])


def test_with_several_resources_left_is_of_the_first_and_efficiency_is_no_number(tmp_path: Path) -> None:
    for _ in range(2):
        frame = kept_runs(tmp_path, job("fixed", bernoulli(rewards=[1, 1], costs=[[1, 3], [1, 1]]), [10.5, 12]))  # type: ignore[arg-type]
        assert frame["left"].to_list() == [6.5] * 5
        assert frame["used"].to_list() == [1.0] * 5
        assert all(map(math.isnan, frame["efficiency"]))


def test_shadows_are_those_of_the_rounds_and_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = kept_runs(tmp_path, job(seed=4))
    made = kept_shadows(tmp_path, job(seed=4), runs)
    assert made.columns == ["shadow"]
    assert (made["shadow"].to_numpy() == shadow.shadows(job(seed=4), runs["rounds"].to_numpy(), Progress("test"))).all()
    monkeypatch.setattr("purse.engine.shadow.shadows", None)
    found = kept_shadows(tmp_path, job(seed=4), runs)
    assert found.equals(made)
    assert found["shadow"].to_numpy().shape == (5, 3)


def test_shadows_lie_beside_the_part_that_they_belong_to(tmp_path: Path) -> None:
    kept_shadows(tmp_path, job(), kept_runs(tmp_path, job()))
    name, code = cell_name(job(), 5), shadow.compiled(RANDOM).py_func.__name__
    assert code.startswith("add_up_")
    assert sorted(path.name for path in (tmp_path / "cells").iterdir()) == [f"{name}-{code}.parquet", f"{name}.parquet"]


def test_changed_code_of_the_sums_makes_new_shadows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = kept_runs(tmp_path, job())
    first = kept_shadows(tmp_path, job(), runs)
    monkeypatch.setattr(shadow, "BEAT", 2 * shadow.BEAT + 1)  # a constant of the compiled function
    again = kept_shadows(tmp_path, job(), runs)
    assert again.equals(first)
    assert len(list(tmp_path.rglob("*-add_up_*.parquet"))) == 2


@pytest.mark.parametrize("change", [{"seed": 1}, {"stop": "hold"}, {"budget": 20.2}, {"policy": "fixed"}, {"world": WORLD}, {"cost_max": 2}], ids="-".join)
def test_whatever_decides_the_numbers_makes_new_shadows(change: dict[str, Any], tmp_path: Path) -> None:
    for work in (job(), job(**change)):
        runs = kept_runs(tmp_path, work)
        assert kept_shadows(tmp_path, work, runs).equals(kept_shadows(None, work, runs))
    assert len(list(tmp_path.rglob("*-add_up_*.parquet"))) == 2


def test_how_a_policy_is_called_and_how_many_work_do_not_make_new_parts(tmp_path: Path) -> None:
    assert cell_name(job("fixed"), 5) == cell_name(job("fixed:arm=0"), 5)
    first, again = (Store(tmp_path).run(job(), 5, n_workers, Progress("test")) for n_workers in (1, 2))
    assert first.equals(again)
    assert len(list(tmp_path.rglob("*.parquet"))) == 1


def test_a_comparison_and_a_measurement_share_their_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    purse.compare(["uniform"], WORLD, **SMALL, folder=tmp_path)
    played = []
    monkeypatch.setattr(store, "play", lambda job, *args, **kwargs: played.append(job.name))
    found = purse.regrets("uniform", WORLD, 50, n_paths=6, seed=3, folder=tmp_path)
    assert played == []
    assert np.isfinite([each.mean for each in found.estimates.values()]).all()


def test_without_a_folder_everything_is_made_each_time() -> None:
    made = []

    def make() -> pl.DataFrame:
        made.append(1)
        return pl.DataFrame({"number": [len(made)]})

    assert [Store(None).keep("name", make)["number"].item() for _ in range(3)] == [1, 2, 3]


def test_what_is_kept_is_made_once_per_name(tmp_path: Path) -> None:
    made = []

    def make() -> pl.DataFrame:
        made.append(1)
        return pl.DataFrame({"number": [len(made)]})

    assert [Store(tmp_path).keep(name, make)["number"].item() for name in ("a", "a", "b", "a", "b")] == [1, 1, 2, 1, 2]


def test_work_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    def fail() -> pl.DataFrame:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).keep("name", fail)
    assert list((tmp_path / "cells").iterdir()) == []
    assert Store(tmp_path).keep("name", lambda: pl.DataFrame({"number": [7]}))["number"].item() == 7
