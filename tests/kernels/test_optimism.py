"""Bounds that widen with what is left to win, and what an untried arm may cost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.optimism import (
    learn_share,
    lower_cost,
    optimism,
    untried_cost,
    untried_reward,
    usual_share,
)

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
