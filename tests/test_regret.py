from __future__ import annotations

import math

import numpy as np
import pytest

from purse.regret import against_best_fixed_arm, best_arm, estimate


def test_the_interval_is_students() -> None:
    result = estimate(np.array([1.0, 2.0, 3.0, 4.0]))
    error = math.sqrt(5 / 3) / 2
    assert result.mean == 2.5
    assert result.error == pytest.approx(error)
    assert result.high - result.mean == pytest.approx(3.182446305 * error)
    assert result.mean - result.low == pytest.approx(3.182446305 * error)


def test_one_path_has_a_mean_and_no_interval() -> None:
    result = estimate(np.array([7.0]))
    assert result.mean == 7
    assert math.isnan(result.error)
    assert math.isnan(result.low)


def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    samples = np.random.default_rng(0).normal(3, 1, (4000, 5))
    covered = np.mean([low < 3 < high for _, _, low, high in map(estimate, samples)])
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4000)


def test_the_arm_is_best_on_average_and_the_difference_is_paired() -> None:
    fixed = np.array([[10.0, 0.0, 2.0], [5.0, 5.0, 5.0]])
    assert best_arm(fixed) == 1
    assert against_best_fixed_arm(np.array([4.0, 5.0, 7.0]), fixed).tolist() == [1.0, 0.0, -2.0]
