"""The worlds of Theorem 2 and Theorem 5."""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import numpy as np
import pytest

import purse
from purse import worlds
from purse.engine.draws import draws
from purse.worlds.bernoulli import bernoulli
from purse.worlds.theorem2 import theorem2
from purse.worlds.theorem5 import Stakes, stakes, theorem5
from tests.worlds import same_tables

BUDGETS = [100, 1_000.5, 1_024, 12_345.678]
ALPHAS = [0, 0.3, 0.5, 0.9, 1]


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


def test_is_a_bernoulli_world_with_equal_fixed_costs() -> None:
    world = theorem2(n_arms=4, budget=100, cost_min=0.25, best=2)
    assert same_tables(world, bernoulli([0.5, 0.5, 0.525, 0.5], [0.25] * 4))


@pytest.mark.parametrize("place", [1, 10**15])
def test_draws_of_the_best_arm_alone_depend_on_which_is_best(place: int) -> None:
    (first, _), (second, _) = (
        draws(theorem2(n_arms=3, budget=3, cost_min=0.25, scale=0.5, best=best), 200, first=place)
        for best in (0, 1)
    )
    assert (first[:, 2] == second[:, 2]).all()
    assert (first[:, 0] >= second[:, 0]).all()
    assert (first[:, 1] <= second[:, 1]).all()


def test_a_wrong_arm_loses_what_the_docstring_says_and_nobody_loses_more() -> None:
    budget, cost, arms, paths = 1_000, 0.5, 3, 400
    world, most = (
        theorem2(n_arms=arms, budget=budget, cost_min=cost, best=1),
        0.25 * np.sqrt(arms * budget / cost),
    )
    best, wrong, mixed = (
        purse.simulate(policy, world, budget, n_paths=paths, seed=7).gain
        for policy in ("fixed:arm=1", "fixed:arm=0", "uniform")
    )
    for regret, expected in ((best - wrong, most), (best - mixed, most * 2 / 3)):
        assert abs(regret.mean() - expected) < 4 * regret.std(ddof=1) / np.sqrt(paths)


@pytest.mark.parametrize("scale", [0.1, 0.25, 0.3, 0.5, 1])
def test_the_least_budget_makes_the_best_arm_certain(scale: float) -> None:
    for arms in (1, 3, 7, 50):
        for cost in (0.1, 0.3, 1):
            least = 4 * scale**2 * arms * cost
            means = theorem2(n_arms=arms, budget=least, cost_min=cost, scale=scale).reward_means
            assert means is not None
            np.testing.assert_allclose(means[0], 1, rtol=1e-12)
            with pytest.raises(
                purse.InvalidInput,
                match=re.escape(
                    f"must be at least 4 scale² K c = {least:g}, so that the best arm's "
                    "mean is at most 1"
                ),
            ):
                theorem2(n_arms=arms, budget=least * 0.999, cost_min=cost, scale=scale)


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
    last = worlds.make("theorem5:alpha=.5,best=1", budget=budget).tables.last
    assert last[0] == stakes(float(budget), 0.5).quiet_rounds
    assert worlds.make("theorem5:budget=400", budget=budget).tables.last[0] == 380


@pytest.mark.parametrize("budget", [1000.9999995, 600000000.6, 10**9 + 0.6])
def test_the_large_cost_is_never_more_than_the_budget(budget: float) -> None:
    assert stakes(budget, 1).quiet_rounds == 0
    assert stakes(budget, 1).large_cost <= round(budget * 1e9)
