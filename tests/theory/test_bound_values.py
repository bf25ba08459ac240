from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from purse import worlds
from purse.theory import bounds
from purse.theory.bounds import (
    ADVERSARIAL,
    Bound,
    Setting,
    for_world,
    kappa,
    proposition_a,
    proposition_c,
    table,
    theorem1,
    theorem2,
    theorem3,
    theorem4,
    theorem5,
    two_worlds,
)
from tests.support.bounds import (
    BUDGETS,
    COSTS,
    ONE_COST,
    PER_ARM,
    STEADY,
    value,
)

Problem = tuple[float, ...]
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
    (proposition_a, (2, 7.5, 0.5), {"policy": "exp3++.bwk"}, 43.6771207204951901),
    # 4 ln 2 + 8 (e - 1)
    (proposition_c, (2, 8, 0.5), {"gamma": 0.5, "setting": ONE_COST}, 16.5188433499121431),
    # 2 sqrt((e - 1) 32 ln 2)
    (proposition_c, (2, 8, 0.5), {"setting": ONE_COST}, 12.3470985342663875),
    # 4 sqrt(32 ln 2) + 2
    (
        proposition_c,
        (2, 8, 0.5),
        {"policy": "exp3++.bwk", "setting": ONE_COST},
        20.8385603602475951,
    ),
    # 8 ln 2 + 16 (e - 1) + 1
    (proposition_c, (2, 7.5, 0.5), {"gamma": 0.5, "setting": PER_ARM}, 34.0376866998242862),
    # 4 sqrt(128 ln 2) + 5
    (
        proposition_c,
        (2, 7.5, 0.5),
        {"policy": "exp3++.bwk", "setting": PER_ARM},
        42.6771207204951901,
    ),
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
    gap, rounds = (
        Fraction(float(means[0])) - Fraction(1, 2),
        Fraction(str(budget)) // Fraction(str(cost)),
    )
    lost = 1 - 1 / n_arms - math.sqrt(-(rounds / n_arms) * math.log1p(-4 * float(gap) ** 2)) / 2
    assert value(theorem2(n_arms, budget, cost, form="corrected", scale=scale)) == pytest.approx(
        float(gap) * rounds * lost
    )


@pytest.mark.parametrize(
    ("budget", "alpha", "expected"),
    [
        (100, 0.5, 5),  # the last 10 rounds are at stake
        (1024, 0.9, 256),  # 512 of them, although 1024 ** 0.9 is not 512 in floats
        (10, 0.5, 2),  # t* = floor(10 - 3.16) = 6
        # t* = floor(10.5 - 3.24) = 7, and 3.5 units are left for rounds of cost 1
        (10.5, 0.5, 1.5),
        (7, 0, 0.5),  # large costs that are not large: one round
        (7, 1, 3.5),
        (1, 0.5, 0.5),
    ],
)
def test_theorem5(budget: float, alpha: float, expected: float) -> None:
    assert value(theorem5(budget, alpha)) == expected
    assert theorem5(budget, alpha).applies


@pytest.mark.parametrize("budget", [1e-9, 0.5, 0.999, 4.7e9, 1e12, 1e30])
def test_theorem5_has_no_value_outside_its_world(
    budget: float,
) -> None:
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


@pytest.mark.parametrize("budget", [1, 4.6e9])
def test_theorem5_at_both_ends_of_its_world(budget: float) -> None:
    assert value(theorem5(budget, 1)) == budget / 2


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        (0.1, 8 / 9),
        (0.25, 2 / 3),
        (1 / 3, 1 / 2),
        (0.5, 1 / 4),
        (0.75, 1 / 12),
        (0.9, 1 / 36),
        (1, 0),
    ],
)
def test_kappa(cost: float, expected: float) -> None:
    assert kappa(cost) == pytest.approx(expected)
    assert value(two_worlds(360, cost)) == pytest.approx(360 * expected)


def test_a_single_arm_has_little_to_lose() -> None:
    assert theorem1(1, 100, 0.5).value == theorem4(1, 100, 0.5).value == 0
    lower = theorem2(1, 100, 0.5, form="corrected")
    assert (lower.value, lower.applies) == (0, False)
    assert not two_worlds(100, 0.5, n_arms=1).applies
    assert proposition_a(1, 100, 0.5).value == proposition_a(1, 100, 0.5, gamma="proof").value == 2
    assert proposition_a(1, 100, 0.5, policy="exp3++.bwk").value == 4
    assert proposition_c(1, 100, 0.5, setting=PER_ARM).value == 1
    assert proposition_c(1, 100, 0.5, setting=ONE_COST).value == 0
    assert proposition_c(1, 100, 0.5, policy="exp3++.bwk", setting=ONE_COST).value == 1


@pytest.mark.parametrize("n_arms", [2, 3, 1000])
def test_without_exploration_nothing_is_promised(n_arms: int) -> None:
    assert proposition_a(n_arms, 100, 0.5, gamma=0).value == math.inf
    for setting in (ADVERSARIAL, PER_ARM, ONE_COST):
        assert proposition_c(n_arms, 100, 0.5, gamma=0, setting=setting).value == math.inf


def test_a_single_arm_needs_no_exploration() -> None:
    assert proposition_a(1, 100, 0.5, gamma=0).value == 2
    assert proposition_c(1, 100, 0.5, gamma=0, setting=PER_ARM).value == 1
    assert proposition_c(1, 100, 0.5, gamma=0, setting=ONE_COST).value == 0


@STEADY
@given(st.integers(2, 1000), BUDGETS, COSTS)
def test_less_exploration_promises_less(n_arms: int, budget: float, cost: float) -> None:
    for bound in (proposition_a, proposition_c):
        assert value(bound(n_arms, budget, cost, gamma=1e-12)) > value(
            bound(n_arms, budget, cost)
        ) * (1 - 1e-12)
        assert value(bound(n_arms, budget, cost, gamma=1e-300)) > 1e299


def test_theorem2_corrected_keeps_its_digits_at_huge_budgets() -> None:
    ratios = [
        theorem2(2, budget, 1, form="corrected").value / math.sqrt(2 * budget)
        for budget in (1e6, 1e12, 1e20)
    ]
    assert ratios == pytest.approx([0.25 * (1 - 1 / 2 - 0.25)] * 3, rel=1e-5)


def test_the_smallest_ratio_of_costs_is_allowed() -> None:
    for top in (1, 3, 7, 0.3):
        assert theorem1(2, 10, top * 1e-9, cost_max=top).value > 0
