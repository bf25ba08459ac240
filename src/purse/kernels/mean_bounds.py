"""Bounds on the mean of values in [0, 1] that hold after every report at once.

After n values with mean p the bounds are the ends of all m with

    n kl(p, m) < ln(2 sqrt(n) / delta),   kl(p, m) = p ln(p / m) + (1 - p) ln((1 - p) / (1 - m)).

The probability that the true mean EVER lies outside is at most delta, so the bounds may be looked
at after each report, and a decision may wait until they allow it: likelihood ratios of [0, 1]
values, mixed with weights Beta(1/2, 1/2), are a supermartingale (Ville, 1939).

One delta serves both sides. `log_term` is ln(2 / delta); the bounds add ln(sqrt n) themselves.
"""

import math

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import exp, log

_STEPS = 6  # of Newton's method; tests hold the bounds against bisection
_FURTHEST = 700.0  # exp(-700) is the least bound but 0
_NOTHING = 1e-300  # smaller numbers have no logarithm here


def log_term_of(confidence: float, n_intervals: int) -> float:
    """Return ln(2 / delta) for `n_intervals` that all hold, always, with this confidence."""
    return math.log(2 * n_intervals / (1 - confidence))


@cold
def lower(mean: float, n: float, log_term: float) -> float:
    """Return the lower bound on the mean of n values in [0, 1] whose mean so far is `mean`.

    0 if n is 0. The same bits on every machine.

    With u = ln((1 - m) / m) the divergence is convex in u and nearly linear far out, so that
    Newton's method comes from outside and needs few steps.
    """
    if n <= 0 or mean <= _NOTHING:
        return 0.0
    level = (log_term + 0.5 * log(n)) / n
    failure = 1 - mean
    if failure <= 0:
        return exp(-level)
    start = log(failure / mean)  # here the divergence is 0
    constant = mean * log(mean) + failure * log(failure)
    u = min(_FURTHEST, start + math.sqrt(2 * level / (mean * failure)))
    limit = failure + level + math.sqrt(level * (level + 2 * failure))  # 1 - m is at most this
    if limit < 1:
        u = min(u, log(limit / (1 - limit)))
    for _ in range(_STEPS):
        grown = 1 + exp(u)
        excess = constant + log(grown) - failure * u - level
        slope = mean - 1 / grown
        if slope > 0:
            u = min(_FURTHEST, max(start, u - excess / slope))
    return 1 / (1 + exp(u))


@kernel
def _upper(mean: float, n: float, log_term: float) -> float:
    """Return the upper bound on the mean of n values in [0, 1] whose mean so far is `mean`; see
    `lower`. 1 if n is 0.
    """
    return 1 - lower(1 - mean, n, log_term)


@kernel
def lower_between(mean: float, n: float, log_term: float, low: float, high: float) -> float:
    """Return the lower bound on the mean of values in [low, high]; exact if both are equal."""
    size = high - low
    if size <= 0:
        return low
    return low + size * lower(min(1.0, (mean - low) / size), n, log_term)


@kernel
def upper_between(mean: float, n: float, log_term: float, low: float, high: float) -> float:
    """Return the upper bound on the mean of values in [low, high]; exact if both are equal."""
    size = high - low
    if size <= 0:
        return high
    return high - size * lower(min(1.0, (high - mean) / size), n, log_term)
