"""Ridge regression of reward and costs on a context, one for each arm, kept up to date exactly.

Of arm i: V the inverse of ridge I + sum x x' over its reports, coefficients of the reward and of
each cost, and what is needed to measure the noise. A report with context x changes them by

    z = V x,   k = 1 / (1 + x'z),   e = value - coefficients.x
    coefficients += k e z,   V -= k z z',   squares += k e^2

for the reward and every cost with the same z; the mean of k e^2 is the variance of the noise. This
is recursive least squares, O(n^2). Sums run from left to right, without fused operations: the bits
are the same everywhere.

The constant, the last number of a context, starts at 1/2 for the reward. For a cost it starts at
the arm's first cost: a prior of 0 would make every new arm look cheap.

Bounds on a prediction are as wide as the noise that was measured. Of arm i with N reports, in a
context of leverage w^2 = x'Vx:

    h       = most if N = 0, else min(most, 2 (sum of costs) / N)          the arm's own scale
    sigma_r = sqrt((1/2 + squares_r) / (2 + N))         as if two reports had shown a spread of 1/2
    sigma_j = sqrt((h^2 / 2 + squares_j) / (2 + N))
    r+      = r^ + alpha sigma_r w + 1 / (4 (1 + N))                             between 0 and 1
    c-_j    = c^_j - alpha sigma_j w - h / (4 (1 + N))             between the declared bounds

h makes declared bounds harmless that are too wide.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.compiler.kernel import kernel
from purse.types import Floats

_PRIOR_REWARD = 0.5
_FEW = 0.25  # of the terms in 1 / (1 + N)


class Regression(NamedTuple):
    """The regressions of all arms. S = 1 + d signals: the reward, then the costs."""

    inverse: Floats  # (K, n, n) V
    coefficients: Floats  # (K, S, n)
    squares: Floats  # (K, S) sums of k e^2
    sums: Floats  # (K, S) of the values
    tops: Floats  # (K, S) the largest value
    reports: Floats  # (K,)


def new_regression(n_arms: int, n_signals: int, n_numbers: int, ridge: float) -> Regression:
    """Return the regression before any report."""
    signals = (n_arms, n_signals)
    coefficients = np.zeros((*signals, n_numbers))
    coefficients[:, 0, -1] = _PRIOR_REWARD
    inverse = np.tile(np.eye(n_numbers) / ridge, (n_arms, 1, 1))
    squares, sums, tops = np.zeros((3, *signals))
    return Regression(inverse, coefficients, squares, sums, tops, np.zeros(n_arms))


@kernel
def regression_of(state: Any) -> Regression:
    """Return the part of a policy's state that is kept here."""
    return Regression(
        state.inverse, state.coefficients, state.squares, state.sums, state.tops, state.reports
    )


@kernel
def predict(model: Regression, i: int, s: int, x: Floats) -> float:
    """Return the value of signal s of arm i that is expected in context x, shape (n,)."""
    total = 0.0
    for k in range(x.shape[0]):
        total += model.coefficients[i, s, k] * x[k]
    return total


@kernel
def leverage(model: Regression, i: int, x: Floats) -> float:
    """Return x'Vx, the variance of a prediction per that of the noise; 1 / (1 + reports) at n = 1.

    V is symmetric: each pair of numbers is met once and counts twice.
    """
    total = 0.0
    for k in range(x.shape[0]):
        line = 0.5 * model.inverse[i, k, k] * x[k]
        for m in range(k):  # from 0 on: a compiler sees that no index is negative
            line += model.inverse[i, k, m] * x[m]
        total += line * x[k]
    return max(0.0, 2 * total)


@kernel
def add_report(
    model: Regression, i: int, x: Floats, z: Floats, reward: float, costs: Floats
) -> None:
    """Learn from a report on arm i in context x, shape (n,).

    z       (n,) room to work in
    costs   (d,)
    """
    if model.reports[i] == 0:
        for j in range(costs.shape[0]):
            model.coefficients[i, 1 + j, x.shape[0] - 1] = costs[j]
    add_plain_report(model, i, x, z, reward, costs)


@kernel
def add_plain_report(
    model: Regression, i: int, x: Floats, z: Floats, reward: float, costs: Floats
) -> None:
    """Do the same, but leave what is expected before the first report as it is."""
    n = x.shape[0]
    for m in range(n):
        z[m] = 0.0
    for k in range(n):  # row by row, as V is symmetric: sums of several columns side by side
        for m in range(n):
            z[m] += model.inverse[i, k, m] * x[k]
    width = 0.0
    for k in range(n):
        width += z[k] * x[k]
    scale = 1 / (1 + max(0.0, width))
    model.reports[i] += 1
    for s in range(model.sums.shape[1]):
        value = reward if s == 0 else costs[s - 1]
        error = value - predict(model, i, s, x)
        model.squares[i, s] += scale * error * error
        model.sums[i, s] += value
        model.tops[i, s] = max(model.tops[i, s], value)
        step = scale * error
        for k in range(n):
            model.coefficients[i, s, k] += step * z[k]
    for k in range(n):
        for m in range(n):
            model.inverse[i, k, m] -= scale * (z[k] * z[m])  # symmetric to the bit


@kernel
def upper_reward(model: Regression, i: int, x: Floats, width: float, alpha: float) -> float:
    """Return r+ of arm i in context x, of leverage width^2."""
    reports = model.reports[i]
    noise = math.sqrt((0.5 + model.squares[i, 0]) / (2 + reports))
    bound = predict(model, i, 0, x) + alpha * noise * width + _FEW / (1 + reports)
    return min(1.0, max(0.0, bound))


@kernel
def least_cost(
    model: Regression,
    i: int,
    j: int,
    x: Floats,
    width: float,
    alpha: float,
    cost_min: float,
    cost_max: float,
) -> float:
    """Return c-_j of arm i in context x, of leverage width^2; cost_min, cost_max: declared."""
    reports = model.reports[i]
    scale = cost_max
    if reports > 0:
        scale = min(cost_max, 2 * model.sums[i, 1 + j] / reports)
    noise = math.sqrt((0.5 * scale * scale + model.squares[i, 1 + j]) / (2 + reports))
    bound = predict(model, i, 1 + j, x) - alpha * noise * width - _FEW * scale / (1 + reports)
    return min(cost_max, max(cost_min, bound))
