"""Bounds for a plan, the chances from it, and the guard."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.replan.fading_means import FadingMeans, new_means
from purse.kernels.replan.plan import (
    expected_reward,
    find_safe,
    learn_share,
    lower_cost,
    optimism,
    sure_reward,
    untried_cost,
    untried_reward,
    usual_share,
)
from purse.kernels.replan.plan_chances import (
    _bound_width,
    add_looks,
    open_arms,
    play_cheapest,
    set_bounds,
    share_equally,
)
from purse.kernels.small_lp import SmallLp, new_lp, set_limit
from purse.types import Now

EXACT = {"rel": 1e-15, "abs": 1e-15}
SOME = settings(max_examples=200, deadline=None, derandomize=True)


@pytest.mark.parametrize("pulls", [1.5, 2, 10, 250, 1e6])
def test_a_look_at_a_new_arm_breaks_even(pulls: float) -> None:
    """Its mean is uniform and one look shows it: N x for the rival alone, or 1/2 for the look and
    then the better of both.
    """
    x = untried_reward(pulls)
    assert (pulls - 1) * (1 - x) ** 2 / 2 == pytest.approx(x - 0.5, rel=1e-9)
    means = (np.arange(1_000_000) + 0.5) / 1_000_000
    looked = 0.5 + (pulls - 1) * np.maximum(means, x).mean()
    assert looked == pytest.approx(pulls * x, rel=1e-9)
    assert untried_reward(0.0) == 0


@SOME
@given(
    st.floats(0, 20),
    st.lists(st.floats(0, 1), min_size=1, max_size=50),
    st.floats(1e-9, 1e9),
)
def test_widths_follow_the_formula_in_any_unit(
    level: float, values: list[float], unit: float
) -> None:
    """Of n observations between 0 and their largest; in other units all is as many times larger."""
    costs = np.array(values)
    n, top, spread = len(costs), float(costs.max()), float(n_variance(costs))
    width = _bound_width(level, spread, top, float(n))
    v = (spread + top**2 / 4) / (n + 1)
    assert width == pytest.approx(math.sqrt(2 * level * v / (n + 1)) + level * top / (3 * (n + 1)))
    other = _bound_width(level, spread * unit * unit, top * unit, float(n))
    assert other == pytest.approx(width * unit, rel=1e-12)
    mean = float(costs.mean())
    low = lower_cost(mean, width)
    assert low == pytest.approx(mean / (1 + width / mean) if mean else 0, rel=1e-12)
    assert lower_cost(mean * unit, other) == pytest.approx(low * unit, rel=1e-12)


def n_variance(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The sum of the squared deviations."""
    return float(((values - values.mean()) ** 2).sum())


@SOME
@given(st.floats(1e-9, 1), st.floats(1e-9, 1e9))
def test_a_lower_cost_is_positive_and_below_the_mean(mean: float, width: float) -> None:
    assert 0 < lower_cost(mean, width) <= mean
    # the square, the sum and the quotient are rounded, each by 2^-53 at most; the rest is exact
    least = (Fraction(mean) - Fraction(width)) * (1 - Fraction(1, 2**53)) ** 3
    assert lower_cost(mean, width) >= least
    assert lower_cost(mean, 2 * width) <= lower_cost(mean, width)


@SOME
@given(st.floats(0, 1e9), st.floats(0, 1e9), st.floats(1, 1e6), st.floats(1, 1e6))
def test_more_to_win_and_fewer_pulls_make_wider_bounds(
    affordable: float, more: float, pulls: float, further: float
) -> None:
    assert 0 <= untried_reward(affordable) <= untried_reward(affordable + more) <= 1
    level = optimism(0.5, affordable, pulls)
    assert 0 <= level <= optimism(0.5, affordable + more, pulls)
    assert optimism(0.5, affordable, pulls + further) <= level
    assert _bound_width(level, 0.0, 1.0, pulls + further) <= _bound_width(level, 0.0, 1.0, pulls)


def test_what_an_untried_arm_may_cost_by_hand() -> None:
    first = np.zeros(2)
    assert usual_share(first) == 0.5
    learn_share(first, np.array([0.25, 0]), np.array([1.0, 2]))  # a cost of 0 is left out
    learn_share(first, np.array([1.0, 1]), np.array([1.0, 4]))
    assert usual_share(first) == pytest.approx((0.25 * 1 * 0.25) ** (1 / 3), **EXACT)
    # sqrt(max(least, guess / 100) guess), divided by 1 + sqrt(L) + L
    assert untried_cost(0.0, 0.4, 0.0) == pytest.approx(0.04, **EXACT)
    assert untried_cost(0.0, 0.4, 4.0) == pytest.approx(0.04 / 7, **EXACT)
    assert untried_cost(0.1, 0.4, 0.0) == pytest.approx(0.2, **EXACT)
    assert untried_cost(0.1, 0.4, 4.0) == 0.1
    assert untried_cost(0.5, 0.4, 0.0) == 0.5


