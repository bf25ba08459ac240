from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from purse import worlds
from purse.lab.theory import bounds
from purse.lab.theory.bound import ADVERSARIAL, Bound, Setting
from purse.lab.theory.bounds import (
    for_world,
    kappa,
    proposition_a,
    proposition_c,
    refuted_from,
    table,
    theorem1,
    theorem2,
    theorem3,
    theorem4,
    theorem5,
    two_worlds,
)
from tests.lab.theory import ONE_COST, PER_ARM, RANDOM_COSTS, value

STEADY = settings(max_examples=100, deadline=None, derandomize=True)
ARMS, BUDGETS, COSTS = st.integers(2, 1000), st.floats(1, 1e8), st.floats(1e-3, 1)
Problem = tuple[float, ...]
PLUS_PLUS = {"policy": "exp3++.bwk"}
FORMULAS: list[tuple[Callable[..., Bound], Problem, dict[str, Any], float]] = [
    # 2 sqrt(1.897852 * 128 ln 2)
    (theorem1, (2, 8, 0.5), {}, 25.9524829633455857),
    # 2 sqrt(1.719 * 1e8 ln 10)
    (theorem1, (10, 10_000, 0.1), {}, 39790.1697850266923),
    # sqrt(400) / 0.5
    (theorem2, (4, 100, 0.5), {}, 40),
    # 10 (0.75 - sqrt(-100 ln 0.9975) / 2)
    (theorem2, (4, 100, 0.25), {"form": "corrected"}, 4.99843538054754102),
    (theorem2, (4, 400, 1), {"form": "corrected"}, 4.99843538054754102),
    # 0.5 - sqrt(-ln 0.9375)
    (theorem2, (2, 8, 1), {"form": "corrected"}, 0.245955670920267989),
    # its own scale eats it up
    (theorem2, (2, 32, 1), {"form": "corrected", "scale": 0.5}, 0),
    # one round: 0.288675 (1/2 - sqrt(-(1/2) ln(2/3)) / 2)
    (theorem2, (2, 1.5, 1), {"form": "corrected"}, 0.0793483768414028188),
    # 100 rounds, though floats say 99: 3.535534 (1/2 - sqrt(-50 ln 0.995) / 2)
    (theorem2, (2, 7, 0.07), {"form": "corrected"}, 0.882775619715701283),
    (theorem2, (2, 2.9, 0.029), {"form": "corrected"}, 0.882775619715701283),
    (theorem2, (2, 93.6, 0.936), {"form": "corrected"}, 0.882775619715701283),
    # its constant times sqrt(128 ln 2)
    (theorem4, (2, 8, 0.5), {"constant": "statement"}, 23.0724301856141283),
    (theorem4, (2, 8, 0.5), {"constant": "proof"}, 56.5156810807427852),
    (theorem4, (2, 8, 0.5), {"constant": "derived"}, 37.6771207204951901),
    # 4 ln 2 + 5 (e - 1) + 1
    (proposition_a, (2, 9, 1), {"gamma": 0.5}, 12.3639978645350074),
    # by the theorem, gamma = 0.0635
    (proposition_a, (2, 100, 0.5), {}, 89.5254389431213973),
    (proposition_a, (2, 100, 0.5), {"gamma": 0.0635134248421572183}, 89.5254389431213973),
    # by the proof, gamma = 0.0632
    (proposition_a, (2, 100, 0.5), {"gamma": "proof"}, 89.5252887039102275),
    (proposition_a, (2, 100, 0.5), {"gamma": 0.063249577201100890}, 89.5252887039102275),
    # gamma = 1: 2 ln 2 + 1.5 (e - 1) + 1
    (proposition_a, (2, 0.5, 1), {}, 4.96371710380845847),
    (proposition_a, (2, 0.5, 1), {"gamma": 1}, 4.96371710380845847),
    # 4 sqrt(128 ln 2) + 6
    (proposition_a, (2, 7.5, 0.5), PLUS_PLUS, 43.6771207204951901),
    # 4 ln 2 + 8 (e - 1)
    (proposition_c, (2, 8, 0.5), {"gamma": 0.5, "setting": ONE_COST}, 16.5188433499121431),
    # 2 sqrt((e - 1) 32 ln 2)
    (proposition_c, (2, 8, 0.5), {"setting": ONE_COST}, 12.3470985342663875),
    # 4 sqrt(32 ln 2) + 2
    (proposition_c, (2, 8, 0.5), PLUS_PLUS | {"setting": ONE_COST}, 20.8385603602475951),
    # 8 ln 2 + 16 (e - 1) + 1
    (proposition_c, (2, 7.5, 0.5), {"gamma": 0.5, "setting": PER_ARM}, 34.0376866998242862),
    # 4 sqrt(128 ln 2) + 5
    (proposition_c, (2, 7.5, 0.5), PLUS_PLUS | {"setting": PER_ARM}, 42.6771207204951901),
    # a single arm has little to lose, and needs no exploration
    (theorem1, (1, 100, 0.5), {}, 0),
    (theorem4, (1, 100, 0.5), {}, 0),
    (theorem2, (1, 100, 0.5), {"form": "corrected"}, 0),
    (proposition_a, (1, 100, 0.5), {}, 2),
    (proposition_a, (1, 100, 0.5), {"gamma": "proof"}, 2),
    (proposition_a, (1, 100, 0.5), {"gamma": 0}, 2),
    (proposition_a, (1, 100, 0.5), PLUS_PLUS, 4),
    (proposition_c, (1, 100, 0.5), {"setting": PER_ARM}, 1),
    (proposition_c, (1, 100, 0.5), {"setting": PER_ARM, "gamma": 0}, 1),
    (proposition_c, (1, 100, 0.5), {"setting": ONE_COST}, 0),
    (proposition_c, (1, 100, 0.5), {"setting": ONE_COST, "gamma": 0}, 0),
    (proposition_c, (1, 100, 0.5), PLUS_PLUS | {"setting": ONE_COST}, 1),
]


