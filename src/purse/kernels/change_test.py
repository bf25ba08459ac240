"""A test for changes in the means of several series of reports, one of each arm.

When a block of 8, 16, 32, ... reports on an arm is complete, its mean b is compared with the mean a
of all n_a reports before it. With n_b reports in the block, n in all and their mean ab, the means
differ if

    n_a kl(a, ab) + n_b kl(b, ab) > threshold + ln(n),

the generalised likelihood ratio of two coins. A report is S numbers, the signals, each between 0
and its largest value. A test costs four logarithms, at every eighth report or less often.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import log
from purse.types import Floats, Ints

FIRST_BLOCK = 8
SIZES = 11  # blocks of up to 2^13 reports


class ChangeTest(NamedTuple):
    """What the test keeps of each arm since the last change anywhere."""

    reports: Ints  # (K,)
    sums: Floats  # (K, S)
    before: Floats  # (K, SIZES, S) the sums when the last block of each size was complete


def new_change_test(n_arms: int, n_signals: int) -> ChangeTest:
    """Return the test with nothing seen yet."""
    return ChangeTest(
        np.zeros(n_arms, np.int64),
        np.zeros((n_arms, n_signals)),
        np.zeros((n_arms, SIZES, n_signals)),
    )


@kernel
def find_change(test: ChangeTest, arm: int, tops: Floats, threshold: float) -> int:
    """Count a report whose signals are in `sums`; return the place of the block that differs.

    tops   (S,) the largest value of each signal

    Return -1 where no block differs.
    """
    test.reports[arm] += 1
    if test.reports[arm] % FIRST_BLOCK != 0:
        return -1
    return compare_blocks(test, arm, tops, threshold)


@cold
def compare_blocks(test: ChangeTest, arm: int, tops: Floats, threshold: float) -> int:
    """Close the blocks that end with this report, and compare each with all that came before."""
    n = test.reports[arm]
    size = FIRST_BLOCK
    for place in range(SIZES):
        if n % size != 0:
            break
        older = n - size
        for s in range(test.sums.shape[1]):
            if older >= size and tops[s] > 0:
                mean = test.sums[arm, s] / n / tops[s]
                old = test.before[arm, place, s] / older / tops[s]
                new = block_mean(test, arm, place, s) / tops[s]
                ratio = older * divergence(old, mean) + size * divergence(new, mean)
                if ratio > threshold + log(float(n)):
                    return place
        for s in range(test.sums.shape[1]):
            test.before[arm, place, s] = test.sums[arm, s]
        size *= 2
    return -1


@cold
def block_mean(test: ChangeTest, arm: int, place: int, s: int) -> float:
    """Return the mean of a signal in the block that `find_change` returned."""
    return (test.sums[arm, s] - test.before[arm, place, s]) / (FIRST_BLOCK << place)


@cold
def divergence(p: float, q: float) -> float:
    """kl(p, q) of two coins, in nats."""
    found = 0.0
    if p > 0:
        found += p * log(p / max(q, 1e-12))
    if p < 1:
        found += (1 - p) * log((1 - p) / max(1 - q, 1e-12))
    return found


@cold
def begin_afresh(test: ChangeTest) -> None:
    """Forget all reports, after a change."""
    for arm in range(test.reports.shape[0]):
        test.reports[arm] = 0
        for s in range(test.sums.shape[1]):
            test.sums[arm, s] = 0.0
            for place in range(SIZES):
                test.before[arm, place, s] = 0.0
