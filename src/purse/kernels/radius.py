"""Bounds on means in [0, 1] as the first papers on knapsacks have them.

    r +- rad(r, N),    rad(x, N) = sqrt(C x / N) + C / N

with r the mean of N reports: nearly C / N if the mean is near 0.
"""

import math

from purse.compiler.kernel import kernel
from purse.kernels.horizon import rounds_of, theory_or
from purse.types import Problem


def c_rad_of(c_rad: float | str, problem: Problem, n_resources: int, policy: str) -> float:
    """Return C: ln(D K T), or the number that is given."""
    return theory_or(
        "c_rad",
        c_rad,
        "a positive number",
        lambda: math.log(n_resources * problem.n_arms * rounds_of(problem, policy)),
        above=0,
    )


@kernel
def upper_radius(total: float, n: float, c_rad: float) -> float:
    """Return the upper bound, at most 1, from the sum of n reports, n > 0."""
    return min(1.0, (total + (math.sqrt(c_rad * total) + c_rad)) / n)


@kernel
def lower_radius(total: float, n: float, c_rad: float) -> float:
    """Return the lower bound, at least 0, from the sum of n reports, n > 0."""
    return max(0.0, (total - (math.sqrt(c_rad * total) + c_rad)) / n)
