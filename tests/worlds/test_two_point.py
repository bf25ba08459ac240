from __future__ import annotations

import numpy as np

from purse.engine.draws import draws
from purse.worlds.two_point import two_point


def test_the_mean_cost_at_an_end_is_a_fixed_cost() -> None:
    rewards, costs = draws(
        two_point(rewards=[0, 1], costs=[2, 5], cost_min=2, cost_max=5), 2_000, seed=1
    )
    assert (rewards == [0, 1]).all()
    assert (costs[:, :, 0] == [2_000_000_000, 5_000_000_000]).all()


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
