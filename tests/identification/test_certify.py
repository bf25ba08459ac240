"""The most that the best way can gain: by hand, against HiGHS, and how often it is wrong."""

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
    ranges = [[(0.0, 1.0)], [(0.75, 0.75)]]  # the second cost is known
    for paid, among, as_first in (
        (170.0, None, True),
        (170.0, [0, 1], False),
        (80.0, [1], False),
        (80.0, [1], True),
    ):
        # only the best arm's two bounds must hold, and of a delta of .1 nine tenths are for the
        # arms of the beginning; later the other tenth is shared by all 3 bounds
        term = log_term_of(1 - 0.09, 2) if as_first else log_term_of(1 - 0.01, 3)
        by_hand = [_upper(0.2, 50, term) / lower(0.4, 50, term), _upper(0.6, 200, term) / 0.75]
        most = most_gain(
            counts,
            rewards,
            costs,
            paid=[paid],
            cost_ranges=ranges,
            among=among,
            as_first=as_first,
            confidence=CONFIDENCE,
        )
        best = max(by_hand[i] for i in among or (0, 1))
        assert most == pytest.approx(paid * best, rel=1e-12)


def least_cost(n: int, total: float, squares: float, confidence: float) -> float:
    """The lower bound on the mean cost of an arm that surely pays 1."""
    most = most_gain(
        [n],
        [n],
        [[total]],
        cost_squares=[squares],
        paid=[1.0],
        cost_ranges=[[(0.0, 1.0)]],
        reward_range=(1.0, 1.0),
        confidence=confidence,
    )
    return 1 / most


def test_a_bet_by_hand() -> None:
    # 400 costs of .3: with a bet of size s, x = .3 / m - 1 solves
    # 400 s x - 400 psi(s) x^2 = ln(2 * 2 / (.9 * .05)) + ln 10
    term = math.log(2 * 2 / 0.045) + math.log(10)
    bounds = []
    for size in (0.5, 0.25, 0.125):
        psi = -math.log(1 - size) - size
        roots = np.roots([-400 * psi, 400 * size, -term])
        bounds.append(0.3 / (1 + float(roots.real.min())))
    assert least_cost(400, 120, 36, 0.95) == pytest.approx(max(bounds), rel=1e-6)
    assert max(bounds) > 0.93 * 0.3 > 0.9 * 0.3 > lower(0.3, 400, log_term_of(1 - 0.045, 4))


def test_a_bet_is_seldom_wrong_and_knows_the_variance() -> None:
    n_paths, confidence = scale(150, 1_500), 0.5
    rng, wrong = np.random.default_rng(3), 0
    sizes = np.array([10, 30, 100, 200])
    for path in range(n_paths):
        # by turns heavy tails, two values and hardly any spread; the mean costs are known
        draws, mean = (
            (np.minimum(rng.lognormal(-4, 1, 200), 1), 0.0301),
            ((rng.random(200) < 0.05) * 1.0, 0.05),
            (rng.uniform(0.28, 0.32, 200), 0.3),
        )[path % 3]
        sums, squares = np.cumsum(draws), np.cumsum(draws * draws)
        bounds = [least_cost(int(n), sums[n - 1], squares[n - 1], confidence) for n in sizes]
        wrong += max(bounds) > mean
        if path % 3 == 2:
            assert bounds[-1] > 0.9 * mean
    assert wrong / n_paths <= 1 - confidence


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
