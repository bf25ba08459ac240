from __future__ import annotations

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.table import table


def numbered(n_rows: int) -> purse.lab.World:
    return table(rewards=np.arange(n_rows)[:, None] / n_rows, costs=[1], shuffle=True)


def test_gives_the_rows_back_in_order() -> None:
    rewards, costs = [[1, 0.25], [0, 0.5], [0.125, 1]], [[0.5, 0.2], [0.4, 0.3], [1, 1]]
    world = table(rewards, costs)
    seen, units = draws(world, 3, seed=9, path=4)
    assert world.n_rounds == 3
    assert seen.tolist() == rewards
    assert (units[:, :, 0] / 10**9).tolist() == costs
    one = table(rewards=[[0.5]], costs=[[0.25]], shuffle=True)
    assert one.n_rounds == 1
    assert draws(one, 1)[0].tolist() == [[0.5]]


def test_declares_the_cheapest_and_dearest_row_of_each_arm_and_no_means() -> None:
    world = table(rewards=[[1, 0], [0, 1]], costs=[[0.5, 0.2], [0.4, 0.3]])
    assert world.cost_min.tolist() == [[400_000_000], [200_000_000]]
    assert world.cost_max.tolist() == [[500_000_000], [300_000_000]]
    assert world.costs is None
    assert world.reward_means is None
    assert world.efficiencies is None


def test_costs_per_arm_hold_for_all_rows_and_are_declared_fixed() -> None:
    world = table(rewards=[[1, 0], [0, 1], [1, 1]], costs=[0.5, 0.2])
    assert world.costs is not None
    assert world.costs.tolist() == [[500_000_000], [200_000_000]]
    assert (draws(world, 3)[1][:, :, 0] == [500_000_000, 200_000_000]).all()


def test_one_row_has_no_means_because_it_does_not_come_again() -> None:
    world = table(rewards=[[0.5, 1]], costs=[[0.25, 1]])
    assert world.reward_means is world.cost_means is world.efficiencies is None
    assert world.costs is not None
    with pytest.raises(purse.InvalidInput, match="oracle needs the true mean efficiency"):
        purse.simulate("oracle", world, budget=10)


def test_a_third_axis_of_costs_is_resources() -> None:
    costs = np.arange(1, 13).reshape(2, 2, 3)
    world = table(rewards=[[1, 0], [0, 1]], costs=costs)
    assert world.n_resources == 3
    assert (draws(world, 2)[1] == costs * 10**9).all()


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 15, 16, 17, 64, 100, 1_000])
def test_a_shuffled_path_meets_each_row_exactly_once(n_rows: int) -> None:
    world = numbered(n_rows)
    for path in range(5):
        rewards, _ = draws(world, n_rows, path=path)
        assert np.sort(rewards[:, 0]).tolist() == (np.arange(n_rows) / n_rows).tolist()


def test_a_shuffle_keeps_the_arms_of_a_row_together() -> None:
    rewards = np.stack([np.arange(50) / 100, np.arange(50) / 100 + 0.5], axis=1)
    seen, costs = draws(table(rewards, costs=rewards + 0.5, shuffle=True), 50)
    np.testing.assert_allclose(seen[:, 1] - seen[:, 0], 0.5)
    np.testing.assert_allclose(costs[:, :, 0] / 10**9, seen + 0.5)


def test_each_path_and_each_seed_has_an_order_of_its_own() -> None:
    orders = {
        tuple(draws(numbered(50), 50, seed=seed, path=path)[0][:, 0].tolist())
        for seed in range(5)
        for path in range(20)
    }
    assert len(orders) == 100


def test_every_row_is_equally_likely_to_come_first() -> None:
    n_rows, n_paths = 5, 10_000
    run = purse.simulate("fixed", numbered(n_rows), budget=1, n_paths=n_paths, seed=3)
    share = np.array([(run.gain == row / n_rows).mean() for row in range(n_rows)])
    assert (np.abs(share - 0.2) < 4 * np.sqrt(0.2 * 0.8 / n_paths)).all()