@pytest.mark.parametrize(("bound", "problem", "options", "expected"), FORMULAS)
def test_formula(
    bound: Callable[..., Bound], problem: Problem, options: dict[str, Any], expected: float
) -> None:
    assert value(bound(*problem, **options)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("gaps", "budget", "expected"),
    [([0.5, 0.25], 0.5 * math.e**2, 16 * (2 + 4)), ([], 100, 0), (None, 100, None)],
)
def test_theorem3(gaps: list[float] | None, budget: float, expected: float | None) -> None:
    assert theorem3(gaps, budget, 0.5).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n_arms", "budget", "cost", "scale"),
    [(2, 1.5, 1, 0.25), (5, 100, 0.5, 0.25), (3, 10.4, 0.7, 0.1), (2, 7, 0.07, 0.4)],
)
def test_theorem2_corrected_has_the_gap_of_its_world(
    n_arms: int, budget: float, cost: float, scale: float
) -> None:
    means = worlds.theorem2(n_arms, budget, cost, scale=scale).reward_means
    assert means is not None
    gap = Fraction(float(means[0])) - Fraction(1, 2)
    rounds = Fraction(str(budget)) // Fraction(str(cost))
    lost = 1 - 1 / n_arms - math.sqrt(-(rounds / n_arms) * math.log1p(-4 * float(gap) ** 2)) / 2
    assert value(theorem2(n_arms, budget, cost, form="corrected", scale=scale)) == pytest.approx(
        float(gap) * rounds * lost
    )


@pytest.mark.parametrize(
    ("budget", "alpha", "expected"),
    [
        (1024, 0.9, 256),  # the last 512 rounds are at stake
        # t* = floor(10.5 - 3.24) = 7, and 3.5 units are left for rounds of cost 1
        (10.5, 0.5, 1.5),
        (7, 0, 0.5),  # large costs that are not large: one round
        # both ends of its world
        (1, 1, 0.5),
        (4.6e9, 1, 2.3e9),
    ],
)
def test_theorem5(budget: float, alpha: float, expected: float) -> None:
    assert value(theorem5(budget, alpha)) == expected
    assert theorem5(budget, alpha).applies


@pytest.mark.parametrize("budget", [1e-9, 0.5, 0.999, 4.7e9, 1e12, 1e30])
def test_theorem5_has_no_value_outside_its_world(budget: float) -> None:
    none = theorem5(budget)
    assert (none.value, none.applies) == (None, False)
    assert "1 ≤ B < 4.6·10⁹" in none.holds
    rows = table(3, budget, 0.5, gaps=[1])
    assert [row.name for row in rows if row.value is None] == [
        "Theorem 5",
        *(row.name for row in bounds.TABLE_1),
    ]
    assert rows[7] == none
    for_a_world = for_world(worlds.bernoulli([0.9, 0.6], [0.8, 0.3]), budget)
    assert for_a_world[7] == none
    assert for_a_world[0] == theorem1(
        2, budget, 0.3, cost_max=0.8, setting=Setting(True, "per arm", "bernoulli")
    )


def test_the_smallest_ratio_of_costs_is_allowed() -> None:
    for top in (1, 3, 7, 0.3):
        assert value(theorem1(2, 10, top * 1e-9, cost_max=top)) > 0


def test_the_lower_bounds_do_not_apply_to_a_single_arm() -> None:
    assert not theorem2(1, 100, 0.5, form="corrected").applies
    assert not two_worlds(100, 0.5, n_arms=1).applies


