from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.information import bound_width, lower_cost, optimism, untried_reward

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


def test_values_of_untried_arms_by_hand() -> None:
    # 1 - 1 / (1 + sqrt(N)): the last pull is worth a look at what pays as much as it
    assert untried_reward(0.0) == 0
    assert untried_reward(1.0) == 0.5
    assert untried_reward(9.0) == 0.75
    assert untried_reward(99.0**2) == pytest.approx(0.99, rel=1e-15)


def test_optimism_by_hand() -> None:
    # 1/2 ln(1 + 99) after one pull, and as much after none or a half
    assert optimism(0.5, 99.0, 1.0) == pytest.approx(math.log(10), rel=1e-15)
    assert optimism(0.5, 99.0, 0.0) == optimism(0.5, 99.0, 0.5) == optimism(0.5, 99.0, 1.0)
    assert optimism(2.0, 30.0, 10.0) == pytest.approx(2 * math.log(4), rel=1e-15)
    assert optimism(0.5, 0.0, 10.0) == 0


def test_widths_by_hand() -> None:
    # v = (0 + 1/4) / 2, sqrt(2 * 1 * 1/8 / 2) + 1 / (3 * 2)
    assert bound_width(1.0, 0.0, 1.0, 1.0) == pytest.approx(math.sqrt(1 / 8) + 1 / 6, rel=1e-15)
    # v = (1.75 + 1/4) / 8 = 1/4, sqrt(2 * 2 * 1/4 / 8) + 2 / (3 * 8)
    assert bound_width(2.0, 1.75, 1.0, 7.0) == pytest.approx(math.sqrt(1 / 8) + 1 / 12, rel=1e-15)
    # a cost that is 0.2 at most: v = 0.01 / 2
    wide = bound_width(1.0, 0.0, 0.2, 1.0)
    assert wide == pytest.approx(math.sqrt(0.005) + 0.1 / 3, rel=1e-15)
    # c / (1 + width / c) where width = c is half of it
    assert lower_cost(0.3, 0.3) == pytest.approx(0.15, rel=1e-15)
    assert lower_cost(0.3, 0.0) == pytest.approx(0.3, rel=1e-15)
    assert lower_cost(0.0, 0.7) == 0


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
    width = bound_width(level, spread, top, float(n))
    v = (spread + top**2 / 4) / (n + 1)
    assert width == pytest.approx(math.sqrt(2 * level * v / (n + 1)) + level * top / (3 * (n + 1)))
    other = bound_width(level, spread * unit * unit, top * unit, float(n))
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
    assert lower_cost(mean, width) >= mean - width
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
    assert bound_width(level, 0.0, 1.0, pulls + further) <= bound_width(level, 0.0, 1.0, pulls)
