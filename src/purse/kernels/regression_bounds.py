r"""Bounds on a prediction of `regression`, as wide as the noise that was measured.

Of arm i with N reports, in a context of leverage w^2 = x'Vx:

    h       = most where N = 0, else min(most, 2 (sum of costs) / N)       the arm's own scale
    sigma_r = sqrt((1/2 + squares_r) / (2 + N))         as if two reports had shown a spread of 1/2
    sigma_j = sqrt((h^2 / 2 + squares_j) / (2 + N))
    r+      = r^ + alpha sigma_r w + 1 / (4 (1 + N))                             between 0 and 1
    c-_j    = c^_j - alpha sigma_j w - h / (4 (1 + N))             between the declared bounds

The last terms have Bernstein's shape: from alpha = 1/2 on an arm without a report has r+ = 1,
however many features there are. h makes declared bounds harmless that are too wide.
"""

from __future__ import annotations

import math

from purse.compiler.kernel import kernel
from purse.kernels.regression import Regression, predict
from purse.types import Floats

FEW = 0.25  # of the terms in 1 / (1 + N)


@kernel
def upper_reward(known: Regression, i: int, x: Floats, width: float, alpha: float) -> float:
    """r+ of arm i in context x, of leverage width^2."""
    reports = known.reports[i]
    noise = math.sqrt((0.5 + known.squares[i, 0]) / (2 + reports))
    bound = predict(known, i, 0, x) + alpha * noise * width + FEW / (1 + reports)
    return min(1.0, max(0.0, bound))


@kernel
def least_cost(
    known: Regression,
    i: int,
    j: int,
    x: Floats,
    width: float,
    alpha: float,
    least: float,
    most: float,
) -> float:
    """c-_j of arm i in context x, of leverage width^2; its cost is declared least to most."""
    reports = known.reports[i]
    scale = most
    if reports > 0:
        scale = min(most, 2 * known.sums[i, 1 + j] / reports)
    noise = math.sqrt((0.5 * scale * scale + known.squares[i, 1 + j]) / (2 + reports))
    bound = predict(known, i, 1 + j, x) - alpha * noise * width - FEW * scale / (1 + reports)
    return min(most, max(least, bound))
