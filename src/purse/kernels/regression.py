"""Ridge regression of reward and costs on a context, one for each arm, kept up to date exactly.

Of arm i: V the inverse of ridge I + sum x x' over its reports, coefficients of the reward and of
each cost, and what is needed to measure the noise. A report with context x changes them by

    z = V x,   k = 1 / (1 + x'z),   e = value - coefficients.x
    coefficients += k e z,   V -= k z z',   squares += k e^2

for the reward and every cost with the same z; the mean of k e^2 is the variance of the noise. This
is recursive least squares, O(n^2). Sums run from left to right, without fused operations: the bits
are the same everywhere. After 100,000 reports with two features that correlate to 0.999999 the
relative error of V is about 1e-11, so nothing is ever solved again.

The constant, the last number of a context, starts at 1/2 for the reward. For a cost it starts at
the arm's first cost: a prior of 0 would make every new arm look cheap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import kernel
from purse.types import Floats

PRIOR_REWARD = 0.5


class Regression(NamedTuple):
    """What is known of each arm. S = 1 + d signals: the reward, then the costs."""

    inverse: Floats  # (K, n, n) V
    coefficients: Floats  # (K, S, n)
    squares: Floats  # (K, S) sums of k e^2
    sums: Floats  # (K, S) of the values
    tops: Floats  # (K, S) the largest value
    reports: Floats  # (K,)


def new_regression(n_arms: int, n_signals: int, n_numbers: int, ridge: float) -> Regression:
    """Return what is known before any report."""
    signals = (n_arms, n_signals)
    coefficients = np.zeros((*signals, n_numbers))
    coefficients[:, 0, -1] = PRIOR_REWARD
    return Regression(
        np.tile(np.eye(n_numbers) / ridge, (n_arms, 1, 1)),
        coefficients,
        np.zeros(signals),
        np.zeros(signals),
        np.zeros(signals),
        np.zeros(n_arms),
    )


@kernel
def predict(known: Regression, i: int, s: int, x: Floats) -> float:
    """Return the value of signal s of arm i that is expected in context x, shape (n,)."""
    total = 0.0
    for k in range(x.shape[0]):
        total += known.coefficients[i, s, k] * x[k]
    return total


@kernel
def leverage(known: Regression, i: int, x: Floats) -> float:
    """x'Vx: the variance of a prediction in units of the noise's; 1 / (1 + reports) at n = 1.

    V is symmetric: each pair of numbers is met once and counts twice.
    """
    total = 0.0
    for k in range(x.shape[0]):
        line = 0.5 * known.inverse[i, k, k] * x[k]
        for m in range(k):  # from 0 on: a compiler sees that no index is negative
            line += known.inverse[i, k, m] * x[m]
        total += line * x[k]
    return max(0.0, 2 * total)


@kernel
def add_report(
    known: Regression, i: int, x: Floats, z: Floats, reward: float, costs: Floats
) -> None:
    """Learn from a report on arm i in context x, shape (n,).

    z       (n,) room to work in
    costs   (d,)
    """
    if known.reports[i] == 0:
        for j in range(costs.shape[0]):
            known.coefficients[i, 1 + j, x.shape[0] - 1] = costs[j]
    add_plain_report(known, i, x, z, reward, costs)


@kernel
def add_plain_report(
    known: Regression, i: int, x: Floats, z: Floats, reward: float, costs: Floats
) -> None:
    """Do the same, but leave what is expected before the first report as it is."""
    n = x.shape[0]
    for m in range(n):
        z[m] = 0.0
    for k in range(n):  # row by row, as V is symmetric: sums of several columns side by side
        for m in range(n):
            z[m] += known.inverse[i, k, m] * x[k]
    width = 0.0
    for k in range(n):
        width += z[k] * x[k]
    scale = 1 / (1 + max(0.0, width))
    known.reports[i] += 1
    for s in range(known.sums.shape[1]):
        value = reward if s == 0 else costs[s - 1]
        error = value - predict(known, i, s, x)
        known.squares[i, s] += scale * error * error
        known.sums[i, s] += value
        known.tops[i, s] = max(known.tops[i, s], value)
        step = scale * error
        for k in range(n):
            known.coefficients[i, s, k] += step * z[k]
    for k in range(n):
        for m in range(n):
            known.inverse[i, k, m] -= scale * (z[k] * z[m])  # symmetric to the bit
