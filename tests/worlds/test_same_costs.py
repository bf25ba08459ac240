from __future__ import annotations

import numpy as np
import pytest

import purse
from purse.engine.draws import draws
from purse.worlds.same_costs import same_costs

POLICIES = ["fixed:arm=0", "fixed:arm=1", "uniform", "exp3.bwk", "exp3++.bwk", "exp3++.price"]


def test_tables() -> None:
    tables = same_costs().tables
    assert tables.last.tolist() == [1, 2]
    assert tables.period == 2
    assert tables.rewards.tolist() == [[[1], [0]], [[0], [0.5]]]
    assert tables.costs.tolist() == [[[[1_000_000_000]]] * 2, [[[100_000_000]]] * 2]


@pytest.mark.parametrize("first", [1, 10**15 + 1])
def test_odd_rounds_pay_one_arm_and_even_ones_the_other(
    first: int,
) -> None:
    rewards, units = draws(same_costs(), 6, first=first)
    assert rewards.tolist() == [[1, 0], [0, 0.5]] * 3
    assert units[:, :, 0].tolist() == [[1_000_000_000] * 2, [100_000_000] * 2] * 3


def test_gains_and_sums_of_efficiency_prefer_different_arms() -> None:
    budget = 11_000
    runs = [purse.simulate(f"fixed:arm={arm}", "same_costs", budget, n_paths=1) for arm in (0, 1)]
    np.testing.assert_allclose([run.gain[0] / budget for run in runs], [0.909, 0.4545], atol=1e-4)
    np.testing.assert_allclose(
        [run.efficiency[0] / (run.rounds[0] / 2) for run in runs if run.efficiency is not None],
        [1, 5],
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    ("budget", "rounds"), [(1_100, 2_000), (1_000, 1_818), (1_000.5, 1_818), (10_000, 18_181)]
)
def test_every_player_plays_the_same_number_of_rounds(budget: float, rounds: int) -> None:
    for policy in POLICIES:
        run = purse.simulate(policy, "same_costs", budget, n_paths=10, seed=4)
        assert (run.rounds == rounds).all(), policy
        assert (run.pulls.sum(axis=1) == rounds).all(), policy
