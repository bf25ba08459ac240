from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from purse.lab.theory.estimate import estimate, t_quantile
from purse.lab.theory.growth import SHAPES, fit_growth
from tests.support.soak import scale

BUDGETS = np.array([1e2, 1e3, 1e4, 1e5, 1e6])


@pytest.mark.parametrize("degrees", [*range(1, 30), 99, 100, 999, 100_000])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_it_is_the_quantile_that_scipy_has(degrees: int, level: float) -> None:
    assert t_quantile(degrees, level) == pytest.approx(stdtrit(degrees, 0.5 + level / 2), rel=1e-12)


def test_the_interval_is_students() -> None:
    result = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    error = math.sqrt(5 / 3) / 2
    assert result.mean == 2.5
    assert result.error == pytest.approx(error)
    assert result.high - result.mean == pytest.approx(3.182446305 * error)
    assert result.mean - result.low == pytest.approx(3.182446305 * error)


def test_one_path_has_a_mean_and_no_interval() -> None:
    mean, *rest = estimate(np.array([7.0]))
    assert mean == 7
    assert all(map(math.isnan, rest))


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    samples = np.random.default_rng(0).normal(3, 1, (4000, 5))
    covered = np.mean([low < 3 < high for _, _, low, high in map(estimate, samples)])
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4000)


def noisy(means: np.ndarray, spread: float, n_paths: int = 60) -> np.ndarray:
    return means[:, None] * (
        1 + spread * np.random.default_rng(1).standard_normal((len(means), n_paths))
    )


@pytest.mark.parametrize("name", SHAPES)
def test_the_shape_that_made_the_numbers_is_found_without_misfit(name: str) -> None:
    growth = fit_growth(BUDGETS, np.repeat((3 + 2 * SHAPES[name](BUDGETS))[:, None], 4, axis=1))
    assert growth.shape == name
    assert growth.misfits[name] < 1e-12
    assert min(error for other, error in growth.misfits.items() if other != name) > 0.02


@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_the_slope_of_a_power_is_its_exponent_and_lies_in_its_interval(power: float) -> None:
    growth = fit_growth(BUDGETS, noisy(7 * BUDGETS**power, 0.2))
    assert growth.low < power < growth.high
    assert growth.high - growth.low < 0.05
    assert growth.slopes == pytest.approx([power] * 4, abs=0.05)


def test_intervals_of_slopes_cover_the_truth_as_often_as_they_say() -> None:
    random, covered, tries = np.random.default_rng(0), 0, scale(40, 200)
    for _ in range(tries):
        growth = fit_growth(
            BUDGETS[:3], np.sqrt(BUDGETS[:3])[:, None] * (1 + 0.2 * random.standard_normal((3, 40)))
        )
        covered += growth.low < 0.5 < growth.high
    assert abs(covered / tries - 0.95) < 4 * np.sqrt(0.95 * 0.05 / tries)


def test_noise_that_all_budgets_share_does_not_widen_the_interval() -> None:
    common = 1 + 0.3 * np.random.default_rng(2).standard_normal(50)
    growth = fit_growth(BUDGETS, np.sqrt(BUDGETS)[:, None] * common)
    assert growth.high - growth.low < 1e-9


def test_a_mean_that_is_not_positive_has_no_slope() -> None:
    growth = fit_growth(BUDGETS[:2], np.array([[-1.0, -2.0], [3.0, 4.0]]))
    assert np.isnan(growth.slope)
    assert np.isnan(growth.low)
    assert growth.shape in SHAPES


def test_a_shape_may_not_fall() -> None:
    assert fit_growth(BUDGETS, np.repeat((1 / BUDGETS)[:, None], 3, axis=1)).misfits["B"] > 0.5


def test_the_same_numbers_give_the_same_fit() -> None:
    values = noisy(np.sqrt(BUDGETS), 0.2)
    assert fit_growth(BUDGETS, values) == fit_growth(BUDGETS, values)
