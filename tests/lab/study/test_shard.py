from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.job import Job, make_job
from purse.lab.study import shard
from purse.lab.study.shard import (
    JobSpec,
    bytes_per_path,
    key_of,
    runs_frame,
    shard_size,
    shards_of,
    trace_frame,
)
from purse.worlds.bernoulli import bernoulli
from purse.worlds.two_point import two_point
from tests.support.paths import EPSILON_GREEDY

RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)
TEXT = "bernoulli:rewards=[.9,.6,.4],costs=[.8,.3,.25]"


def job(policy: Any = "uniform", world: Any = RANDOM, budget: Any = 20.3, **options: Any) -> Job:
    return make_job(policy, world, budget, **options)


def test_a_shard_is_about_two_hundred_million_steps_of_work() -> None:
    """Costs between 0.5 and 1 of 2 arms: 1000 lasts some 1333 rounds, of 10 + 2 steps each."""
    world = two_point(rewards=[0.5, 0.5], costs=[0.7, 0.8], cost_min=0.5)
    assert (world.cost_min / 1e9 == 0.5).all()
    assert (world.cost_max / 1e9 == 1).all()
    assert shard_size(job(world=world, budget=1000)) == int(2e8 / (1000 / 0.75 * 12))


def test_more_arms_or_money_make_smaller_shards_and_a_horizon_larger_ones() -> None:
    def size(n_arms: int, budget: float, horizon: int | None = None) -> int:
        world = bernoulli(rewards=[0.5] * n_arms, costs=[0.5] * n_arms)
        return shard_size(job(world=world, budget=budget, horizon=horizon))

    assert size(10, 500) == int(2e8 / (1000 * 20))
    assert size(90, 500) == int(2e8 / (1000 * 100))
    assert size(10, 5000) == int(2e8 / (10_000 * 20))
    assert size(10, 5000, horizon=1000) == size(10, 500)
    assert size(10, 4e9) == 1


def test_of_several_resources_the_scarcest_decides_how_long_a_path_is() -> None:
    world = bernoulli(rewards=[0.5, 0.5], costs=[[0.5, 1], [0.5, 1]])
    assert shard_size(job(world=world, budget=[500, 100])) == int(2e8 / (100 * 12))
    assert shard_size(job(world=world, budget=[50, 1000])) == int(2e8 / (100 * 12))


def test_what_would_take_too_much_memory_is_cut_smaller() -> None:
    """A path of one round is little work; its 2 marks keep 100 pulls each, and a few numbers."""
    world = bernoulli(rewards=[0.5] * 100, costs=[0.5] * 100)
    short, marked = job(world=world, budget=0.5), job(world=world, budget=0.5, checkpoints=2)
    assert bytes_per_path(short) == 8 * 105
    assert bytes_per_path(marked) == 3 * bytes_per_path(short)
    assert shard_size(short) == (1 << 26) // (8 * 105)
    assert shard_size(marked) == (1 << 26) // (3 * 8 * 105)


def test_shards_cover_the_paths_and_growing_keeps_all_but_the_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # halfway between 0.2 and 1: 8 paths of 3 arms
    monkeypatch.setattr(shard, "WORK", 8 * 13 * 20.3 / 0.6)
    work = job()
    assert shard_size(work) == 8
    few, many = list(shards_of(work, 20)), list(shards_of(work, 30))
    assert [(each.first, each.n_paths) for each in few] == [(0, 8), (8, 8), (16, 4)]
    assert [(each.first, each.n_paths) for each in many] == [(0, 8), (8, 8), (16, 8), (24, 6)]
    kept = {f"{key_of(work)}-0-8", f"{key_of(work)}-8-8"}
    assert {each.name for each in few} & {each.name for each in many} == kept
    # the job alone decides
    assert (shard_size(work), key_of(work)) == (shard_size(job()), key_of(job()))
    assert shard_size(job(seed=1)) == shard_size(work)


