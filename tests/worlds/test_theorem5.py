from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pytest

import purse
from purse import worlds as known_worlds
from purse.engine.draws import draws
from purse.worlds._tables import FOREVER
from purse.worlds.theorem5 import Stakes, stakes, theorem5

BUDGETS = [100, 1_000, 1_000.5, 1_024, 12_345.678]
ALPHAS = [0, 0.3, 0.5, 0.7, 0.9, 1]
POLICIES = ["exp3.bwk", "exp3++.bwk", "exp3++.price", "uniform", "fixed"]


@pytest.mark.parametrize(
    ("budget", "alpha", "quiet", "large", "late"),
    [
        (100, 0.5, 90, 10, 10),
        (100, 0, 99, 1, 1),
        (100, 1, 0, 100, 100),
        (1_024, 0.3, 1_016, 8, 8),
        (1_024, 0.7, 896, 128, 128),
        (1_024, 0.9, 512, 512, 512),
        (1_000, 0.5, 968, 31.622776602, 32),
        (1_000.5, 0, 999, 1, 1),
        (1_000.5, 0.5, 968, 31.630681308, 32),
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


def test_tables() -> None:
    tables = theorem5(budget=100, alpha=0.5, best=1).tables
    assert tables.last.tolist() == [90, 91, FOREVER]
    assert tables.period == 0
    assert tables.rewards[:, :, 0].tolist() == [[0, 0], [0, 1], [1, 1]]
    assert tables.costs[:, :, 0, 0].tolist() == [[10**9, 10**9], [10**10, 10**9], [10**9, 10**9]]


@pytest.mark.parametrize(("budget", "alpha"), [(100, 1), (1, 0.3), (1.5, 0), (1_000.5, 1)])
def test_without_a_quiet_time_the_large_cost_comes_first(budget: float, alpha: float) -> None:
    world = theorem5(budget, alpha)
    assert world.tables.last.tolist() == [1, FOREVER]
    rewards, units = draws(world, 3)
    assert rewards.tolist() == [[1, 0], [1, 1], [1, 1]]
    assert units[:, :, 0].tolist() == [
        [10**9, stakes(budget, alpha).large_cost],
        [10**9] * 2,
        [10**9] * 2,
    ]


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


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_regret_over_both_choices_is_half_for_every_player(budget: float, alpha: float) -> None:
    at_stake = stakes(budget, alpha).late_rounds
    worlds = [theorem5(budget, alpha, best=best) for best in (0, 1)]
    bests = [
        purse.simulate(f"fixed:arm={best}", world, budget, n_paths=20, seed=1).gain
        for best, world in enumerate(worlds)
    ]
    assert all((gain == at_stake).all() for gain in bests)
    for policy in POLICIES:
        regrets = np.array(
            [
                best - purse.simulate(policy, world, budget, n_paths=20, seed=1).gain
                for best, world in zip(bests, worlds, strict=True)
            ]
        )
        assert np.isin(regrets, [0, at_stake]).all(), policy
        assert (regrets.sum(axis=0) == at_stake).all(), policy


@pytest.mark.parametrize("budget", BUDGETS)
def test_who_takes_the_wrong_arm_has_nothing_left(budget: float) -> None:
    for alpha in ALPHAS:
        quiet, large, late = stakes(budget, alpha)
        right, wrong = (
            purse.simulate(f"fixed:arm={arm}", theorem5(budget, alpha), budget, n_paths=1)
            for arm in (0, 1)
        )
        assert (right.gain[0], right.rounds[0]) == (late, quiet + late)
        assert (wrong.gain[0], wrong.rounds[0], wrong.spent_units[0, 0]) == (
            0,
            quiet + 1,
            quiet * 10**9 + large,
        )


@pytest.mark.parametrize("budget", [100, 1_000.5, "1000.5"])
def test_text_fills_the_budget_in(budget: float | str) -> None:
    last = known_worlds.make("theorem5:alpha=.5,best=1", budget=budget).tables.last
    assert last[0] == stakes(float(budget), 0.5).quiet_rounds
    assert known_worlds.make("theorem5:budget=400", budget=budget).tables.last[0] == 380


@pytest.mark.parametrize("budget", [1000.9999995, 600000000.6, 10**9 + 0.6])
def test_the_large_cost_is_never_more_than_the_budget(budget: float) -> None:
    assert stakes(budget, 1).quiet_rounds == 0
    assert stakes(budget, 1).large_cost <= round(budget * 1e9)
