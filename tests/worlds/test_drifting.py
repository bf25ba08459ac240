from __future__ import annotations

import numpy as np
import pytest

from purse import worlds
from purse.engine.draws import draws
from purse.worlds.drifting import MOST_STEPS, drifting
from purse.worlds.switching import switching
from tests.worlds import same_tables


def test_tables() -> None:
    world = drifting(rounds=4, rewards=[[0, 1, 0.5], [1, 0, 0.5]], costs=[0.5, 0.25, 1])
    assert world.tables.last.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert world.tables.period == 8
    up = [0, 0.25, 0.5, 0.75, 1, 0.75, 0.5, 0.25]
    assert (world.tables.below[:, :, 0] / 2**53).T.tolist() == [
        up,
        [1 - mean for mean in up],
        [0.5] * 8,
    ]
    assert (
        world.tables.costs[:, :, :, 0]
        == np.array([500_000_000, 250_000_000, 1_000_000_000])[:, None]
    ).all()


def test_three_rows_go_from_the_last_back_to_the_first() -> None:
    world = drifting(rounds=2, rewards=[[0], [1], [0.5]], costs=[[1], [3], [0.5]])
    assert (world.tables.below[:, 0, 0] / 2**53).tolist() == [0, 0.5, 1, 0.75, 0.5, 0.25]
    assert (world.tables.costs[:, 0, 0, 0] / 10**9).tolist() == [1, 2, 3, 1.75, 0.5, 0.75]
    assert world.tables.period == 6


def test_one_round_is_a_switch_in_every_round() -> None:
    rewards, costs = [[0.3, 0.7], [0.9, 0.2], [0.5, 0.1]], [[0.5, 0.4], [0.3, 0.2], [0.1, 0.6]]
    assert same_tables(drifting(1, rewards, costs), switching(1, rewards, costs))


def test_ends_of_the_way_are_certain_and_come_again() -> None:
    world = drifting(rounds=3, rewards=[[0, 1], [1, 0]], costs=[1, 1])
    rewards, _ = draws(world, 600, seed=2)
    assert (rewards[::6] == [0, 1]).all()
    assert (rewards[3::6] == [1, 0]).all()
    assert (draws(world, 1, seed=2, first=6 * 10**12 + 1)[0] == [0, 1]).all()


def test_costs_between_are_rounded_to_the_nearest_unit() -> None:
    _, units = draws(drifting(rounds=3, rewards=[[1], [0]], costs=[[1], [0.5]]), 6)
    assert units[:, 0, 0].tolist() == [
        1_000_000_000,
        833_333_333,
        666_666_667,
        500_000_000,
        666_666_667,
        833_333_333,
    ]


def test_several_resources_drift_apart() -> None:
    world = drifting(rounds=2, rewards=[[1, 0], [0, 1]], costs=[[[1, 0], [3, 4]], [[5, 6], [7, 4]]])
    assert world.n_resources == 2
    assert (draws(world, 4)[1] / 10**9).tolist() == [
        [[1, 0], [3, 4]],
        [[3, 3], [5, 4]],
        [[5, 6], [7, 4]],
        [[3, 3], [5, 4]],
    ]


@pytest.mark.parametrize("length", [1, 999, 1_000, 1_001, 1_999, 2_500, 10**11 + 7, 10**12])
def test_long_ways_have_a_thousand_equal_steps(length: int) -> None:
    world = drifting(rounds=length, rewards=[[0, 1], [1, 0]], costs=[1, 1])
    steps = min(length, MOST_STEPS)
    ends = [
        number * length + (step * length) // steps
        for number in range(2)
        for step in range(1, steps + 1)
    ]
    assert world.tables.last.tolist() == ends
    assert world.tables.period == ends[-1] == 2 * length
    lengths = np.diff([0, *ends])
    assert lengths.max() - lengths.min() <= 1
    chances = world.tables.below[:, 0, 0] / 2**53
    np.testing.assert_allclose(
        chances,
        np.concatenate([np.arange(steps), np.arange(steps, 0, -1)]) / steps,
        rtol=0,
        atol=2**-52,
    )


def test_where_one_arms_cost_changes_that_of_another_stays_exact() -> None:
    world = worlds.drifting(
        7,
        [[0.5, 0.5], [1, 0.5]],
        [["0.1", "4000000000.000000001"], ["0.2", "4000000000.000000001"]],
    )
    assert set(world.tables.costs[:, 1].ravel().tolist()) == {4 * 10**18 + 1}
    steady = worlds.drifting(7, [[0.5], [1], [0]], ["4000000000.000000001"])
    assert steady.costs.tolist() == [[4 * 10**18 + 1]]
    assert sorted(set(world.tables.costs[:, 0].ravel().tolist())) == [
        round(10**8 + 10**8 * step / 7) for step in range(8)
    ]


@pytest.mark.parametrize("mean", [0, 1e-300, 0.1, 1 / 3, 1])
def test_means_that_stay_are_accepted_to_the_last_bit(mean: float) -> None:
    world = drifting(rounds=997, rewards=[[mean], [mean], [mean]], costs=[1])
    np.testing.assert_allclose(world.tables.below[:, 0, 0] / 2**53, mean, rtol=1e-15, atol=2**-53)
