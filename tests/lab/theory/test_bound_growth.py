from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purse.lab.theory import bounds
from purse.lab.theory.bound import ADVERSARIAL, Bound, Setting
from purse.lab.theory.bounds import (
    proposition_a,
    proposition_c,
    table,
    theorem1,
    theorem2,
    theorem4,
)
from tests.support.bounds import (
    ARMS,
    BUDGETS,
    COSTS,
    ONE_COST,
    PER_ARM,
    RANDOM_COSTS,
    STEADY,
    value,
)

UPPER: dict[str, Callable[..., Bound]] = {
    "theorem 1": theorem1,
    "theorem 4": theorem4,
    "proposition a": proposition_a,
    "proposition a, proof": partial(proposition_a, gamma="proof"),
    "proposition a, ++": partial(proposition_a, policy="exp3++.bwk"),
    "proposition c": partial(proposition_c, setting=PER_ARM),
    "proposition c, one cost": partial(proposition_c, setting=ONE_COST),
    "proposition c, ++, one cost": partial(proposition_c, policy="exp3++.bwk", setting=ONE_COST),
}


@pytest.mark.parametrize("name", UPPER)
@STEADY
@given(ARMS, BUDGETS, COSTS, st.floats(1, 10))
def test_upper_bounds_grow_with_arms_and_budget_and_fall_with_cost(
    name: str, n_arms: int, budget: float, cost: float, factor: float
) -> None:
    bound = UPPER[name]
    base = value(bound(n_arms, budget, cost)) * (1 - 1e-12)
    assert value(bound(n_arms + 1, budget, cost)) >= base
    assert value(bound(n_arms, budget * factor, cost)) >= base
    assert value(bound(n_arms, budget, cost / factor)) >= base


@pytest.mark.parametrize("name", UPPER)
def test_upper_bounds_are_square_roots_of_the_budget(name: str) -> None:
    small, large = (value(UPPER[name](5, budget, 0.2)) for budget in (1e12, 4e12))
    assert large / small == pytest.approx(2, rel=1e-4)


def test_theorem2_corrected_is_a_square_root_of_arms_times_rounds() -> None:
    small, large = (value(theorem2(8, budget, 0.5, form="corrected")) for budget in (1e6, 4e6))
    assert large / small == pytest.approx(2, rel=1e-3)
    assert value(theorem2(400, 4e8, 1, form="corrected")) / math.sqrt(400 * 4e8) == pytest.approx(
        0.25 * (1 - 1 / 400 - 0.25), rel=1e-3
    )


@STEADY
@given(
    st.integers(2, 50), st.integers(1, 10_000), st.sampled_from([1, 0.5, 0.25]), st.floats(0.01, 1)
)
def test_theorem2_corrected_is_at_most_what_its_world_can_lose(
    n_arms: int, budget: int, cost: float, scale: float
) -> None:
    lower = theorem2(n_arms, budget, cost, form="corrected", scale=scale)
    assert 0 <= value(lower) < scale * math.sqrt(n_arms * budget / cost) * (1 - 1 / n_arms)
    assert lower.applies == (value(lower) > 0)


@STEADY
@given(ARMS, BUDGETS, COSTS, st.floats(1e-3, 1))
def test_proposition_a_is_least_at_its_own_gamma(
    n_arms: int, budget: float, cost: float, gamma: float
) -> None:
    arms, money = n_arms * math.log(n_arms), (math.e - 1) * (budget + cost)
    least = 2 * math.sqrt(money * arms / cost**3) + 1 / cost
    assert value(proposition_a(n_arms, budget, cost, gamma=gamma)) >= least * (1 - 1e-12)
    own = math.sqrt(cost * arms / money)
    if own <= 1:
        assert value(proposition_a(n_arms, budget, cost, gamma=own)) == pytest.approx(least)


@STEADY
@given(ARMS, BUDGETS, COSTS)
def test_proposition_c_is_theorem1_up_to_a_constant(
    n_arms: int, budget: float, cost: float
) -> None:
    stated, arms = value(theorem1(n_arms, budget, cost)), n_arms * math.log(n_arms)
    for setting, more in ((PER_ARM, 4 * arms / cost**2), (ONE_COST, 2 * arms)):
        assert value(proposition_c(n_arms, budget, cost, setting=setting)) <= stated + more + 1


SETTINGS = st.sampled_from([ADVERSARIAL, RANDOM_COSTS, PER_ARM, ONE_COST])


@STEADY
@given(ARMS, st.floats(256, 1e7), COSTS, SETTINGS, st.integers(-8, 8))
def test_only_ratios_of_amounts_matter(
    n_arms: int, budget: float, cost: float, setting: Setting, power: int
) -> None:
    unit = 2.0**power  # exact in floats, so that the number of rounds stays what it is
    plain, other = (
        table(n_arms, budget * u, cost * u, cost_max=u, gaps=[0.5 / u, 2 / u], setting=setting)
        for u in (1, unit)
    )
    for before, after in zip(plain, other, strict=True):
        assert after._replace(value=None) == before._replace(value=None)
        if before.value is not None and before.name != "Theorem 5":  # which has costs of its own
            per_cost = unit if before.bounds.startswith("efficiency") else 1
            assert value(after) * per_cost == pytest.approx(before.value, rel=1e-12)


@STEADY
@given(ARMS, BUDGETS, COSTS, st.floats(1e-3, 1e3))
def test_the_unit_of_money_does_not_matter(
    n_arms: int, budget: float, cost: float, factor: float
) -> None:
    for name, bound in UPPER.items():
        per_cost = factor if name.startswith("proposition a") else 1
        scaled = value(bound(n_arms, budget * factor, cost * factor, cost_max=factor))
        assert scaled * per_cost == pytest.approx(value(bound(n_arms, budget, cost)))


@pytest.mark.parametrize("n_arms", [1, 2, 10**9])
@pytest.mark.parametrize("budget", [1e-9, 1, 1e30])
@pytest.mark.parametrize("cost", [1e-9, 0.5, 1])
def test_bounds_are_finite_at_the_corners(n_arms: int, budget: float, cost: float) -> None:
    for setting in (ADVERSARIAL, PER_ARM, ONE_COST):
        for row in table(n_arms, budget, cost, gaps=[1e-9, 1e9], setting=setting):
            assert row.value is None or (math.isfinite(row.value) and row.value >= 0), row
            assert (row.value is None) == (
                row in bounds.TABLE_1 or (row.name == "Theorem 5" and budget != 1)
            )
