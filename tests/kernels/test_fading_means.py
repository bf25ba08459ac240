from __future__ import annotations

import math

import numpy as np
import pytest

from purse.kernels.change_test import find_change, new_change_test
from purse.kernels.fading_means import (
    FadingMeans,
    add_value,
    change_rate,
    faded,
    keep_block,
    new_means,
    weigh,
)


def add(known: FadingMeans, arm: int, *reports: list[float]) -> None:
    for report in reports:
        known.weights[arm] += 1
        for s, value in enumerate(report):
            add_value(known, arm, s, value)


def test_weights_by_hand() -> None:
    # 8 exp(-1) = 2.94 reports are left of 8, and of 2 one, not 0.74
    assert faded(8.0, 10.0, 0.1) == pytest.approx(math.exp(-1), rel=1e-15)
    assert faded(2.0, 10.0, 0.1) == 0.5
    assert faded(2.0, 10.0, 0.05) == pytest.approx(math.exp(-0.5), rel=1e-15)
    assert faded(8.0, 0.0, 0.1) == faded(8.0, 10.0, 0.0) == 1
    assert faded(8.0, -5.0, 0.1) == 1  # of a report that overtook this one
    assert faded(0.0, 10.0, 0.1) == faded(1.0, 10.0, 0.1) == 1
    # two changes in 10 rounds
    assert change_rate(0.15, 2, 10) == pytest.approx(0.215, rel=1e-15)


def test_means_and_deviations_of_all_that_was_told() -> None:
    order = np.random.default_rng(0)
    reports = order.random((2, 50, 3))
    known = new_means(2, 3)
    for k in range(50):
        for arm in (0, 1):
            add(known, arm, reports[arm, k].tolist())
    assert known.weights.tolist() == [50, 50]
    assert known.means == pytest.approx(reports.mean(axis=1), rel=1e-13)
    assert known.spreads == pytest.approx(50 * reports.var(axis=1), rel=1e-12)
    assert known.tops.tolist() == reports.max(axis=1).tolist()


def test_faded_reports_count_for_less() -> None:
    known = new_means(2, 1)
    add(known, 0, [0.2], [0.6], [0.2], [0.6])
    add(known, 1, [0.5])
    weigh(known, 0, 0.5)
    # deviations of 4 * 0.04 of the mean 0.4; two of such reports and one of 1 make 0.6, with
    # 2 * 0.04 + 2 * 0.2^2 + 0.4^2
    assert (known.weights[0], known.spreads[0, 0]) == (2, pytest.approx(0.08, rel=1e-14))
    add(known, 0, [1.0])
    assert known.means[0, 0] == pytest.approx(0.6, rel=1e-14)
    assert known.spreads[0, 0] == pytest.approx(0.32, rel=1e-14)
    assert (known.weights[0], known.tops[0, 0]) == (3, 1)
    assert (known.weights[1], known.means[1, 0]) == (1, 0.5)


def test_after_a_change_the_block_that_differs_is_kept_and_little_else() -> None:
    known, test = new_means(4, 2), new_change_test(4, 2)
    tops, reports = np.ones(2), [[0.0, 0.5]] * 8 + [[1.0, 0.25]] * 8
    add(known, 0, *[[0.25, 0.5], [0.75, 0.5]] * 2)
    add(known, 1, [0.75, 0.5])
    for report in reports:
        add(known, 2, report)
        test.sums[2] += report
        place = find_change(test, 2, tops, 1.5)
    assert place == 0
    keep_block(known, test, 2, place)
    # arm 0 had 4 reports and keeps 2, with half of its deviations of 4 / 16; arm 1 has only one,
    # and arm 3 none
    assert known.weights.tolist() == [2, 1, 8, 0]
    assert known.means.tolist() == [[0.5, 0.5], [0.75, 0.5], [1, 0.25], [0, 0]]
    # arm 2 has half of all deviations: of 16 / 4 and of 16 / 64
    assert known.spreads[:, 0] == pytest.approx([0.125, 0, 2, 0], rel=1e-14)
    assert known.spreads[:, 1] == pytest.approx([0, 0, 0.125, 0], rel=1e-14)
    assert not any(array.any() for array in test)
