import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import purse
from purse.compiler.kernel import kernel
from purse.engine.draws import draws
from purse.kernels.random import U, at, uniform
from purse.types import Floats, Ints
from purse.worlds.bernoulli import bernoulli
from purse.worlds.table import table
from purse.worlds.two_point import two_point

WORLD = two_point(rewards=[0.9, 0.6, 0.3], costs=[0.6, 0.3, 0.9], cost_min=0.2)


def test_shapes_and_types() -> None:
    rewards, costs = draws(bernoulli(rewards=[0.5, 0.5], costs=[[1, 2, 3], [4, 5, 6]]), 7)
    assert (rewards.shape, rewards.dtype, costs.shape, costs.dtype) == (
        (7, 2),
        np.float64,
        (7, 2, 3),
        np.int64,
    )


def test_rounds_can_be_read_from_anywhere() -> None:
    whole, part = draws(WORLD, 100, seed=2, path=3), draws(WORLD, 40, seed=2, path=3, first=61)
    assert (whole[0][60:] == part[0]).all()
    assert (whole[1][60:] == part[1]).all()


@pytest.mark.parametrize("arm", [0, 1, 2])
def test_the_loop_meets_exactly_these_draws(arm: int) -> None:
    run = purse.simulate(f"fixed:arm={arm}", WORLD, budget=50, n_paths=100, seed=4)
    for path in (0, 1, 99):
        n = int(run.rounds[path])
        rewards, costs = draws(WORLD, n + 1, seed=4, path=path)
        assert run.gain[path] == rewards[:n, arm].sum()
        assert run.spent_units[path, 0] == costs[:n, arm].sum()
        assert costs[: n + 1, arm].sum() > 50 * 10**9


@kernel
def ramp(key: U, tables: Any, t: int, arm: int, cost: Ints) -> float:
    cost[0] = tables.costs[0, arm, 0, 0] * (1 + t % 2)
    return 0.5 if uniform(at(key, t), arm) < 1.0 else 0.0


def test_a_world_may_bring_a_draw_of_its_own() -> None:
    world = bernoulli(rewards=[1, 1], costs=[1, 2])
    own = replace(world, draw=ramp, cost_max=world.cost_max * 2, costs=None)
    rewards, costs = draws(own, 3)
    assert (rewards == 0.5).all()
    assert (costs[:, :, 0] // 10**9).tolist() == [[2, 4], [1, 2], [2, 4]]
    run = purse.simulate("fixed", own, budget=6, n_paths=1)
    assert (run.rounds.tolist(), run.gain.tolist(), run.spent.tolist()) == ([4], [2.0], [[6.0]])


PAST_THE_END = """
import purse
from purse.engine.draws import draws
try:
    draws(purse.worlds.table(rewards=[[1], [0]], costs=[1], shuffle=True), 3)
except purse.PurseError:
    pass
"""


def test_asking_a_shuffled_table_for_more_rounds_than_it_has_does_not_hang() -> None:
    subprocess.run([sys.executable, "-c", PAST_THE_END], check=True, timeout=120)


def test_draws_are_writable_copies() -> None:
    first: Floats = draws(table(rewards=[[1, 0]], costs=[1, 1]), 1)[0]
    first[:] = 9
    assert draws(table(rewards=[[1, 0]], costs=[1, 1]), 1)[0].tolist() == [[1, 0]]
