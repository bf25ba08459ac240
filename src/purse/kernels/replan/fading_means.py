"""Means of reports that count for less with age, and for little after a change.

A report on an arm is S numbers, the signals, each between 0 and its largest value. With each report
on any arm, in round t, all earlier ones fade: `rate` changes in all of t rounds are expected, g
rounds after the last report n reports count for

    max{1, n t / (t + rate g)}

reports. Only weights fade: an old mean stays the best guess there is.

A test finds changes. When a block of 8, 16, 32, ... reports on an arm is complete, its mean b is
compared with the mean a of all n_a reports before it. With n_b reports in the block, n in all and
their mean ab, the means differ if

    n_a kl(a, ab) + n_b kl(b, ab) > threshold + ln(n),

the generalised likelihood ratio of two coins. After a change the arm keeps the block of reports
that differs, and other arms keep little.
"""

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import log
from purse.types import Floats, Ints

_FIRST_BLOCK = 8
_SIZES = 11  # blocks of up to 2^13 reports
_REMEMBERED = 2.0  # the weight that other arms keep after a change


class FadingMeans(NamedTuple):
    """The reports on each arm."""

    weights: Floats  # (K,) what they count for
    means: Floats  # (K, S)
    variances: Floats  # (K, S)
    tops: Floats  # (K, S) the largest value of each signal


def new_means(n_arms: int, n_signals: int) -> FadingMeans:
    """Return the means before any report: all numbers are 0."""
    signals = (n_arms, n_signals)
    return FadingMeans(np.zeros(n_arms), np.zeros(signals), np.zeros(signals), np.zeros(signals))


@kernel
def fade(arms: FadingMeans, factor: float) -> None:
    """Let all reports count for `factor` times as much, an arm's for 1 at least."""
    for i in range(arms.weights.shape[0]):
        weight = arms.weights[i]
        arms.weights[i] = max(factor * weight, min(1.0, weight))


@kernel
def add_value(arms: FadingMeans, arm: int, s: int, value: float, part: float) -> None:
    """Add a signal of a report that `weights` counts already, as this part of all."""
    off = value - arms.means[arm, s]
    arms.means[arm, s] += off * part
    arms.variances[arm, s] += (off * (value - arms.means[arm, s]) - arms.variances[arm, s]) * part
    arms.tops[arm, s] = max(arms.tops[arm, s], value)


class ChangeTest(NamedTuple):
    """The sums of the test for each arm since the last change anywhere."""

    reports: Ints  # (K,)
    sums: Floats  # (K, S)
    before: Floats  # (K, SIZES, S) the sums when the last block of each size was complete


def new_change_test(n_arms: int, n_signals: int) -> ChangeTest:
    """Return the test before any report."""
    return ChangeTest(
        np.zeros(n_arms, np.int64),
        np.zeros((n_arms, n_signals)),
        np.zeros((n_arms, _SIZES, n_signals)),
    )


@kernel
def find_change(test: ChangeTest, arm: int, tops: Floats, threshold: float) -> int:
    """Count a report whose signals are in `sums`; return the number k of the block that differs.

    tops   (S,) the largest value of each signal

    Return -1 if no block differs.
    """
    test.reports[arm] += 1
    if test.reports[arm] % _FIRST_BLOCK != 0:
        return -1
    return _compare_blocks(test, arm, tops, threshold)


@cold
def _compare_blocks(test: ChangeTest, arm: int, tops: Floats, threshold: float) -> int:
    """Close the blocks that end with this report, and compare each with all that came before."""
    n = test.reports[arm]
    size = _FIRST_BLOCK
    least = threshold + log(float(n))
    for k in range(_SIZES):
        if n % size != 0:
            break
        older = n - size
        for s in range(test.sums.shape[1]):
            if older >= size and tops[s] > 0:
                part = 1 / tops[s]
                mean = test.sums[arm, s] * part / n
                old = test.before[arm, k, s] * part / older
                new = _block_mean(test, arm, k, s) * part
                # kl(p, q) <= (p - q)^2 / (q (1 - q)), which mostly says enough
                squares = older * (old - mean) ** 2 + size * (new - mean) ** 2
                if squares > least * mean * (1 - mean):
                    ratio = older * _divergence(old, mean) + size * _divergence(new, mean)
                    if ratio > least:
                        return k
        for s in range(test.sums.shape[1]):
            test.before[arm, k, s] = test.sums[arm, s]
        size *= 2
    return -1


@cold
def _block_mean(test: ChangeTest, arm: int, k: int, s: int) -> float:
    """Return the mean of a signal in the block that `find_change` returned."""
    return (test.sums[arm, s] - test.before[arm, k, s]) / (_FIRST_BLOCK << k)


@cold
def _divergence(p: float, q: float) -> float:
    """Return kl(p, q) of two coins, in nats."""
    total = 0.0
    if p > 0:
        total += p * log(p / max(q, 1e-12))
    if p < 1:
        total += (1 - p) * log((1 - p) / max(1 - q, 1e-12))
    return total


@cold
def restart(test: ChangeTest) -> None:
    """Forget all reports, after a change."""
    for arm in range(test.reports.shape[0]):
        test.reports[arm] = 0
        for s in range(test.sums.shape[1]):
            test.sums[arm, s] = 0.0
            for k in range(_SIZES):
                test.before[arm, k, s] = 0.0


@cold
def keep_block(arms: FadingMeans, test: ChangeTest, changed: int, k: int) -> None:
    """Keep the block that differs, which `find_change` returned, and little of other arms.

    The test starts again.
    """
    for i in range(arms.weights.shape[0]):
        arms.weights[i] = min(_REMEMBERED, arms.weights[i])
    arms.weights[changed] = float(_FIRST_BLOCK << k)
    for s in range(arms.means.shape[1]):
        arms.means[changed, s] = _block_mean(test, changed, k, s)
    restart(test)
