"""A mean over paths with its confidence interval, by Student's t distribution."""

import math
from functools import cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from purse.types import Floats

LEVEL = 0.95  # of confidence intervals
_NODES = 64  # of Gauss's rule: enough for every digit
_CLOSE = 1e-15  # a relative step that changes nothing


class Estimate(NamedTuple):
    """A mean over paths."""

    mean: float
    error: float  # standard error; NaN for a single path
    low: float  # ends of the confidence interval (Student's t)
    high: float


def estimate(values: Floats) -> Estimate:
    """Return the mean of independent values with its confidence interval.

    >>> estimate(np.array([1.0, 2.0, 3.0])).mean
    2.0
    """
    n, mean = len(values), float(values.mean())
    error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    half = t_quantile(n - 1, LEVEL) * error if n > 1 else float("nan")
    return Estimate(mean, error, mean - half, mean + half)


@cache
def t_quantile(degrees: int, level: float) -> float:
    """Return the t with P(|T| <= t) = level, for a whole number of degrees of freedom n.

    With t = sqrt(n) tan(a) the probability is 2 c times the integral of cos^(n-1) from 0 to a, and
    c = Gamma((n+1)/2) / (Gamma(n/2) sqrt(pi)). Newton's method begins at the quantile of the normal
    distribution, which lies below; so does the end of each step, because cos falls.

    >>> round(t_quantile(9, 0.95), 6)
    2.262157
    """
    constant = 1 / math.pi if degrees % 2 else 0.5
    for n in range(2 - degrees % 2, degrees, 2):
        constant *= (n + 1) / n

    def density(angle: Floats) -> Floats:
        return 2 * constant * np.exp((degrees - 1) / 2 * np.log1p(-(np.sin(angle) ** 2)))

    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    angle = math.atan(NormalDist().inv_cdf(0.5 + level / 2) / math.sqrt(degrees))
    step = math.inf
    while step > _CLOSE * angle:
        inside = angle / 2 * float(weights @ density((nodes + 1) * angle / 2))
        step = (level - inside) / float(density(np.array(angle)))
        angle += step
    return math.sqrt(degrees) * math.tan(angle)