@pytest.mark.parametrize(
    "change",
    [
        {"policy": "exp3.bwk:gamma=0.5"},
        {"policy": "fixed"},
        {"seed": 1},
        {"stop": "hold"},
        {"stop": "retry"},
        {"delay": 3},
        {"delay": "geometric:3"},
        {"budget": 20.300000001},
        {"world": two_point(rewards=[0.9, 0.6, 0.31], costs=[0.6, 0.3, 0.9], cost_min=0.2)},
        {"world": replace(RANDOM, reward_range=(0.0, 2.0))},
        {"world": replace(RANDOM, n_rounds=7)},
        {"world": replace(RANDOM, horizon=7)},
        {"world": replace(RANDOM, horizon=7, n_rounds=7)},
        {"world": replace(RANDOM, reward_means=None)},
        {"horizon": 7},
        {"checkpoints": 3},
        {"checkpoints": 4},
        {"cost_max": 2},
        {"cost_min": 0.1},
        {"plays": 2},
    ],
    ids=str,
)
def test_whatever_decides_the_numbers_changes_the_key(change: dict[str, Any]) -> None:
    policy = "uniform" if "plays" in change else "exp3.bwk"
    assert key_of(job(**{"policy": policy, **change})) != key_of(job(policy))


def test_every_delay_has_a_key_of_its_own() -> None:
    delays = (0, 3, 4, "geometric:3", "geometric:4")
    assert len({key_of(job(delay=delay)) for delay in delays}) == 5


def test_worlds_that_end_for_different_reasons_have_keys_of_their_own() -> None:
    """They play alike, but only where the world has nothing more to tell it is the world that
    ended.
    """
    worlds = (replace(RANDOM, horizon=7, n_rounds=n_rounds) for n_rounds in (None, 7, 8))
    assert len({key_of(job(world=world)) for world in worlds}) == 3


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


def test_a_recipe_makes_the_same_job_wherever_it_is_made() -> None:
    made = [JobSpec("exp3.bwk:gamma=0.5", TEXT, 20.3, 4, "hold", 5).make() for _ in range(2)]
    assert key_of(made[0]) == key_of(made[1])
    plain = job("exp3.bwk:gamma=0.5", TEXT, 20.3, seed=4, stop="hold", checkpoints=5)
    assert len(plain.checkpoints.rounds) > 0
    assert len(made[0].checkpoints.rounds) == 0
    assert (made[0].checkpoints.left == plain.checkpoints.left).all()
    assert key_of(JobSpec("uniform", RANDOM, 20.3, 0, "exit").make()) == key_of(job())
    late = JobSpec("uniform", RANDOM, 20.3, 0, "exit", 0, "geometric:3").make()
    assert key_of(late) == key_of(job(delay="geometric:3"))


@pytest.mark.parametrize(
    "world",
    [RANDOM, bernoulli(rewards=[0.9], costs=[0.7]), replace(RANDOM, reward_range=(-1.0, 3.0))],
    ids=["three arms", "one", "unit"],
)
def test_a_row_for_each_path_has_what_simulate_gives(world: purse.lab.World) -> None:
    run = purse.simulate("uniform", world, 20.3, n_paths=5, seed=4)
    frame = runs_frame(run, 7)
    assert " ".join(frame.columns) == "path gain rounds used ended efficiency left pulls"
    assert frame["path"].to_list() == [7, 8, 9, 10, 11]
    for name in ("gain", "rounds", "ended", "pulls"):
        ours, theirs = frame[name].to_numpy(), getattr(run, name)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert (ours == theirs).all()
    assert frame["left"].to_list() == [
        (20_300_000_000 - units) / 10**9 for units in run.spent_units[:, 0].tolist()
    ]
    assert frame["used"].to_list() == (run.spent[:, 0] / 20.3).tolist()
    expected = np.full(5, np.nan) if run.efficiency is None else run.efficiency
    assert np.array_equal(frame["efficiency"].to_numpy(), expected, equal_nan=True)
    assert (run.efficiency is None) == (world.reward_range != (0.0, 1.0))


def test_a_trace_sums_the_pulls_of_all_paths_at_each_fraction_of_the_budget() -> None:
    run = purse.simulate("uniform", RANDOM, 20.3, n_paths=5, seed=4, checkpoints=4)
    frame = trace_frame(run)
    assert frame.columns == ["fraction", "pulls"]
    assert frame["fraction"].to_list() == [0.25, 0.5, 0.75, 1.0]
    assert run.by_budget is not None
    assert frame["pulls"].to_list() == run.by_budget.pulls.sum(axis=0).tolist()
    assert (np.diff(frame["pulls"].to_numpy(), axis=0) > 0).all()
