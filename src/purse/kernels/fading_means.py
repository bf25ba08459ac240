"""Means of reports that count for less with age, and for little after a change.

A report on an arm is S numbers, the signals. Where changes come at a rate of `rate` a round, n
reports whose last one is `age` rounds old count for

    max{1, n exp(-rate age)}

reports of today. Only weights fade: an old mean stays the best guess there is. When `change_test`
finds a change, the arm keeps the block of reports that differs, and other arms keep little.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.change_test import FIRST_BLOCK, ChangeTest, begin_afresh, block_mean
from purse.kernels.fastmath import exp
from purse.types import Floats

KEPT = 2.0  # the weight that other arms keep after a change


class FadingMeans(NamedTuple):
    """What is known of each arm."""

    weights: Floats  # (K,) how many reports the arm has, faded up to the last of them
    means: Floats  # (K, S)
    spreads: Floats  # (K, S) sums of squared deviations
    tops: Floats  # (K, S) the largest value of each signal
    last: Floats  # (K,) the round of the last report


def new_means(n_arms: int, n_signals: int) -> FadingMeans:
    """Return what is known before any report: all numbers are 0."""
    signals = (n_arms, n_signals)
    return FadingMeans(
        np.zeros(n_arms), np.zeros(signals), np.zeros(signals), np.zeros(signals), np.zeros(n_arms)
    )


@kernel
def change_rate(fade: float, changes: int, t: int) -> float:
    """Return the changes per round after t rounds; `fade` is added to their number."""
    return (fade + changes) / t


@kernel
def faded(weight: float, age: float, rate: float) -> float:
    """Return the part of its weight that an arm still has; a negative age counts as 0."""
    factor = exp(-rate * max(0.0, age))
    return factor if weight * factor >= 1 else 1 / max(1.0, weight)


@kernel
def weigh(known: FadingMeans, arm: int, factor: float) -> None:
    """Let the reports on an arm weigh `factor` times as much; means stay."""
    known.weights[arm] *= factor
    for s in range(known.spreads.shape[1]):
        known.spreads[arm, s] *= factor


@kernel
def add_value(known: FadingMeans, arm: int, s: int, value: float) -> None:
    """Add a signal of a report that `weights` counts already."""
    off = value - known.means[arm, s]
    known.means[arm, s] += off / known.weights[arm]
    known.spreads[arm, s] += off * (value - known.means[arm, s])
    known.tops[arm, s] = max(known.tops[arm, s], value)


@cold
def keep_block(known: FadingMeans, test: ChangeTest, changed: int, place: int) -> None:
    """Keep the block that differs, which `find_change` returned, and little of other arms.

    The test begins afresh.
    """
    for i in range(known.weights.shape[0]):
        kept = float(FIRST_BLOCK << place) if i == changed else min(KEPT, known.weights[i])
        if known.weights[i] > 0:
            weigh(known, i, kept / known.weights[i])
    for s in range(known.means.shape[1]):
        known.means[changed, s] = block_mean(test, changed, place, s)
    begin_afresh(test)