def test_bounds_of_a_tried_and_of_an_untried_arm_by_hand() -> None:
    lp, known = new_lp(2, 2), new_means(2, 2)
    set_limit(lp, 0, 10.0)
    set_limit(lp, 1, 60.0)  # rounds
    lp.chances[:] = 0.5, 1  # half of the first arm's weight has faded
    known.weights[0], known.means[0], known.spreads[0], known.tops[0] = (
        8,
        [0.5, 0.2],
        [2, 0.04],
        [1, 0.4],
    )
    least, most = np.array([[0.1], [0.001]]), np.array([[1.0], [0.5]])
    set_bounds(lp, known, least, most, np.array([0, 1]), 0.5, 0.4)
    # both may cost 0.2, the second by its share of the most: 50 pulls, of which each gets a half
    level = 0.5 * math.log(1 + 25 / 4)
    widths = [_bound_width(level, spread, top, 4.0) for spread, top in ((1.0, 1.0), (0.02, 0.4))]
    one_look = untried_reward(25 / 2)  # an open ticket counts
    assert lp.gains == pytest.approx([0.5 + widths[0], one_look], **EXACT)
    low = untried_cost(0.001, 0.2, 0.5 * math.log(26))
    assert lp.uses[:, 0] == pytest.approx([lower_cost(0.2, widths[1]), low], **EXACT)
    assert lp.uses[:, 1].tolist() == [1, 1]


def plan(uses: Any, pulls: Any = 0, gains: Any = 1, open: Any = 1) -> SmallLp:
    """A solved program; its chances are whatever they were."""
    columns = np.array(uses, float)
    lp = new_lp(*columns.shape)
    lp.uses[:], lp.pulls[:], lp.gains[:], lp.open[:] = columns, pulls, gains, open
    lp.chances[:] = math.nan
    return lp


def facts(left: list[float], allowed: list[int] | None = None, n_arms: int = 3) -> Now:
    mask = np.isin(np.arange(n_arms), allowed or [])
    zeros = np.zeros(n_arms, np.int64)
    amounts = np.array(left, float)
    masked = allowed is not None
    counted = np.zeros((0, n_arms), np.bool_), np.zeros(0, np.int64)
    context = np.zeros((n_arms, 0))
    return Now(np.uint64(0), 1, math.inf, amounts, masked, mask, *counted, zeros, context)


@pytest.mark.parametrize(
    ("left", "allowed", "caps", "found"),
    [
        ([5, 5], None, [math.inf, 1, 1], [1, 1, 1]),
        ([5, 5], None, [math.inf, 0, -1], [1, 0, 0]),  # a cap is used up, or lower than it was
        ([5, 5], [0, 2], [1, 1, 0], [1, 0, 0]),
        # arm 0 may cost (3, 1), arm 1 (1, 2) and arm 2 (1, 1)
        ([2, 2], None, [1, 1, 1], [0, 1, 1]),
        ([2, 1], None, [1, 1, 1], [0, 0, 1]),
        ([3 * (1 - 1e-13), 1], None, [1, 1, 1], [1, 0, 1]),  # as good as 3
        ([3 * (1 - 1e-11), 1], None, [1, 1, 1], [0, 0, 1]),
        # none fits, or none that may be played: all of those are open
        ([0.5, 5], None, [1, 1, 0], [1, 1, 0]),
        ([2, 1], [0, 1], [1, 1, 1], [1, 1, 0]),
        ([2, 1], None, [1, 1, 0], [1, 1, 0]),
        ([5, 5], [1], [1, 0, 1], [0, 0, 0]),
    ],
)
def test_arms_that_a_plan_may_use(left: Any, allowed: Any, caps: Any, found: list[int]) -> None:
    lp = plan(np.ones((3, 2)), open=7)
    lp.caps[:] = caps
    open_arms(lp, np.array([[3.0, 1], [1, 2], [1, 1]]), facts(left, allowed), False)
    assert lp.open.tolist() == found


def test_looks_by_hand() -> None:
    # the plan's average pull takes 0.5, and arm 0 twice as much
    lp = plan([[1], [0.5], [0.1]], pulls=[0, 20, 0])
    assert add_looks(lp, 0.1, 20.0) == pytest.approx(0.25, **EXACT)
    assert lp.chances == pytest.approx([0.05, 0.1, 0.1], **EXACT)
    # a mixture: the average is (10 + 30 * 0.2) / 40 = 0.4
    lp = plan([[1], [0.2], [0.8]], pulls=[10, 30, 0])
    assert add_looks(lp, 0.1, 40.0) == pytest.approx(0.19, **EXACT)
    assert lp.chances == pytest.approx([0.04, 0.1, 0.05], **EXACT)


