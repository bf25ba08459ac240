import math

import numpy as np
import pytest

from purse.kernels.pace_price import (
    add_to_pace,
    multiplicative_prices,
    new_pace,
    new_paced,
    pace_prices,
)
from purse.types import Floats, Now, Problem


def at(t: int, left: list[float]) -> Now:
    nothing = np.zeros(0, np.int64)
    context = np.ones((1, 1))
    masks = np.zeros(0, np.bool_), np.zeros((0, 0), np.bool_), nothing
    return Now(np.uint64(0), t, 1.0, np.array(left), False, *masks, nothing, context)


def problem(**changes: object) -> Problem:
    return Problem.of(**{"n_arms": 2, "budget": 100, "cost_min": 0.25, "horizon": 400, **changes})


def prices(known: Problem, paced: Floats, t: int, left: list[float], base: float = 0.0) -> Floats:
    found = np.full(len(left), base)
    pace_prices(new_pace(known), paced, at(t, left), 0.3, found)
    return found


def test_the_price_by_hand() -> None:
    known = problem()
    pace = new_pace(known)
    assert (pace.skips, pace.rates.tolist()) == (True, [4.0])  # a round of pace is 0.25
    paced = new_paced(pace, known)
    assert prices(known, paced, 1, [100]).tolist() == [0]
    add_to_pace(pace, paced, 1.0, np.array([0.75]))
    # S = 3 - 1, Q = 1 + (3 - 1)^2
    assert prices(known, paced, 2, [99.25]) == pytest.approx([0.3 * 2 / math.sqrt(5)], abs=1e-15)
    assert prices(known, paced, 2, [99.25], 0.1) == pytest.approx([0.1 + 0.6 / math.sqrt(5)])
    # a round that passes: S falls by 1 and Q rises by 1; an addition to the budget lowers S
    assert prices(known, paced, 3, [99.25]) == pytest.approx([0.3 / math.sqrt(6)], abs=1e-15)
    assert prices(known, paced, 3, [99.25 + 0.125]) == pytest.approx([0.15 / math.sqrt(6)])
    # nothing is overspent: no price; what a ticket holds counts: at most 1
    assert prices(known, paced, 4, [99.25]).tolist() == [0]
    assert prices(known, paced, 4, [90]).tolist() == [1]


def test_money_in_another_unit_has_the_same_price() -> None:
    known, larger = problem(), problem(budget=400, cost_min=1, cost_max=4)
    paced = np.array([3.0, 1.0, 3.0])
    assert prices(known, paced, 2, [99.25]).tobytes() == prices(larger, paced, 2, [99.25]).tobytes()


def test_two_prices_sum_to_1_at_most() -> None:
    known = problem(n_resources=2, budget=[100, 200])
    pace = new_pace(known)
    assert pace.rates.tolist() == [4, 2]
    paced = new_paced(pace, known)
    add_to_pace(pace, paced, 0.0, np.array([1.0, 0.5]))
    assert paced.tolist() == [4 * 2 + 1 * -1, 0, 4, 1]
    # Q = 1 + 3^2 + 0^2, S = (3, 0)
    assert prices(known, paced, 2, [99, 199.5]) == pytest.approx([0.9 / math.sqrt(10), 0])
    # S = (39, 36): 1.17 and 1.08 times 10 / sqrt(10), which project to a sum of 1
    found = prices(known, paced, 2, [90, 181.5])
    assert found == pytest.approx([0.5 + 0.45 / math.sqrt(10), 0.5 - 0.45 / math.sqrt(10)])


def test_the_multiplicative_law_by_hand() -> None:
    known = problem(n_resources=2, budget=[100, 200])
    found = np.zeros(2)
    multiplicative_prices(new_pace(known), at(2, [99, 199.5]), 0.5, found)
    whole = 1 + math.exp(1.5) + 1
    assert found == pytest.approx([math.exp(1.5) / whole, 1 / whole])
    multiplicative_prices(new_pace(known), at(2, [0, 200]), 1e3, found)
    assert found == pytest.approx([1, 0])


def test_without_a_horizon_the_price_is_what_was_earned_per_cost() -> None:
    known = problem(horizon=None)
    pace = new_pace(known)
    paced = new_paced(pace, known)
    assert not pace.skips
    # 1/2 earned, and half of 0.25 + 1 spent
    assert prices(known, paced, 1, [100]) == pytest.approx([0.5 / 0.625])
    add_to_pace(pace, paced, 1.0, np.array([0.75]))
    assert prices(known, paced, 9, [99.25], 5.0) == pytest.approx([1.5 / 1.375])


def test_without_a_horizon_two_resources_are_charged_by_their_use() -> None:
    known = problem(n_resources=2, budget=[100, 200], horizon=None)
    pace = new_pace(known)
    assert pace.rates.tolist() == [1, 0.5]
    paced = new_paced(pace, known)
    add_to_pace(pace, paced, 1.0, np.array([0.75, 0.5]))
    used = np.array([0.625 + 0.75, 0.3125 + 0.25])
    share = np.exp(math.sqrt(math.log(2) / 100) * used)
    assert prices(known, paced, 2, [99.25, 199.5]) == pytest.approx(1.5 * share / (share @ used))
