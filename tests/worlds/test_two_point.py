from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.two_point import two_point


def test_declares_both_costs_and_the_means() -> None:
    world = two_point(rewards=[0.5, 1.0], costs=[0.55, 0.1], cost_min=0.1)
    assert world.costs is None
    assert world.cost_min.tolist() == [[100_000_000], [100_000_000]]
    assert world.cost_max.tolist() == [[1_000_000_000], [100_000_000]]
    assert world.reward_means is not None
    assert world.cost_means is not None
    np.testing.assert_allclose(world.reward_means, [0.5, 1.0])
    np.testing.assert_allclose(world.cost_means, [[0.55], [0.1]])


def test_the_mean_cost_at_an_end_is_a_fixed_cost() -> None:
    rewards, costs = draws(
        two_point(rewards=[0, 1], costs=[2, 5], cost_min=2, cost_max=5), 2_000, seed=1
    )
    assert (rewards == [0, 1]).all()
    assert (costs[:, :, 0] == [2_000_000_000, 5_000_000_000]).all()


def test_equal_bounds_are_a_fixed_cost() -> None:
    world = two_point(rewards=[0.5], costs=[0.3], cost_min=0.3, cost_max=0.3)
    assert world.costs is not None
    assert world.costs.tolist() == [[300_000_000]]
    assert (draws(world, 100)[1] == 300_000_000).all()


def test_rewards_and_costs_match_their_means_and_are_independent() -> None:
    n = 40_000
    rewards, units = draws(
        two_point(rewards=[0.9, 0.3], costs=[0.6, 0.28], cost_min=0.2), n, seed=4
    )
    dear = units[:, :, 0] == 1_000_000_000
    assert set(np.unique(units)) == {200_000_000, 1_000_000_000}
    for arm, (pays, costs_most) in enumerate([(0.9, 0.5), (0.3, 0.1)]):
        assert abs(rewards[:, arm].mean() - pays) < 4 * np.sqrt(pays * (1 - pays) / n)
        assert abs(dear[:, arm].mean() - costs_most) < 4 * np.sqrt(
            costs_most * (1 - costs_most) / n
        )
        assert abs(np.corrcoef(rewards[:, arm], dear[:, arm])[0, 1]) < 4 / np.sqrt(n)


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"rewards": [1.5]}, "rewards=1.5"),
        ({"rewards": [np.nan]}, "rewards=nan"),
        ({"rewards": []}, "rewards="),
        ({"costs": [0.05]}, "costs=.*between cost_min=0.1 and cost_max=1"),
        ({"costs": [1.2]}, "costs=.*between cost_min=0.1 and cost_max=1"),
        ({"costs": [np.nan]}, "costs=nan"),
        ({"costs": [0.5, 0.5]}, "costs of shape"),
        ({"costs": 0.5}, "costs of shape"),
        ({"costs": [[0.5, 0.5]]}, "costs"),
        ({"cost_min": 0}, "cost_min=.*must be positive"),
        ({"cost_min": -0.1}, "cost_min=.*must be positive"),
        ({"cost_min": np.nan}, "cost_min=nan"),
        ({"cost_min": 0.6, "cost_max": 0.5}, "cost_min=0.6: must be at most cost_max=0.5"),
        ({"cost_max": np.inf}, "cost_max=inf"),
        ({"cost_max": "much"}, "cost_max='much'"),
    ],
    ids=str,
)
def test_refuses_bad_input_by_name(options: dict[str, Any], field: str) -> None:
    with pytest.raises(purse.InvalidInput, match=field):
        two_point(**{"rewards": [0.5], "costs": [0.5], "cost_min": 0.1} | options)
