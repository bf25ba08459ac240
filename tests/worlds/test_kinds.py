"""Worlds of their own kind: means that drift, recorded tables, and those of Theorems 2 and 5."""

from decimal import ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import draws
from purse.worlds.drifting import MOST_STEPS, drifting
from purse.worlds.table import table
from purse.worlds.theorem2 import theorem2
from purse.worlds.theorem5 import Stakes, stakes, theorem5

BUDGETS = [100, 1_000.5, 1_024, 12_345.678]
ALPHAS = [0, 0.3, 0.5, 0.9, 1]


def test_three_rows_go_from_the_last_back_to_the_first() -> None:
    world = drifting(rounds=2, rewards=[[0], [1], [0.5]], costs=[[1], [3], [0.5]])
    assert (world.tables.below[:, 0, 0] / 2**53).tolist() == [0, 0.5, 1, 0.75, 0.5, 0.25]
    assert (world.tables.costs[:, 0, 0, 0] / 10**9).tolist() == [1, 2, 3, 1.75, 0.5, 0.75]
    assert world.tables.period == 6


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


def numbered(n_rows: int) -> purse.lab.World:
    return table(rewards=np.arange(n_rows)[:, None] / n_rows, costs=[1], shuffle=True)


def test_gives_the_rows_back_in_order() -> None:
    rewards, costs = [[1, 0.25], [0, 0.5], [0.125, 1]], [[0.5, 0.2], [0.4, 0.3], [1, 1]]
    world = table(rewards, costs)
    seen, units = draws(world, 3, seed=9, path=4)
    assert world.n_rounds == 3
    assert seen.tolist() == rewards
    assert (units[:, :, 0] / 10**9).tolist() == costs
    assert (world.cost_min.tolist(), world.cost_max.tolist()) == (
        [[400_000_000], [200_000_000]],
        [[1_000_000_000], [1_000_000_000]],
    )
    assert world.costs is world.reward_means is world.efficiencies is None


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


@pytest.mark.parametrize("n_rows", [1, 5, 16, 100])
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


@pytest.mark.parametrize(
    ("options", "means"),
    [
        ({"n_arms": 4, "budget": 100, "cost_min": 0.25}, [0.525, 0.5, 0.5, 0.5]),
        (
            {"n_arms": 4, "budget": 100, "cost_min": 0.25, "scale": 1, "best": 3},
            [0.5, 0.5, 0.5, 0.6],
        ),
        ({"n_arms": 2, "budget": 800, "cost_min": 1, "scale": 4, "best": 1}, [0.5, 0.7]),
        ({"n_arms": 1, "budget": 0.25, "cost_min": 1}, [1]),
        ({"n_arms": 3, "budget": 1e9, "cost_min": 2, "scale": 0}, [0.5, 0.5, 0.5]),
    ],
    ids=str,
)
def test_means_of_theorem2(options: dict[str, Any], means: list[float]) -> None:
    world = theorem2(**options)
    assert world.reward_means is not None
    assert world.cost_means is not None
    np.testing.assert_allclose(world.reward_means, means, rtol=1e-15)
    assert world.cost_means.tolist() == [[options["cost_min"]]] * len(means)


@pytest.mark.parametrize(
    ("budget", "alpha", "quiet", "large", "late"),
    [
        (100, 0.5, 90, 10, 10),
        (1_024, 0.9, 512, 512, 512),
        (1_000, 0.5, 968, 31.622776602, 32),
        (1_000.5, 1, 0, 1_000.5, 1_000),
        (110.25, 0.5, 99, 10.5, 11),
        (1, 0.5, 0, 1, 1),
        (1.5, 0.5, 0, 1.224744871, 1),
        (4_000_000_000, 0.5, 3_999_936_754, 63_245.553203368, 63_246),
        (2**30, 0.9, 7 * 2**27, 2**27, 2**27),
    ],
)
def test_stakes(budget: float, alpha: float, quiet: int, large: float, late: int) -> None:
    assert stakes(budget, alpha) == Stakes(quiet, round(large * 1e9), late)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_stakes_are_those_of_exact_arithmetic(budget: float, alpha: float) -> None:
    whole = Decimal(str(budget))
    power = round(whole ** Decimal(str(alpha)), 18)  # 1024 ** 0.9 is 512 again
    quiet = (whole - power).to_integral_value(ROUND_FLOOR)
    late = (whole - quiet).to_integral_value(ROUND_FLOOR)
    found = stakes(budget, alpha)
    assert (found.quiet_rounds, found.late_rounds) == (quiet, late)
    assert abs(found.large_cost - power.scaleb(9)) <= Decimal("0.51")


@pytest.mark.parametrize("best", [0, 1])
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_rounds_around_the_end_of_the_quiet_time(budget: float, alpha: float, best: int) -> None:
    quiet, large, _ = stakes(budget, alpha)
    world, order = theorem5(budget, alpha, best), [best, 1 - best]
    rewards, units = draws(world, quiet + 4)
    assert (rewards[:quiet] == 0).all()
    assert (units[:quiet] == 10**9).all()
    assert rewards[quiet:, order].tolist() == [[1, 0], [1, 1], [1, 1], [1, 1]]
    assert units[quiet:, order, 0].tolist() == [[10**9, large]] + [[10**9, 10**9]] * 3
    assert draws(world, 1, first=10**15)[0].tolist() == [[1, 1]]


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_nothing_declared_or_drawn_in_the_quiet_time_tells_the_best_arm(
    budget: float, alpha: float
) -> None:
    one, two = (theorem5(budget, alpha, best) for best in (0, 1))
    quiet, large, _ = stakes(budget, alpha)
    for world in (one, two):
        assert world.cost_min.tolist() == [[10**9]] * 2
        assert world.cost_max.tolist() == [[large]] * 2
        assert world.costs is None
        assert world.reward_means is None
        assert world.cost_means is None
        assert world.n_rounds is None
    for ours, theirs in zip(draws(one, quiet), draws(two, quiet), strict=True):
        assert (ours == theirs).all()


@pytest.mark.parametrize("budget", [1000.9999995, 600000000.6, 10**9 + 0.6])
def test_the_large_cost_is_never_more_than_the_budget(budget: float) -> None:
    assert stakes(budget, 1).quiet_rounds == 0
    assert stakes(budget, 1).large_cost <= round(budget * 1e9)
