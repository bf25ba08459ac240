"""The evidence that the mean of one arm's values is above that of another's, after every report.

Of n values x in [0, 1] with mean m, whatever was seen before, let s be the sum and f = n - s. For
each q the product of q^x (1 - q)^(1 - x) / (m^x (1 - m)^(1 - x)) is a supermartingale: a factor is
convex in x, so at most x q / m + (1 - x) (1 - q) / (1 - m), whose mean is q + 1 - q = 1. So is the
average over q ~ Beta(1/2, 1/2), which is exact for values of 0 and 1,

    M(m) = B(s + 1/2, f + 1/2) / (pi m^s (1 - m)^f),    ln M(m) = n kl(s / n, m) - ln(about sqrt n),

and the product of two arms' M, however arms are chosen. Let the hypothesis be that the mean of a is
at most ratio x mean of b - shift. If it is true, the least M_a(m_a) M_b(m_b) under it EVER reaches
1 / delta with probability at most delta (Ville, 1939). The evidence is the logarithm of that least
product: two averages over the largest likelihood under the hypothesis.
"""

import math

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import log

_STEPS = 32  # of bisection; near its least value the evidence is flat
_LARGE = 10.0  # from here on Stirling's series has 12 digits
_HALF_LOG_2PI, _LOG_PI = 0.5 * math.log(2 * math.pi), math.log(math.pi)
_LEAST = 1e-300  # smaller numbers have no logarithm here
_MOST = 1 - 2.0**-53  # the largest number below 1


def level_of(confidence: float, n_tests: int) -> float:
    """Return ln(1 / delta) for `n_tests` tests of which none errs, ever, with this confidence."""
    return math.log(n_tests / (1 - confidence))


@cold
def log_gamma(z: float) -> float:
    """Return ln Gamma(z) for z > 0, by Stirling's series. The same bits on every machine."""
    product = 1.0
    while z < _LARGE:
        product *= z
        z += 1
    u = 1 / (z * z)
    series = (1 / 12 - u * (1 / 360 - u * (1 / 1260 - u / 1680))) / z
    return (z - 0.5) * log(z) - z + _HALF_LOG_2PI + series - log(product)


@kernel
def log_average(s: float, f: float) -> float:
    """Return ln of the average of q^s (1 - q)^f over q ~ Beta(1/2, 1/2)."""
    return log_gamma(s + 0.5) + log_gamma(f + 0.5) - log_gamma(s + f + 1) - _LOG_PI


@cold
def evidence(
    average: float,
    s: float,
    f: float,
    average2: float,
    s2: float,
    f2: float,
    ratio: float,
    shift: float,
) -> float:
    """Return the evidence for an arm with sums s and f against another with s2 and f2.

    average, average2   what `log_average` says of them
    ratio, shift        the hypothesis: its mean is at most ratio x mean of the other - shift

    0 if the hypothesis is true of the means so far. The likeliest means of the hypothesis lie on
    its line; the slope of the likelihood there, times its denominators, has one zero.
    """
    if shift >= ratio:
        return math.inf  # no mean of the other is so large
    n, n2 = s + f, s2 + f2
    own = s2 / n2 if n2 > 0 else 0.0
    if s / n + shift <= ratio * own:
        return 0.0
    low, high = max(own, shift / ratio), min(1.0, (s / n + shift) / ratio)
    for _ in range(_STEPS):
        m = 0.5 * (low + high)
        mean = ratio * m - shift
        slope = ratio * (n * mean - s) * m * (1 - m) + (n2 * m - s2) * mean * (1 - mean)
        low, high = (m, high) if slope < 0 else (low, m)
    m = 0.5 * (low + high)
    likelihood = log_power(ratio * m - shift, s, f) + log_power(m, s2, f2)
    return average + average2 - likelihood


@kernel
def log_power(m: float, s: float, f: float) -> float:
    """Return ln(m^s (1 - m)^f)."""
    m = min(_MOST, max(_LEAST, m))
    return s * log(m) + f * log(1 - m)