def test_the_scarcest_row_decides_on_looks_and_closed_arms_get_none() -> None:
    # averages of 0.4 and 0.5: arm 0 takes 2.5 times the first, arm 2 twice and four times, arm 3
    # four times and twice
    uses = [[1, 0.5], [0.2, 0.5], [0.8, 2], [1.6, 1], [0.1, 0.1]]
    lp = plan(uses, pulls=[10, 30, 0, 0, 0], open=[1, 1, 1, 1, 0])
    assert add_looks(lp, 0.1, 40.0) == pytest.approx(0.19, **EXACT)
    assert lp.chances == pytest.approx([0.04, 0.1, 0.025, 0.025, 0], **EXACT)


def test_equal_arms_share_their_part() -> None:
    uses = [[0.5, 1], [0.5, 1], [0.5, 1], [0.5, 2], [0.5, 1]]
    lp = plan(uses, gains=[0.3, 0.3, 0.4, 0.3, 0.3], open=[1, 1, 1, 1, 0])
    lp.chances[:] = 0.0625
    share_equally(lp, 0, 0.5)  # with arm 1 alone: others differ in one number, or are closed
    assert lp.chances.tolist() == [0.3125, 0.3125, 0.0625, 0.0625, 0.0625]
    share_equally(lp, 3, 0.25)
    share_equally(lp, 2, 0.125)
    assert lp.chances.tolist() == [0.3125, 0.3125, 0.1875, 0.3125, 0.0625]


@pytest.mark.parametrize(
    ("open", "found"),
    [
        ([1, 1, 1, 1], [0, 1, 0, 0]),  # the first of two
        ([1, 0, 1, 1], [0, 0, 0, 1]),
        ([1, 0, 1, 0], [0, 0, 1, 0]),
        ([0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_the_cheapest_arm_where_nothing_is_planned(open: list[int], found: list[int]) -> None:
    lp = plan([[0.9, 0], [0.2, 3], [0.5, 0], [0.2, 1]], open=open)
    play_cheapest(lp)
    assert lp.chances.tolist() == found


def arms(weights: list[float], rewards: list[float], costs: list[Any]) -> FadingMeans:
    """What is known of arms whose reports were all alike."""
    columns = np.array(costs, float).reshape(len(weights), -1)
    known = new_means(len(weights), 1 + columns.shape[1])
    known.weights[:], known.means[:, 0], known.means[:, 1:] = weights, rewards, columns
    return known


def test_rewards_by_hand() -> None:
    # 11 rewards of 0: 0.5 / 12, less half of sqrt(0.25) / 12
    assert expected_reward(11.0, 0.0) == pytest.approx(0.5 / 12, rel=1e-15)
    assert sure_reward(11.0, 0.0, 0.0) == pytest.approx(1 / 48, rel=1e-15)
    # two of 0.1: 0.7 / 3, less half of sqrt(0.25) / 3
    assert expected_reward(2.0, 0.1) == pytest.approx(0.7 / 3, rel=1e-15)
    assert sure_reward(2.0, 0.1, 0.0) == pytest.approx(0.15, rel=1e-14)
    # 1 and 0, with squared deviations of 2 / 4: 1.5 / 3, less half of sqrt(0.75) / 3
    assert sure_reward(2.0, 0.5, 0.5) == pytest.approx(0.5 - math.sqrt(0.75) / 6, rel=1e-15)
    # nothing is known: 1/2, and half of a standard error of 1/2 less
    assert expected_reward(0.0, 0.0) == 0.5
    assert sure_reward(0.0, 0.0, 0.0) == 0.25
    # 0.5 / 4 is less than half of sqrt(2.25) / 4
    assert sure_reward(3.0, 0.0, 2.0) == 0


def test_the_safe_arm_takes_the_smallest_part_of_a_budget() -> None:
    # of budgets of 8 and 1 the arms take 1/2, 1/16 and 1/16; what the last takes nobody knows
    known = arms([1, 2, 0.5, 0], [0, 0, 1, 0], [[4, 0.01], [0.5, 0.03], [0.1, 0.0625], [0, 0]])
    parts = np.array([0.125, 1])
    for able, safe in (
        ([1, 1, 1, 1], 1),  # the first of two
        ([1, 0, 1, 1], 2),
        ([1, 0, 0, 1], 0),
        ([0, 0, 0, 1], -1),
        ([0, 0, 0, 0], -1),
    ):
        assert find_safe(known, parts, np.array(able)) == safe
