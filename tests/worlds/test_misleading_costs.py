from __future__ import annotations

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.misleading_costs import misleading_costs

BUDGETS = [100, 1_000, 10_000]


def shares(policy: str) -> tuple[list[float], list[float]]:
    """The share of arm 0 in all pulls for each budget, and its standard error."""
    paths = 60
    runs = [
        purse.simulate(policy, "misleading_costs", budget, n_paths=paths, seed=4)
        for budget in BUDGETS
    ]
    each = [run.pulls[:, 0] / run.pulls.sum(axis=1) for run in runs]
    return [share.mean() for share in each], [share.std(ddof=1) / np.sqrt(paths) for share in each]


def test_rewards_have_no_noise_and_one_cost_is_a_fair_coin() -> None:
    n = 40_000
    rewards, units = draws(misleading_costs(), n, seed=10)
    assert (rewards == [0.5, 1]).all()
    assert (units[:, 1, 0] == 500_000_000).all()
    assert set(units[:, 0, 0]) == {100_000_000, 1_000_000_000}
    assert abs((units[:, 0, 0] == 100_000_000).mean() - 0.5) < 4 * np.sqrt(0.25 / n)


def test_the_mean_ratio_favours_one_arm_and_the_ratio_of_means_the_other() -> None:
    n = 40_000
    rewards, units = draws(misleading_costs(), n, seed=11)
    ratios = rewards / (units[:, :, 0] / 10**9)
    assert abs(ratios[:, 0].mean() - 2.75) < 4 * ratios[:, 0].std() / np.sqrt(n)
    np.testing.assert_allclose(ratios[:, 1], 2, rtol=1e-15)


def test_what_the_fixed_arms_earn() -> None:
    budget, paths = 1_000, 100
    first, second = (
        purse.simulate(f"fixed:arm={arm}", "misleading_costs", budget, n_paths=paths, seed=2).gain
        / budget
        for arm in (0, 1)
    )
    assert (second == 2).all()
    assert abs(first.mean() - 0.5 / 0.55) < 4 * first.std(ddof=1) / np.sqrt(paths) + 0.5 / budget


@pytest.mark.parametrize("policy", ["exp3.bwk", "exp3++.bwk"])
def test_who_averages_ratios_goes_to_the_wrong_arm_as_the_budget_grows(policy: str) -> None:
    share, error = shares(policy)
    assert all(
        share[i + 1] - share[i] > 4 * np.hypot(error[i], error[i + 1])
        for i in range(len(BUDGETS) - 1)
    )
    assert share[-1] > 0.65


def test_who_prices_costs_leaves_the_wrong_arm_as_the_budget_grows() -> None:
    share, error = shares("exp3++.price")
    assert all(
        share[i] - share[i + 1] > 4 * np.hypot(error[i], error[i + 1])
        for i in range(len(BUDGETS) - 1)
    )
    assert share[-1] < 0.05
