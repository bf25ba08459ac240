from __future__ import annotations

import numpy as np

from purse.engine.draws import draws
from purse.worlds.bernoulli import bernoulli


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
