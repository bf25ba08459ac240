from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq

from purse.theory.bounds import (
    Bound,
    kappa,
    refuted_from,
    theorem1,
    theorem4,
    two_worlds,
)
from tests.support.bounds import (
    value,
)


def test_kappa_falls_continuously_from_1_to_0() -> None:
    assert kappa(1 / 3 - 1e-9) == pytest.approx(kappa(1 / 3 + 1e-9), abs=1e-8)
    assert kappa(1e-9) == pytest.approx(1)
    assert kappa(1) == 0
    values = [kappa(cost) for cost in np.linspace(0.01, 1, 200)]
    assert (np.diff(values) < 0).all()


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
    for here, there in ((here, there) for here in points for there in points):
        ahead, behind = here[0] - here[1], there[1] - there[0]
        if ahead > 0 and behind > 0:
            part = behind / (ahead + behind)
            mixed.append(part * here[0] + (1 - part) * there[0])
    return min(mixed)


@pytest.mark.parametrize(
    ("budget", "cost"),
    [
        (1, "1/10"),
        (7, "1/10"),
        (20, "1/5"),
        (9, "1/4"),
        (12, "3/10"),
        (12, "1/3"),
        (12, "3/8"),
        (15, "1/2"),
        (21, "7/10"),
        (27, "9/10"),
    ],
)
def test_kappa_times_budget_is_what_the_best_player_loses(budget: int, cost: str) -> None:
    """Costs that divide the budget, so that nothing is lost to rounding."""
    assert Fraction(budget) / Fraction(cost) % 1 == 0
    assert float(least_regret(budget, Fraction(cost))) == pytest.approx(
        value(two_worlds(budget, float(Fraction(cost))))
    )


@pytest.mark.parametrize("cost", ["3/10", "3/8", "7/10", "9/10"])
def test_kappa_is_off_by_at_most_1_where_the_cost_does_not_divide(cost: str) -> None:
    for budget in (1, 5, 10, 20):
        assert kappa(float(Fraction(cost))) * budget - 1 <= float(
            least_regret(budget, Fraction(cost))
        )


def test_kappa_says_where_it_is_exact() -> None:
    assert "B and B/c whole, else up to one reward less" in two_worlds(100, 0.3).holds


@pytest.mark.parametrize("constant", [1e-6, 6, 1e6])
def test_where_all_costs_are_equal_no_budget_refutes_anything(constant: float) -> None:
    assert refuted_from(1) == refuted_from(1, constant) == math.inf
    assert 1e20 < refuted_from(1 - 1e-10) < math.inf


@pytest.mark.parametrize("cost", [0.01, 0.1, 0.3, 1 / 3, 0.5, 0.7, 0.9])
def test_refuted_from_is_where_kappa_overtakes_the_theorems(cost: float) -> None:
    stated: dict[float, Callable[[float], Bound]] = {
        refuted_from(cost): lambda budget: theorem1(2, budget, cost),
        refuted_from(cost, constant=6): lambda budget: theorem4(2, budget, cost),
        refuted_from(cost, constant=36): lambda budget: theorem4(2, budget, cost, constant="proof"),
        refuted_from(cost, constant=16): lambda budget: theorem4(
            2, budget, cost, constant="derived"
        ),
    }
    for said, theorem in stated.items():

        def surplus(budget: float, theorem: Callable[[float], Bound] = theorem) -> float:
            return value(two_worlds(budget, cost)) - value(theorem(budget))

        assert brentq(surplus, 1, 1e15) == pytest.approx(said, rel=0.01)
        assert surplus(0.99 * said) < 0 < surplus(1.01 * said)
