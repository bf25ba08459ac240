"""The most that the best way can gain: by hand, against HiGHS, and how often it is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from purse.identification.certify import most_gain
from purse.kernels.mean_bounds import _upper, log_term_of, lower
from tests.support.soak import scale

CONFIDENCE = 0.9


def test_with_one_resource_it_is_the_largest_ratio_of_the_bounds() -> None:
    counts, rewards, costs = [50, 200], [10.0, 120.0], [[20.0], [150.0]]
    ranges = [[(0.0, 1.0)], [(0.75, 0.75)]]  # the second cost is known, so there are 3 bounds
    term = log_term_of(CONFIDENCE, 3)
    by_hand = [_upper(0.2, 50, term) / lower(0.4, 50, term), _upper(0.6, 200, term) / 0.75]
    for paid, among in ((170.0, [0, 1]), (80.0, [1])):
        most = most_gain(
            counts,
            rewards,
            costs,
            paid=[paid],
            cost_ranges=ranges,
            among=among,
            confidence=CONFIDENCE,
        )
        assert most == pytest.approx(paid * max(by_hand[i] for i in among), rel=1e-12)


def test_an_arm_without_a_report_may_be_as_good_as_its_range_allows() -> None:
    common = {"paid": [30.0], "confidence": CONFIDENCE, "reward_range": (-1.0, 5.0)}
    known = [[(0.5, 0.5)], [(0.1, 2.0)]]
    assert most_gain([9, 0], [9, 0], [[4.5], [0]], cost_ranges=known, **common) == 30 * 5 / 0.1
    free = [[(0.5, 0.5)], [(0.0, 2.0)]]
    assert most_gain([9, 0], [9, 0], [[4.5], [0]], cost_ranges=free, **common) == math.inf


def test_what_nothing_was_paid_of_no_arm_can_use() -> None:
    ranges = [[(0.5, 0.5), (0.0, 0.0)], [(0.0, 0.0), (0.2, 0.2)]]
    most = most_gain(
        [3, 0], [1, 0], [[1.5, 0], [0, 0]], paid=[0, 5], cost_ranges=ranges, confidence=CONFIDENCE
    )
    assert most == pytest.approx(5 / 0.2)


def test_several_resources_and_rounds_are_the_program_with_the_bounds() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        k, d = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        counts = rng.integers(1, 500, k)
        rewards, costs = counts * rng.random(k), counts[:, None] * (0.1 + rng.random((k, d)))
        paid, rounds = rng.uniform(1, 300, d), int(rng.integers(10, 600))
        ranges = [[(float(c), float(c)) for c in row] for row in costs / counts[:, None]]
        most = most_gain(
            counts.tolist(),
            rewards.tolist(),
            costs.tolist(),
            paid=paid.tolist(),
            rounds=rounds,
            cost_ranges=ranges,
            confidence=CONFIDENCE,
        )
        term = log_term_of(CONFIDENCE, k)
        gains = [_upper(r / n, n, term) for r, n in zip(rewards, counts, strict=True)]
        rows = np.r_[(costs / counts[:, None]).T, np.ones((1, k))]
        found = linprog([-gain for gain in gains], A_ub=rows, b_ub=[*paid, rounds])
        assert most == pytest.approx(-found.fun, rel=1e-6)


def test_it_is_seldom_wrong_for_one_who_stops_when_it_suits_him() -> None:
    n_paths, n, mean, cost, confidence = scale(200, 2_000), 120, 0.3, 0.5, 0.1
    rng, wrong = np.random.default_rng(8), 0
    for _ in range(n_paths):
        gained = np.cumsum(rng.random(n) < mean).tolist()  # by the only arm
        wrong += any(
            most_gain(
                [i],
                [gained[i - 1]],
                [[cost * i]],
                paid=[1.0],
                cost_ranges=[[(cost, cost)]],
                confidence=confidence,
            )
            < mean / cost
            for i in range(1, n + 1, 2)
        )
    error = math.sqrt(confidence * (1 - confidence) / n_paths)
    assert 0 < wrong / n_paths <= 1 - confidence + 2 * error
