from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.bernoulli import bernoulli


def test_declares_fixed_costs_and_means() -> None:
    world = bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
    assert world.name == "bernoulli"
    assert (world.n_arms, world.n_resources, world.n_rounds, world.horizon) == (2, 1, None, None)
    assert world.costs is not None
    assert (
        world.costs.tolist()
        == world.cost_min.tolist()
        == world.cost_max.tolist()
        == [[800_000_000], [300_000_000]]
    )
    assert world.reward_means is not None
    assert world.reward_means.tolist() == [0.9, 0.6]
    assert world.efficiencies is not None
    np.testing.assert_allclose(world.efficiencies, [1.125, 2.0])


def test_mean_zero_never_pays_and_mean_one_always_does() -> None:
    rewards, costs = draws(bernoulli(rewards=[0, 1], costs=[0.5, "0.25"]), 2_000, seed=1)
    assert (rewards == [0, 1]).all()
    assert (costs[:, :, 0] == [500_000_000, 250_000_000]).all()


def test_pays_as_often_as_its_means_say() -> None:
    means, n = np.array([0.9, 0.5, 0.07]), 40_000
    rewards, _ = draws(bernoulli(rewards=means, costs=[1, 1, 1]), n, seed=2)
    assert set(np.unique(rewards)) == {0.0, 1.0}
    assert (np.abs(rewards.mean(axis=0) - means) < 4 * np.sqrt(means * (1 - means) / n)).all()


def test_arms_pay_independently() -> None:
    rewards, _ = draws(bernoulli(rewards=[0.5, 0.5], costs=[1, 1]), 40_000, seed=3)
    assert abs(np.asarray(np.corrcoef(rewards.T))[0, 1]) < 4 / np.sqrt(40_000)


def test_several_resources_each_have_their_cost() -> None:
    world = bernoulli(rewards=[0.5, 0.5], costs=[[0.1, 2], [0, 3]])
    assert world.n_resources == 2
    _, costs = draws(world, 5)
    assert (costs == np.array([[100_000_000, 2_000_000_000], [0, 3_000_000_000]])).all()
    assert world.cost_means is not None
    np.testing.assert_allclose(world.cost_means, [[0.1, 2], [0, 3]])


@pytest.mark.parametrize(
    ("rewards", "costs", "field"),
    [
        ([1.1, 0.5], [1, 1], "rewards=1.1"),
        ([-0.1, 0.5], [1, 1], "rewards=-0.1"),
        ([np.nan, 0.5], [1, 1], "rewards=nan"),
        ([np.inf, 0.5], [1, 1], "rewards=inf"),
        (["high", 0.5], [1, 1], "rewards="),
        ([[0.5, 0.5]], [1, 1], "rewards="),
        ([], [], "rewards="),
        (0.5, 1, "rewards="),
        ([0.5, 0.5], [0, 1], "costs=.*must be positive"),
        ([0.5, 0.5], [1, -0.5], "costs=.*must be positive"),
        ([0.5, 0.5], [1, np.nan], "costs=nan"),
        ([0.5, 0.5], [1, np.inf], "costs=inf"),
        ([0.5, 0.5], [1, "dear"], "costs='dear'"),
        ([0.5, 0.5], [1, "0.0000000001"], "costs='0.0000000001'"),
        ([0.5, 0.5], [1e-10, 1], "costs=.*must be positive"),
        ([0.5, 0.5], [1, 1, 1], "costs of shape"),
        ([0.5, 0.5], 1, "costs of shape"),
        ([0.5, 0.5], [[1], [1, 2]], "costs="),
        ([0.5, 0.5], [[0, 0], [1, 1]], "costs=.*each arm needs a resource"),
        ([0.5, 0.5], [[-1, 1], [1, 1]], "costs=-1"),
        ([0.5, 0.5], np.ones((2, 0)), "costs"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(rewards: Any, costs: Any, field: str) -> None:
    with pytest.raises(purse.InvalidInput, match=field):
        bernoulli(rewards=rewards, costs=costs)
