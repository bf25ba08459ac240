from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import purse
from purse.engine.draws import draws
from purse.worlds._tables import FOREVER
from purse.worlds.spend_or_save import spend_or_save

BUDGET = 2_000


def regrets(
    policy: str,
    later: float,
    *,
    cost_min: float = 0.1,
    fixed_costs: bool = False,
    n_paths: int = 100,
) -> NDArray[np.float64]:
    """(P,) Regret against the best fixed arm as a part of the budget."""
    world = spend_or_save(BUDGET, cost_min, later, fixed_costs)
    best = max(
        purse.simulate(f"fixed:arm={arm}", world, BUDGET, n_paths=1).gain[0] for arm in (0, 1)
    )
    return (best - purse.simulate(policy, world, BUDGET, n_paths=n_paths, seed=3).gain) / BUDGET


def test_tables() -> None:
    tables = spend_or_save(budget=100, cost_min=0.25, later=0.75).tables
    assert tables.last.tolist() == [50, FOREVER]
    assert tables.period == 0
    assert tables.rewards[:, :, 0].tolist() == [[0, 1], [0.75, 0.75]]
    assert tables.costs[:, :, 0, 0].tolist() == [
        [250_000_000, 1_000_000_000],
        [250_000_000, 250_000_000],
    ]


def test_tables_with_fixed_costs() -> None:
    tables = spend_or_save(budget=100, cost_min=0.25, later=0.75, fixed_costs=True).tables
    assert tables.last.tolist() == [50, FOREVER]
    assert tables.rewards[:, :, 0].tolist() == [[0, 1], [0.75, 0]]
    assert tables.costs[:, :, 0, 0].tolist() == [[250_000_000, 1_000_000_000]] * 2


@pytest.mark.parametrize(("budget", "half"), [(2, 1), (3, 1), (10, 5), (11, 5), (10.0, 5)])
@pytest.mark.parametrize("later", [0, 0.5, 1])
def test_the_second_half_begins_after_half_of_the_budget_and_does_not_end(
    budget: float, half: int, later: float
) -> None:
    world = spend_or_save(budget, later=later)
    rewards, units = draws(world, half + 3)
    assert rewards.tolist() == [[0, 1]] * half + [[later, later]] * 3
    assert (
        units[:, :, 0].tolist() == [[100_000_000, 1_000_000_000]] * half + [[100_000_000] * 2] * 3
    )
    assert draws(world, 2, first=10**15)[0].tolist() == [[later, later]] * 2


def test_with_fixed_costs_the_dear_arm_stays_dear_and_stops_paying() -> None:
    rewards, units = draws(spend_or_save(budget=4, fixed_costs=True), 5)
    assert rewards.tolist() == [[0, 1]] * 2 + [[1, 0]] * 3
    assert (units[:, :, 0] == [100_000_000, 1_000_000_000]).all()


@pytest.mark.parametrize("cost", [0.05, 0.1, 0.2, 0.25, 0.5])
def test_regret_of_the_fixed_arms_is_what_the_formulas_say(cost: float) -> None:
    for arm, spent in ((0, 0), (1, 1)):
        np.testing.assert_allclose(
            regrets(f"fixed:arm={arm}", 0, cost_min=cost, n_paths=1), (1 - spent) / 2, rtol=1e-12
        )
        np.testing.assert_allclose(
            regrets(f"fixed:arm={arm}", 1, cost_min=cost, n_paths=1),
            spent * (1 / (2 * cost) - 1),
            rtol=1e-12,
            atol=1e-12,
        )


def test_regret_of_the_fixed_arms_with_fixed_costs() -> None:
    assert [
        regrets(f"fixed:arm={arm}", later, fixed_costs=True, n_paths=1)[0]
        for later in (0, 1)
        for arm in (0, 1)
    ] == [0.5, 0, 0, 9]


@pytest.mark.parametrize(("later", "expected"), [(0, 1 / 4), (1, 1 / 2 * (1 / 0.2 - 1))])
def test_uniform_has_the_regret_of_half_the_first_rounds_on_each_arm(
    later: float, expected: float
) -> None:
    paths = 400
    found = regrets("uniform", later, n_paths=paths)
    assert abs(found.mean() - expected) < 4 * found.std(ddof=1) / np.sqrt(paths)


@pytest.mark.parametrize("policy", ["uniform", "exp3.bwk", "exp3++.bwk", "exp3++.price"])
def test_on_each_path_both_regrets_come_from_the_same_first_rounds(policy: str) -> None:
    part = 1 - 2 * regrets(policy, 0)  # of the first rounds on arm 1
    assert ((part >= 0) & (part <= 1)).all()
    np.testing.assert_allclose(regrets(policy, 1), part * (1 / 0.2 - 1), rtol=1e-9)


@pytest.mark.parametrize("fixed_costs", [False, True])
@pytest.mark.parametrize("policy", ["exp3.bwk", "exp3++.bwk", "uniform"])
def test_the_larger_regret_is_at_least_a_part_of_the_budget_whoever_plays(
    policy: str, fixed_costs: bool
) -> None:
    assert max(regrets(policy, later, fixed_costs=fixed_costs).mean() for later in (0, 1)) >= 0.44
