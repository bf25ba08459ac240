from __future__ import annotations

import numpy as np

from purse.engine.draws import draws
from purse.worlds.misleading_ratio import misleading_ratio


def test_the_mean_ratio_favours_one_arm_and_the_ratio_of_means_the_other() -> None:
    n = 40_000
    rewards, units = draws(misleading_ratio(), n, seed=10)
    costs = units[:, :, 0] / 10**9
    ratios = rewards / costs
    band = 4 * ratios.std(axis=0) / np.sqrt(n)
    assert (np.abs(ratios.mean(axis=0) - [2.75, 1.2]) < band).all()
    means = rewards.mean(axis=0) / costs.mean(axis=0)
    assert means[0] < 0.95
    assert means[1] > 1.15


def test_reward_and_cost_of_the_first_arm_are_independent() -> None:
    n = 40_000
    rewards, units = draws(misleading_ratio(), n, seed=11)
    for reward in (0, 1):
        for cost in (100_000_000, 1_000_000_000):
            share = ((rewards[:, 0] == reward) & (units[:, 0, 0] == cost)).mean()
            assert abs(share - 0.25) < 4 * np.sqrt(0.25 * 0.75 / n)
