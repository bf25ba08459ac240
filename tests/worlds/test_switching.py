from __future__ import annotations

import numpy as np

from purse.engine.draws import draws
from purse.worlds.switching import switching


def test_segments_follow_each_other_and_come_again() -> None:
    world = switching(segments=[3, 1, 2], rewards=[[1, 0], [0, 0], [0, 1]], costs=[0.5, 0.25])
    rewards, costs = draws(world, 14)
    assert rewards[:, 0].tolist() == [1, 1, 1, 0, 0, 0] * 2 + [1, 1]
    assert rewards[:, 1].tolist() == [0, 0, 0, 0, 1, 1] * 2 + [0, 0]
    assert (costs[:, :, 0] == [500_000_000, 250_000_000]).all()
    assert world.costs is not None
    assert world.n_rounds is None


def test_far_rounds_keep_the_period() -> None:
    world = switching(segments=[3, 1, 2], rewards=[[1, 0], [0, 0], [0, 1]], costs=[1, 1])
    assert (draws(world, 12)[0] == draws(world, 12, first=6 * 10**9 + 1)[0]).all()


def test_one_length_stands_for_all_segments() -> None:
    rewards, _ = draws(switching(segments=2, rewards=[[1], [0], [0.0]], costs=[1]), 12)
    assert rewards[:, 0].tolist() == [1, 1, 0, 0, 0, 0] * 2


def test_costs_may_change_with_the_segment() -> None:
    world = switching(segments=[1, 2], rewards=[[1], [0]], costs=[[0.5], [0.25]])
    assert (draws(world, 6)[1][:, 0, 0] / 10**9).tolist() == [0.5, 0.25, 0.25] * 2


def test_several_resources() -> None:
    costs = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    world = switching(segments=[1, 1], rewards=[[1, 0], [0, 1]], costs=costs)
    assert world.n_resources == 2
    assert (draws(world, 2)[1] / 10**9).tolist() == costs


def test_a_single_segment_has_means() -> None:
    world = switching(segments=5, rewards=[[0.4, 0.8]], costs=[1, 2])
    assert world.efficiencies is not None
    np.testing.assert_allclose(world.efficiencies, [0.4, 0.4])


def test_each_segment_pays_as_often_as_its_means_say() -> None:
    means, length, periods = np.array([[0.9, 0.2], [0.3, 0.6]]), 50, 400
    rewards, _ = draws(
        switching(segments=length, rewards=means, costs=[1, 1]), 2 * length * periods, seed=8
    )
    seen = rewards.reshape(periods, 2, length, 2).mean(axis=(0, 2))
    assert (np.abs(seen - means) < 4 * np.sqrt(means * (1 - means) / (periods * length))).all()
