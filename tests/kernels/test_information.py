from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.kernels.fading_means import FadingMeans, new_means
from purse.kernels.information import (
    bound_width,
    learn_share,
    lower_cost,
    optimism,
    set_bounds,
    untried_reward,
    usual_share,
)
from purse.kernels.small_lp import SmallLp, new_lp, set_limit

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
    assert lower_cost(mean, width) >= (mean - width) * (1 - 1e-15)  # but for rounding
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


def test_what_untried_arms_cost_by_hand() -> None:
    """Half of the most at first; then 0.4 and 0.1, whose geometric mean is 0.2."""
    first = np.zeros(2)
    assert usual_share(first) == 0.5
    learn_share(first, np.array([0.2, 0.0]), np.array([0.5, 1]))  # what costs nothing tells nothing
    assert usual_share(first) == pytest.approx(0.4, rel=1e-15)
    learn_share(first, np.array([0.3, 0.02]), np.array([3, 0.1]))
    assert first[1] == 3
    assert usual_share(first) == pytest.approx((0.4 * 0.1 * 0.2) ** (1 / 3), rel=1e-15)


def program(limits: list[float], known: FadingMeans, **told: Any) -> SmallLp:
    """The bounds of two arms that may cost 0.001 to 1, and 0.001 to 0.5."""
    lp = new_lp(2, len(limits))
    for j, limit in enumerate(limits):
        set_limit(lp, j, limit)
    lp.chances[:], lp.caps[:] = told.get("kept", 1), told.get("caps", math.inf)
    least, most = np.full((2, 1), 0.001), np.array([[1], [0.5]])
    pending = np.array(told.get("pending", [0, 0]))
    set_bounds(lp, known, least, most, pending, 0.5, told.get("share", 0.5))
    return lp


def test_bounds_of_untried_arms_by_hand() -> None:
    """Half of the most is 0.5 and 0.25: a half of 10 pays for N = 10 and 20 pulls. The arms may
    cost sqrt(0.005 * 0.5) = 0.05 and sqrt(0.0025 * 0.25) = 0.025.
    """
    lp = program([10], new_means(2, 2))
    level = [0.5 * math.log(11), 0.5 * math.log(21)]
    assert lp.gains == pytest.approx([1 - 1 / (1 + math.sqrt(n)) for n in (10, 20)], rel=1e-14)
    low = [
        0.05 / (1 + math.sqrt(level[0]) + level[0]),
        0.025 / (1 + math.sqrt(level[1]) + level[1]),
    ]
    assert lp.uses[:, 0] == pytest.approx(low, rel=1e-14)
    # 12 rounds are N = 6; one open ticket halves that, and a cap of 8 less makes N = 4
    lp = program([10, 12], new_means(2, 2), pending=[1, 0], caps=[math.inf, 8])
    assert lp.gains == pytest.approx([1 - 1 / (1 + math.sqrt(n)) for n in (3, 4)], rel=1e-14)
    assert lp.uses[:, 1].tolist() == [1, 1]
    # a cap that is used up; an arm may cost no less than it was declared to
    lp = program([10], new_means(2, 2), caps=[-1, 0], share=0.001)
    assert lp.gains.tolist() == [0, 0]
    assert lp.uses[:, 0].tolist() == [0.001, 0.001]


def test_bounds_of_known_arms_by_hand() -> None:
    """Arm 0 has 4 reports of 8 with half of their deviations, means of 0.3 and 0.4 and costs up to
    0.8; N = 10 / 0.4 / 2 = 12.5, and two open tickets count as reports in L alone.
    """
    known = new_means(2, 2)
    known.weights[:], known.means[:] = [8, 999], [[0.3, 0.4], [0.2, 0]]
    known.spreads[0], known.tops[:, 1] = [0.5, 1], [0.8, 0]
    lp = program([10], known, kept=[0.5, 1], pending=[2, 0])
    level = 0.5 * math.log(1 + 12.5 / 6)
    width = math.sqrt(2 * level * (0.25 + 0.25)) / 5 + level / 15
    assert lp.gains[0] == pytest.approx(0.3 + width, rel=1e-14)
    width = math.sqrt(2 * level * (0.5 + 0.16)) / 5 + level * 0.8 / 15
    assert lp.uses[0, 0] == pytest.approx(0.4 / (1 + width / 0.4), rel=1e-14)
    # arm 1 never cost anything: the least that was declared counts, and N = 10 / 0.001 / 2
    level = 0.5 * math.log(1 + 5000 / 999)
    assert lp.gains[1] == pytest.approx(0.2 + math.sqrt(level / 2) / 1000 + level / 3000, rel=1e-14)
    assert lp.uses[1, 0] == 0.001
    known.means[1, 0] = 1
    assert program([10], known).gains[1] == 1