@pytest.mark.parametrize("n_arms", [2, 3, 1000])
def test_without_exploration_nothing_is_promised(n_arms: int) -> None:
    assert proposition_a(n_arms, 100, 0.5, gamma=0).value == math.inf
    for setting in (ADVERSARIAL, PER_ARM, ONE_COST):
        assert proposition_c(n_arms, 100, 0.5, gamma=0, setting=setting).value == math.inf


def test_theorem2_corrected_keeps_its_digits_at_huge_budgets() -> None:
    ratios = [
        theorem2(2, budget, 1, form="corrected").value / math.sqrt(2 * budget)
        for budget in (1e6, 1e12, 1e20)
    ]
    assert ratios == pytest.approx([0.25 * (1 - 1 / 2 - 0.25)] * 3, rel=1e-5)


KAPPA = {0.1: 8 / 9, 0.25: 2 / 3, 1 / 3: 1 / 2, 0.5: 1 / 4, 0.75: 1 / 12, 0.9: 1 / 36, 1: 0}


@pytest.mark.parametrize("cost", KAPPA)
def test_kappa(cost: float) -> None:
    assert kappa(cost) == pytest.approx(KAPPA[cost])
    assert value(two_worlds(360, cost)) == pytest.approx(360 * KAPPA[cost])


def least_regret(budget: int, cost: Fraction) -> Fraction:
    """The least that the larger of the mean regrets in the two worlds can be, over all players.

    All that a player can choose is in how many of the first B rounds to pull arm 0, at random: one
    of two numbers is enough.
    """
    pay = min(Fraction(1), (1 - cost) / (2 * cost))
    best_late = max(pay * budget, Fraction(budget // cost - budget))
    points = [
        (pay * (budget - m), best_late - pay * m - (budget - m - cost * (budget - m)) // cost)
        for m in range(budget + 1)
    ]
    mixed = [max(point) for point in points]
    for here, there in product(points, points):
        ahead, behind = here[0] - here[1], there[1] - there[0]
        if ahead > 0 and behind > 0:
            part = behind / (ahead + behind)
            mixed.append(part * here[0] + (1 - part) * there[0])
    return min(mixed)


# budgets by a cost that divides them, so that nothing is lost to rounding
DIVIDED = {"1/10": (1, 7), "1/5": (20,), "1/4": (9,), "3/10": (12,), "1/3": (12,)}
DIVIDED |= {"3/8": (12,), "1/2": (15,), "7/10": (21,), "9/10": (27,)}


@pytest.mark.parametrize("cost", DIVIDED)
def test_kappa_times_budget_is_what_the_best_player_loses(cost: str) -> None:
    for budget in DIVIDED[cost]:
        assert budget / Fraction(cost) % 1 == 0
        stated = value(two_worlds(budget, float(Fraction(cost))))
        assert float(least_regret(budget, Fraction(cost))) == pytest.approx(stated)


@pytest.mark.parametrize("cost", ["3/10", "3/8", "7/10", "9/10"])
def test_kappa_is_off_by_at_most_1_where_the_cost_does_not_divide(cost: str) -> None:
    assert "B and B/c whole, else up to one reward less" in two_worlds(100, 0.3).holds
    for budget in (1, 5, 10, 20):
        least = least_regret(budget, Fraction(cost))
        assert kappa(float(Fraction(cost))) * budget - 1 <= float(least)


@pytest.mark.parametrize("constant", [1e-6, 6, 1e6])
def test_where_all_costs_are_equal_no_budget_refutes_anything(constant: float) -> None:
    assert refuted_from(1) == refuted_from(1, constant) == math.inf
    assert 1e20 < refuted_from(1 - 1e-10) < math.inf


@pytest.mark.parametrize("cost", [0.01, 0.1, 0.3, 1 / 3, 0.5, 0.7, 0.9])
def test_refuted_from_is_where_kappa_overtakes_the_theorems(cost: float) -> None:
    stated: dict[float, Callable[..., Bound]] = {
        refuted_from(cost): theorem1,
        refuted_from(cost, constant=6): theorem4,
        refuted_from(cost, constant=36): partial(theorem4, constant="proof"),
        refuted_from(cost, constant=16): partial(theorem4, constant="derived"),
    }
    for said, theorem in stated.items():

        def surplus(budget: float, theorem: Callable[..., Bound] = theorem) -> float:
            return value(two_worlds(budget, cost)) - value(theorem(2, budget, cost))

        assert brentq(surplus, 1, 1e15) == pytest.approx(said, rel=0.01)
        assert surplus(0.99 * said) < 0 < surplus(1.01 * said)


# growth, units and corners


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
