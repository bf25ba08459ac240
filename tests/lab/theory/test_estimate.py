import math

import numpy as np
import pytest
from scipy.special import stdtrit

from purse.lab.theory.estimate import estimate, t_quantile
from purse.lab.theory.growth import _SHAPES, fit_growth
from tests.support.soak import scale

BUDGETS = np.array([1e2, 1e3, 1e4, 1e5, 1e6])


def test_the_interval_is_students() -> None:
    for degrees in (*range(1, 30), 99, 100, 999, 100_000):
        for level in (0.5, 0.95, 0.999):
            exact = stdtrit(degrees, 0.5 + level / 2)
            assert t_quantile(degrees, level) == pytest.approx(exact, rel=1e-12)
    half = 3.182446305 * (error := math.sqrt(5 / 3) / 2)
    result = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    assert result == pytest.approx((2.5, error, 2.5 - half, 2.5 + half))
    mean, *rest = estimate(np.array([7.0]))  # one path has no interval
    assert mean == 7
    assert all(map(math.isnan, rest))


@pytest.mark.parametrize("name", _SHAPES)
def test_the_shape_that_made_the_numbers_is_found_without_misfit(name: str) -> None:
    growth = fit_growth(BUDGETS, np.repeat((3 + 2 * _SHAPES[name](BUDGETS))[:, None], 4, axis=1))
    assert growth.shape == name
    assert growth.misfits[name] < 1e-12
    assert min(error for other, error in growth.misfits.items() if other != name) > 0.02


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_the_slope_of_a_power_is_its_exponent_and_lies_in_its_interval(power: float) -> None:
    noise = 1 + 0.2 * np.random.default_rng(1).standard_normal((5, 60))
    values = 7 * BUDGETS[:, None] ** power * noise
    growth = fit_growth(BUDGETS, values)
    assert growth.low < power < growth.high
    assert growth.high - growth.low < 0.05
    assert growth.slopes == pytest.approx([power] * 4, abs=0.05)
    assert fit_growth(BUDGETS, values) == growth


def test_intervals_of_slopes_cover_the_truth_as_often_as_they_say() -> None:
    random, covered, tries = np.random.default_rng(0), 0, scale(40, 200)
    for _ in range(tries):
        growth = fit_growth(
            BUDGETS[:3], np.sqrt(BUDGETS[:3])[:, None] * (1 + 0.2 * random.standard_normal((3, 40)))
        )
        covered += growth.low < 0.5 < growth.high
    assert abs(covered / tries - 0.95) < 4 * np.sqrt(0.95 * 0.05 / tries)


def test_what_has_no_noise_no_slope_or_falls() -> None:
    common = 1 + 0.3 * np.random.default_rng(2).standard_normal(50)  # which all budgets share
    shared = fit_growth(BUDGETS, np.sqrt(BUDGETS)[:, None] * common)
    assert shared.high - shared.low < 1e-9
    negative = fit_growth(BUDGETS[:2], np.array([[-1.0, -2.0], [3.0, 4.0]]))
    assert np.isnan([negative.slope, negative.low]).all()
    assert negative.shape in _SHAPES
    assert fit_growth(BUDGETS, np.repeat((1 / BUDGETS)[:, None], 3, axis=1)).misfits["B"] > 0.5
