from __future__ import annotations

import math

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.testing import check_world
from purse.worlds.similar_costs import similar_costs


def test_means() -> None:
    # n = 2500, x = sqrt(0.1 * 2 / 80,000)
    world = similar_costs(n_arms=2, budget=1000, cost_min=0.1, best=1)
    gap = math.sqrt(0.2 / 80_000)
    assert world.reward_means is not None
    assert world.cost_means is not None
    assert world.reward_means.tolist() == [1, 1]
    assert world.cost_means[:, 0] == pytest.approx([0.19, 0.19 - 0.9 * gap])


def test_draws_cost_much_or_little() -> None:
    world = similar_costs(n_arms=3, budget=64, cost_min=0.25)
    check_world(world)
    rewards, units = draws(world, 40_000, seed=1)
    assert (rewards == 1).all()
    assert set(np.unique(units)) == {250_000_000, 1_000_000_000}
    dear = (units[:, :, 0] == 1_000_000_000).mean(axis=0)
    gap = math.sqrt(0.25 * 3 / (32 * 64))
    expected = np.array([0.25 - gap, 0.25, 0.25])
    assert (np.abs(dear - expected) < 4 * np.sqrt(expected * (1 - expected) / 40_000)).all()


def test_the_best_arm_is_dear_half_as_often_at_least() -> None:
    world = similar_costs(n_arms=1000, budget=1, cost_min=0.5)
    assert world.cost_means is not None
    assert world.cost_means[:2, 0] == pytest.approx([0.25 + 0.75 * 0.5, 0.75])


def test_refusals() -> None:
    with pytest.raises(purse.InvalidInput, match=r"cost_min=0.6: must be a number"):
        similar_costs(n_arms=2, budget=100, cost_min=0.6)
    with pytest.raises(purse.InvalidInput, match="n_arms=1: must be a whole number from 2"):
        similar_costs(n_arms=1, budget=100, cost_min=0.5)
    with pytest.raises(purse.InvalidInput, match="best=2: must be a whole number from 0 to 1"):
        similar_costs(n_arms=2, budget=100, cost_min=0.5, best=2)
