from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import draws
from purse.types import Floats
from purse.worlds._tables import FOREVER
from purse.worlds.bernoulli import bernoulli
from purse.worlds.corrupted import corrupted


def test_tables() -> None:
    tables = corrupted(
        rewards=[0.75, 0.5], costs=[0.5, 0.2], rounds=20, fake_rewards=[0.25, 1]
    ).tables
    assert tables.last.tolist() == [20, FOREVER]
    assert tables.period == 0
    assert (tables.below[:, :, 0] / 2**53).tolist() == [[0.25, 1], [0.75, 0.5]]
    assert tables.rewards.tolist() == [[[1, 0]] * 2] * 2
    assert tables.costs[:, :, :, 0].tolist() == [[[500_000_000] * 2, [200_000_000] * 2]] * 2


def test_the_truth_begins_after_the_false_rounds_and_does_not_end() -> None:
    world = corrupted(rewards=[1, 0], costs=[0.5, 0.2], rounds=3, fake_rewards=[0, 1])
    rewards, costs = draws(world, 8)
    assert rewards.tolist() == [[0, 1]] * 3 + [[1, 0]] * 5
    assert (costs[:, :, 0] == [500_000_000, 200_000_000]).all()
    assert (draws(world, 3, first=10**15)[0] == [1, 0]).all()


@pytest.mark.parametrize("rounds", [1, 7, 10**12])
def test_each_part_draws_what_its_bernoulli_world_draws(rounds: int) -> None:
    true, fake, costs, first = (
        [0.9, 0.6, 0.4],
        [0.1, 0.1, 0.9],
        [0.8, 0.3, 0.25],
        max(1, rounds - 99),
    )
    rewards, _ = draws(corrupted(true, costs, rounds, fake), 200, seed=3, path=2, first=first)
    false_rounds = rounds - first + 1
    assert (
        rewards[:false_rounds]
        == draws(bernoulli(fake, costs), 200, seed=3, path=2, first=first)[0][:false_rounds]
    ).all()
    assert (
        rewards[false_rounds:]
        == draws(bernoulli(true, costs), 200, seed=3, path=2, first=first)[0][false_rounds:]
    ).all()


def test_declares_fixed_costs_and_has_no_mean_to_tell() -> None:
    world = corrupted(rewards=[0.9, 0.1], costs=[0.5, 0.25], rounds=20, fake_rewards=[0.1, 0.9])
    assert world.name == "corrupted"
    assert world.costs is not None
    assert (
        world.costs.tolist()
        == world.cost_min.tolist()
        == world.cost_max.tolist()
        == [[500_000_000], [250_000_000]]
    )
    assert world.reward_means is None
    assert world.efficiencies is None
    assert world.n_rounds is None


def test_several_resources() -> None:
    world = corrupted(rewards=[1, 0], costs=[[1, 2], [0, 4]], rounds=1, fake_rewards=[0, 1])
    assert world.n_resources == 2
    assert (draws(world, 2)[1] / 10**9).tolist() == [[[1, 2], [0, 4]]] * 2


def test_what_the_fixed_arms_earn() -> None:
    world = corrupted(rewards=[1, 0], costs=[0.5, 0.5], rounds=30, fake_rewards=[0, 1])
    assert [
        purse.simulate(f"fixed:arm={arm}", world, budget=50, n_paths=1).gain[0] for arm in (0, 1)
    ] == [70, 30]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_numpy_inputs_and_text_make_the_same_world(kind: type) -> None:
    true: Floats = np.array([0.75, 0.5], kind)
    fake: Floats = np.array([0.25, 1], kind)
    costs: Floats = np.array([0.3, 0.2], kind)
    array = corrupted(true, costs, np.int64(20), fake)
    true[:], fake[:], costs[:] = 0, 0, 1
    text = worlds.make(
        "corrupted:rewards=[.75,.5],costs=[.3,.2],rounds=20,fake_rewards=[.25,1]", budget=1
    )
    assert all(
        np.array_equal(ours, theirs) for ours, theirs in zip(array.tables, text.tables, strict=True)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rounds": 0}, "rounds=0: must be a whole number from 1 to 1000000000000"),
        ({"rounds": -3}, "rounds=-3: must be a whole number from 1 to 1000000000000"),
        ({"rounds": 1.5}, "rounds=1.5: must be a whole number from 1 to 1000000000000"),
        ({"rounds": np.nan}, "rounds=nan: must be a whole number from 1 to 1000000000000"),
        ({"rounds": True}, "rounds=True: must be a whole number from 1 to 1000000000000"),
        ({"rounds": "many"}, "rounds='many': must be a whole number from 1 to 1000000000000"),
        ({"fake_rewards": [0.1]}, "fake_rewards has 1 arms, and rewards has 2"),
        ({"fake_rewards": [0.1, 1.1]}, "fake_rewards=1.1: must lie between 0 and 1"),
        ({"fake_rewards": [0.1, np.nan]}, "fake_rewards=nan: must be a finite number"),
        ({"fake_rewards": []}, "fake_rewards=[]: must have 1 dimension and at least one entry"),
        ({"rewards": [-0.1, 0.5]}, "rewards=-0.1: must lie between 0 and 1"),
        ({"rewards": [[0.1, 0.5]]}, "rewards=[[0.1, 0.5]]: must have 1 dimension"),
        ({"costs": [1]}, "costs of shape (1,) do not match rewards of 2 arms"),
        ({"costs": 1}, "costs of shape () do not match rewards of 2 arms"),
        ({"costs": [1, 0]}, "costs=0: must be positive"),
        ({"costs": [1, -1]}, "costs=-1: must be positive"),
        ({"costs": [1, np.nan]}, "costs=nan: must be a number"),
        ({"costs": [1, "x"]}, "costs='x': must be a number"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=re.escape(message)):
        corrupted(
            **{"rewards": [0.9, 0.1], "costs": [0.5, 0.5], "rounds": 3, "fake_rewards": [0.1, 0.9]}
            | options
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "corrupted:rewards=[.9],costs=[.5],rounds=0,fake_rewards=[.1]",
            "rounds=0: must be a whole number from 1 to 1000000000000",
        ),
        (
            "corrupted:rewards=[.9],costs=[.5],rounds=3,fake_rewards=[.1,.2]",
            "fake_rewards has 2 arms, and rewards has 1",
        ),
        (
            "corrupted:rewards=[.9],costs=[.5]",
            "corrupted needs rounds, fake_rewards; write corrupted:rounds=...,fake_rewards=...",
        ),
        (
            "corrupted:rewards=[.9],costs=[.5],rounds=3,false_rewards=[.1]",
            "unknown option of corrupted 'false_rewards'; did you mean 'fake_rewards'?",
        ),
    ],
    ids=str,
)
def test_refuses_bad_text_by_name(text: str, message: str) -> None:
    with pytest.raises(purse.InvalidInput, match=re.escape(message)):
        worlds.make(text, budget=10)
