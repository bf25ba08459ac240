"""Shards, their keys and sizes, and the store that keeps them."""

from dataclasses import replace
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
from purse.lab.study.shard import Frames, JobSpec, _runs_frame, _shard_size, key_of, shards_of
from purse.lab.study.store import Store
from purse.worlds.bernoulli import bernoulli
from purse.worlds.two_point import two_point
from tests.support.paths import EPSILON_GREEDY

RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)
TEXT = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"


def job(policy: Any = "uniform", world: Any = RANDOM, budget: Any = 20.3, **options: Any) -> Job:
    return make_job(policy, world, budget, **options)


@pytest.mark.parametrize(
    ("costs", "budget", "options", "size"),
    [
        # 500 lasts 1000 rounds, of 10 steps and one for each arm
        ([0.5] * 10, 500, {}, 2e8 / (1000 * 20)),
        ([0.5] * 90, 500, {}, 2e8 / (1000 * 100)),
        ([0.5] * 10, 5000, {}, 2e8 / (10_000 * 20)),
        ([0.5] * 10, 5000, {"horizon": 1000}, 2e8 / (1000 * 20)),
        ([0.5] * 10, 4e9, {}, 1),
        # the scarcest resource decides
        ([[0.5, 1]] * 2, [500, 100], {}, 2e8 / (100 * 12)),
        ([[0.5, 1]] * 2, [50, 1000], {}, 2e8 / (100 * 12)),
        # a path of one round is little work; with 2 marks it takes three times as much memory
        ([0.5] * 100, 0.5, {}, 2**26 // (8 * 105)),
        ([0.5] * 100, 0.5, {"checkpoints": 2}, 2**26 // (3 * 8 * 105)),
    ],
)
def test_a_shard_is_about_a_second_of_work_and_little_memory(
    costs: Any, budget: Any, options: dict[str, Any], size: float
) -> None:
    world = bernoulli(rewards=[0.5] * len(costs), costs=costs)
    assert _shard_size(job(world=world, budget=budget, **options)) == int(size)


def test_shards_cover_the_paths_and_growing_keeps_all_but_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # halfway between 0.2 and 1: 8 paths of 3 arms
    monkeypatch.setattr(shard, "_WORK", 8 * 13 * 20.3 / 0.6)
    work = job()
    assert _shard_size(work) == 8
    few, many = list(shards_of(work, 20)), list(shards_of(work, 30))
    assert [(each.first, each.n_paths) for each in few] == [(0, 8), (8, 8), (16, 4)]
    assert [(each.first, each.n_paths) for each in many] == [(0, 8), (8, 8), (16, 8), (24, 6)]
    kept = {f"{key_of(work)}-0-8", f"{key_of(work)}-8-8"}
    assert {each.name for each in few} & {each.name for each in many} == kept
    # the job alone decides
    assert (_shard_size(work), key_of(work)) == (_shard_size(job()), key_of(job()))
    assert _shard_size(job(seed=1)) == _shard_size(work)


# each decides some number
CHANGES: list[dict[str, Any]] = [
    {},
    {"policy": "exp3.bwk:gamma=0.5"},
    {"policy": "fixed"},
    {"policy": "uniform"},
    {"policy": "uniform", "plays": 2},
    {"seed": 1},
    {"stop": "hold"},
    {"stop": "retry"},
    *({"delay": delay} for delay in (3, 4, "geometric:3", "geometric:4")),
    {"budget": 20.300000001},
    {"world": two_point(rewards=[0.9, 0.6, 0.31], costs=[0.6, 0.3, 0.9], cost_min=0.2)},
    {"world": replace(RANDOM, reward_range=(0.0, 2.0))},
    {"world": replace(RANDOM, reward_means=None)},
    # they play alike, but only a world that has nothing more to tell has ended
    {"world": replace(RANDOM, n_rounds=7)},
    *({"world": replace(RANDOM, horizon=7, n_rounds=n_rounds)} for n_rounds in (None, 7, 8)),
    {"horizon": 8},
    {"checkpoints": 3},
    {"checkpoints": 4},
    {"cost_max": 2},
    {"cost_min": 0.1},
]


def test_whatever_decides_the_numbers_changes_the_key() -> None:
    keys = [key_of(job(**{"policy": "exp3.bwk", **change})) for change in CHANGES]
    assert [change for i, change in enumerate(CHANGES) if keys.count(keys[i]) > 1] == []


def test_numbers_side_by_side_do_not_run_into_each_other() -> None:
    work = job("exp3.bwk")
    one, other = (
        work._replace(params=work.params._replace(gamma=gamma, rate=rate))
        for gamma, rate in ((1.0, 10.5), (1.01, 0.5))
    )
    assert repr(1.0) + repr(10.5) == repr(1.01) + repr(0.5)
    assert key_of(one) != key_of(other)


def test_what_does_not_decide_the_numbers_does_not_change_the_key() -> None:
    assert key_of(job("fixed")) == key_of(job("fixed:arm=0")) == key_of(job("fixed: arm = 0"))
    assert key_of(job("exp3.bwk:gamma=1")) == key_of(job("exp3.bwk:gamma=1.0"))
    assert key_of(job(purse.policies.load("uniform"))) == key_of(job())
    renamed = replace(RANDOM, name="another name", arms=("a", "b", "c"))
    assert key_of(job(world=renamed)) == key_of(job())
    made = bernoulli(rewards=[0.9, 0.6, 0.4], costs=[0.8, 0.3, 0.25])
    assert key_of(job(world=TEXT)) == key_of(job(world=made))
    assert key_of(job(budget=20)) == key_of(job(budget=20.0))
    assert key_of(job(delay=0)) == key_of(job())
    assert key_of(job(delay=("geometric", 3))) == key_of(job(delay="geometric:3.0"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("State(np.zeros(params.n_arms)", "State(np.ones(params.n_arms)"),
        ("] += play.rewards[0]", "] += 2 * play.rewards[0]"),
        ("epsilon: float = 0.1", "epsilon: float = 0.2"),
    ],
    ids=["first state", "code", "default"],
)
def test_a_changed_policy_changes_the_key(old: str, new: str, tmp_path: Path) -> None:
    path, source = tmp_path / "mine.py", EPSILON_GREEDY.read_text()
    path.write_text(source)
    before = key_of(job(str(path)))
    path.write_text(f"# a comment decides nothing\n{source}")
    assert key_of(job(str(path))) == before
    assert old in source
    path.write_text(source.replace(old, new, 1))
    assert key_of(job(str(path))) != before


@pytest.mark.parametrize(
    ("world", "budget"),
    [(RANDOM, 20.3), (bernoulli(rewards=[1, 1], costs=[[1, 3], [1, 1]]), [10.5, 12])],
)
def test_a_row_for_each_path_has_what_simulate_gives(world: purse.lab.World, budget: Any) -> None:
    run = purse.simulate("uniform", world, budget, n_paths=5, seed=4)
    frame = _runs_frame(run, 7)
    assert " ".join(frame.columns) == "path gain rounds used ended efficiency left pulls"
    assert frame["path"].to_list() == [7, 8, 9, 10, 11]
    for name in ("gain", "rounds", "ended", "pulls"):
        ours, theirs = frame[name].to_numpy(), getattr(run, name)
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())
    whole = round(run.budget[0] * 10**9)
    assert frame["left"].to_list() == [
        (whole - units) / 10**9 for units in run.spent_units[:, 0].tolist()
    ]
    assert frame["used"].to_list() == (run.spent / run.budget).max(axis=1).tolist()
    assert frame["efficiency"].is_nan().all() == (run.efficiency is None)


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
    monkeypatch.setattr(shard, "_BYTES", 2 * shard.bytes_per_path(job()))
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


def test_a_recipe_makes_the_job_with_marks_at_parts_of_the_budget_alone() -> None:
    recipe = JobSpec("exp3.bwk:gamma=0.5", TEXT, 20.3, 4, "hold", 5, "geometric:3")
    told = {"seed": 4, "stop": "hold", "checkpoints": 5, "delay": "geometric:3"}
    plain = job("exp3.bwk:gamma=0.5", TEXT, **told)
    assert len(plain.checkpoints.rounds) > 0
    marks = plain.checkpoints._replace(rounds=plain.checkpoints.rounds[:0])
    assert key_of(recipe.make()) == key_of(plain._replace(checkpoints=marks))


def test_shadows_are_those_of_the_rounds_and_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, shown = job(seed=4), Progress("test")
    runs = Store(tmp_path).run(work, 5, 1, shown)
    made = Store(tmp_path).counterfactuals(work, runs, 1, shown)
    sums = counterfactual.counterfactual_sums(work, runs["rounds"].to_numpy(), shown)
    assert made["shadow"].to_numpy().tolist() == sums.tolist()
    again = Store(tmp_path).run(work, 5, 1, shown)
    assert again.equals(runs)
    assert again.schema == runs.schema
    monkeypatch.setattr("purse.engine.counterfactual.counterfactual_sums", None)
    assert Store(tmp_path).counterfactuals(work, runs, 1, shown).equals(made)
    # they lie beside the shards of their job
    code, key = counterfactual.compiled_sums(RANDOM).mark, key_of(work)
    assert names(tmp_path) == [f"{key}-0-5.parquet", f"{key}-5-{code}.parquet"]


def test_what_is_kept_is_made_once_per_name_and_store(tmp_path: Path) -> None:
    numbers, store = count(1), Store(None)

    def kept(store: Store, name: str) -> int:
        return store.keep(name, lambda: frame(next(numbers)))["number"].item()

    assert [kept(Store(tmp_path), name) for name in "aabab"] == [1, 1, 2, 1, 2]
    assert [kept(store, name) for name in "aabab"] == [3, 3, 4, 3, 4]
    assert [kept(Store(None), "a") for _ in range(2)] == [5, 6]
