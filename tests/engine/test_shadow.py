from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.engine.shadow import BLOCK, shadows
from purse.environments import bernoulli, make, table, two_point
from purse.jit import kernel
from purse.random import U, at, uniform
from purse.types import Floats, Ints, World

RANDOM = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)
SHUFFLED = table(rewards=[[1, 0], [0, 1], [0.5, 0.25], [1, 1], [0, 0]], costs=[[4, 1], [1, 2], [0.5, 0.1], [1, 1], [3, 3]], shuffle=True)


def summed(world: World, rounds: Ints, seed: int) -> list[list[float]]:
    """The same in plain Python, from the tables of draws."""
    rows = []
    for path, n in enumerate(rounds.tolist()):
        rewards, units = draws(world, n, seed=seed, path=path)
        rows.append([math.fsum(r / (u / 1e9) for r, u in zip(rewards[:, i].tolist(), units[:, i, 0].tolist(), strict=True)) for i in range(world.n_arms)])
    return rows


@pytest.mark.parametrize(
    ("world", "most"),
    [
        (RANDOM, 200),
        (SHUFFLED, 5),
        (bernoulli(rewards=[0.5], costs=[0.3]), 200),
        (bernoulli(rewards=[0.9, 0.1], costs=[1e-9, 1e6]), 200),
        ("misleading_ratio", 200),
        ("same_costs", 200),
        ("switching:segments=[7,3],rewards=[[.9,.1],[.1,.9]],costs=[[.5,.2],[.1,.1]]", 200),
        ("beta:rewards=[.7,.5,.3],costs=[.6,.3,.25],concentration=4,cost_min=.1", 200),
        ("two_worlds:world=2", 200),
        ("theorem5", 200),
    ],
    ids=lambda value: value.name if isinstance(value, World) else str(value),
)
def test_they_are_the_sums_over_the_draws(world: str | World, most: int) -> None:
    place = make(world, 100)
    rounds = np.random.default_rng(0).integers(0, most + 1, 11)
    sums = shadows(place, rounds, seed=3)
    assert (sums.shape, sums.dtype) == ((11, place.n_arms), np.float64)
    np.testing.assert_allclose(sums, summed(place, rounds, 3), rtol=1e-12)


def test_a_table_summed_to_its_end_is_the_same_on_every_path_in_whatever_order() -> None:
    sums = shadows(SHUFFLED, np.full(20, 5), seed=1)
    np.testing.assert_allclose(sums, np.broadcast_to([1 / 4 + 0.5 / 0.5 + 1 / 1, 1 / 2 + 0.25 / 0.1 + 1 / 1], (20, 2)))
    assert len(np.unique(shadows(SHUFFLED, np.full(20, 2), seed=1), axis=0)) > 5


@pytest.mark.parametrize("n_paths", [1, BLOCK - 1, BLOCK, BLOCK + 1, 5 * BLOCK + 3])
def test_neither_workers_nor_other_paths_change_a_number(n_paths: int) -> None:
    rounds = np.random.default_rng(1).integers(0, 300, 5 * BLOCK + 3)
    whole = shadows(RANDOM, rounds, seed=2, n_workers=1)
    for n_workers in (None, 1, 2, 3, 50):
        assert (shadows(RANDOM, rounds[:n_paths], seed=2, n_workers=n_workers) == whole[:n_paths]).all()


def test_another_seed_and_another_path_meet_other_draws() -> None:
    first, other = (shadows(RANDOM, np.full(9, 100), seed=seed) for seed in (0, 1))
    assert (first != other).all()
    assert len(np.unique(first[:, 0])) == 9


def test_without_rounds_nothing_is_summed() -> None:
    assert shadows(RANDOM, np.zeros(6, np.int64), seed=0).tolist() == [[0, 0, 0]] * 6
    assert shadows(RANDOM, np.array([0, 5, 0]), seed=0)[[0, 2]].tolist() == [[0, 0, 0]] * 2


def test_without_paths_there_are_no_rows() -> None:
    assert shadows(RANDOM, np.zeros(0, np.int64), seed=0).shape == (0, 3)


def test_the_rounds_that_were_asked_about_are_left_alone() -> None:
    rounds = np.array([3, 1, 4])
    rounds.setflags(write=False)
    shadows(RANDOM, rounds, seed=0)
    assert rounds.tolist() == [3, 1, 4]


@kernel
def stairs(key: U, tables: Any, t: int, arm: int, cost: Ints) -> float:
    """Pays 1/2 for certain, at a cost that climbs with the rounds and doubles with the arm."""
    cost[0] = 1_000_000_000 * t * (arm + 1)
    return 0.5 if uniform(at(key, t), arm) < 1.0 else 0.0


def test_a_world_may_bring_a_draw_of_its_own() -> None:
    world = bernoulli(rewards=[1, 1], costs=[1, 2])
    own = replace(world, draw=stairs, cost_max=world.cost_max * 1_000, costs=None, reward_means=None, cost_means=None)
    halves = [0, 0.5, 0.5 * (1 + 1 / 2), 0.5 * (1 + 1 / 2 + 1 / 3)]  # after 0, 1, 2 and 3 rounds
    np.testing.assert_allclose(shadows(own, np.arange(4), seed=0), [[half, half / 2] for half in halves])
    np.testing.assert_allclose(shadows(world, np.array([3]), seed=0), [[3, 1.5]])


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_a_fixed_arm_finds_its_own_efficiency_in_its_shadow(arm: int) -> None:
    run = purse.simulate(f"fixed:arm={arm}", RANDOM, budget=60, n_paths=7, seed=5)
    ours: Floats | None = run.efficiency
    assert ours is not None
    np.testing.assert_allclose(shadows(RANDOM, run.rounds, seed=5)[:, arm], ours, rtol=1e-12)
