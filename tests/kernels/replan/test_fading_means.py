"""Means that fade, and the test for changes."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import rel_entr

from purse.compiler.jit import bind
from purse.kernels.replan.fading_means import (
    _SIZES,
    ChangeTest,
    FadingMeans,
    _block_mean,
    add_value,
    fade,
    find_change,
    keep_block,
    new_change_test,
    new_means,
)
from purse.types import Floats

ONE = np.ones(1)


def add(known: FadingMeans, arm: int, *reports: list[float]) -> None:
    for report in reports:
        known.weights[arm] += 1
        for s, value in enumerate(report):
            add_value(known, arm, s, value, 1 / known.weights[arm])


def test_weights_by_hand() -> None:
    known = new_means(4, 1)
    known.weights[:] = 8, 2, 1, 0
    fade(known, 10 / (10 + 2.5 * 4))  # 2.5 changes in 10 rounds, 4 rounds after the last report
    assert known.weights.tolist() == [4, 1, 1, 0]
    fade(known, 0.125)
    assert known.weights.tolist() == [1, 1, 1, 0]


def test_means_and_deviations_of_all_that_was_told() -> None:
    order = np.random.default_rng(0)
    reports = order.random((2, 50, 3))
    known = new_means(2, 3)
    for k in range(50):
        for arm in (0, 1):
            add(known, arm, reports[arm, k].tolist())
    assert known.weights.tolist() == [50, 50]
    assert known.means == pytest.approx(reports.mean(axis=1), rel=1e-13)
    assert known.variances == pytest.approx(reports.var(axis=1), rel=1e-12)
    assert known.tops.tolist() == reports.max(axis=1).tolist()


def test_faded_reports_count_for_less() -> None:
    known = new_means(2, 1)
    add(known, 0, [0.2], [0.6], [0.2], [0.6])
    add(known, 1, [0.5])
    fade(known, 0.5)
    # a variance of 0.04 about the mean 0.4; two of such reports and one of 1 make 0.6, with
    # (2 * 0.04 + 2 * 0.2^2 + 0.4^2) / 3
    assert known.weights.tolist() == [2, 1]
    assert known.variances[0, 0] == pytest.approx(0.04, rel=1e-14)
    add(known, 0, [1.0])
    assert known.means[0, 0] == pytest.approx(0.6, rel=1e-14)
    assert known.variances[0, 0] == pytest.approx(0.32 / 3, rel=1e-14)
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
    # arm 0 had 4 reports and keeps 2; arm 1 has only one, and arm 3 none
    assert known.weights.tolist() == [2, 1, 8, 0]
    assert known.means.tolist() == [[0.5, 0.5], [0.75, 0.5], [1, 0.25], [0, 0]]
    # arm 2 has the variance of all its reports
    assert known.variances[:, 0] == pytest.approx([1 / 16, 0, 1 / 4, 0], rel=1e-14)
    assert known.variances[:, 1] == pytest.approx([0, 0, 1 / 64, 0], rel=1e-14)
    assert not any(array.any() for array in test)


def tell_all(
    test: ChangeTest, reports: Floats, arm: int, tops: Floats, threshold: float
) -> tuple[int, int]:
    """The loop of `feed`, compiled."""
    for n in range(reports.shape[0]):
        for s in range(reports.shape[1]):
            test.sums[arm, s] += reports[n, s]
        place = find_change(test, arm, tops, threshold)
        if place >= 0:
            return n + 1, place
    return -1, -1


compiled = bind(tell_all)


def feed(
    test: ChangeTest,
    series: list[float] | Floats,
    *,
    arm: int = 0,
    tops: Floats = ONE,
    threshold: float = 1.5,
) -> tuple[int, int]:
    """How many reports were told until a block differs, and its place; (-1, -1) where none does."""
    reports = np.array(series, float).reshape(-1, test.sums.shape[1])
    n, place = compiled(test, reports, arm, tops, threshold)
    return int(n), int(place)


def kl(p: float, q: float) -> float:
    return float(rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def ratio(old: Floats, new: Floats) -> float:
    both = float(np.concatenate([old, new]).mean())
    return len(old) * kl(float(old.mean()), both) + len(new) * kl(float(new.mean()), both)


@pytest.mark.parametrize("ones", [1, 4, 7])
def test_the_threshold_is_the_likelihood_ratio_less_the_logarithm(ones: int) -> None:
    old, new = np.array([1.0, 0] * 4), np.repeat([1.0, 0], [ones, 8 - ones])
    # with 7 ones: 8 kl(1/2, 11/16) + 8 kl(7/8, 11/16) = 1.378
    exact = ratio(old, new) - math.log(16)
    assert ones != 7 or exact + math.log(16) == pytest.approx(1.378, abs=1e-4)
    series = np.concatenate([old, new])
    assert feed(new_change_test(1, 1), series, threshold=exact + 1e-9) == (-1, -1)
    assert feed(new_change_test(1, 1), series, threshold=exact - 1e-9) == (16, 0)


def test_a_change_that_only_the_larger_block_shows() -> None:
    # 16 zeros, then 3 ones in each 8. After 24 reports the ratio is 3.75 and the threshold 1.3 +
    # ln 24 = 4.48; after 32 the last 8 have 1.11 and the last 16 have 4.86 against 4.77
    test, eight = new_change_test(1, 1), [1, 1, 1, 0, 0, 0, 0, 0]
    assert feed(test, [0] * 16 + eight * 2, threshold=1.3) == (32, 1)
    assert _block_mean(test, 0, 1, 0) == 6 / 16


def test_each_block_is_held_against_all_that_came_before() -> None:
    """The plain formula over a long series, with a threshold just above the largest ratio of any
    block but the one that is found.
    """
    series = np.random.default_rng(3).random(4096) < 0.3
    ratios = {
        (n, place): ratio(series[: n - size], series[n - size : n]) - math.log(n)
        for n in range(16, 4097, 8)
        for place in range(_SIZES)
        if n % (size := 8 << place) == 0 and n >= 2 * size
    }
    order = sorted(ratios, key=lambda which: ratios[which], reverse=True)
    for high, low in pairwise(order[:40]):
        threshold = (ratios[high] + ratios[low]) / 2
        first = min(which for which in order if ratios[which] > threshold)
        assert feed(new_change_test(1, 1), series, threshold=threshold) == first


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_nothing_changes_in_a_constant_series(value: float) -> None:
    for top in (1.0, 2.5):
        test = new_change_test(1, 1)
        assert feed(test, [value] * 20_000, tops=np.array([top]), threshold=1e-6) == (-1, -1)
    two = new_change_test(1, 2)  # a signal that is always 0 is left out
    assert feed(two, [value, 0.0] * 64, tops=np.array([1.0, 0.0])) == (-1, -1)


def test_each_signal_counts_in_its_own_scale_and_each_arm_for_itself() -> None:
    calm, jump = [0.5, 0], [0.5, 4]
    test = new_change_test(3, 2)
    tops = np.array([1.0, 4.0])
    assert feed(test, [*calm * 16], arm=2, tops=tops) == (-1, -1)
    assert feed(test, [*calm * 8], arm=0, tops=tops) == (-1, -1)
    # with a top of 400 the jump is one from 0 to 0.01
    wide = new_change_test(1, 2)
    assert feed(wide, [*calm * 8, *jump * 8], tops=np.array([1.0, 400.0])) == (-1, -1)
    assert feed(test, [*jump * 8], arm=0, tops=tops) == (8, 0)
    assert [_block_mean(test, 0, 0, s) for s in (0, 1)] == [0.5, 4]
    assert feed(test, [*jump * 8], arm=1, tops=tops) == (-1, -1)  # it never was otherwise


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.9])
def test_false_alarms_are_rare(chance: float) -> None:
    """Coins that do not change, 2,000 reports on each of 200 arms; the test restarts after an
    alarm.
    """
    coins = np.random.default_rng(0).random((200, 2000)) < chance
    alarms = 0
    for series in coins:
        rest = series
        test = new_change_test(1, 1)
        while (first := feed(test, rest)[0]) >= 0:
            alarms += 1
            test = new_change_test(1, 1)
            rest = rest[first:]
    # 7, 7 and 4 in 400,000 reports: one in 65,000, give or take four standard errors
    assert 0 < alarms <= 6 + 4 * math.sqrt(6)
