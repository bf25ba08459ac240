"""Optimism worth the information that it buys: bounds on means that widen with what is left to win.

An index for a game that ends. `affordable` is the number of pulls of an arm that its share of what
is left pays for: knowledge that can be used often is worth more. All bounds are in the arm's own
scale, so a cheap arm is not measured by what a dear one costs.
"""

from __future__ import annotations

import math

from purse.compiler.jit import kernel
from purse.kernels.fastmath import log

PRIOR = (
    0.25  # the largest variance of a number in [0, 1]: one observation that everybody starts with
)


@kernel
def untried_reward(affordable: float) -> float:
    """The reward of a known rival that makes one look at a new arm break even.

    With a uniform prior on the arm's mean, N pulls left, a look that reveals the mean, and a rival
    that brings x a pull, the look pays if (N - 1) (1 - x)^2 / 2 >= x - 1/2: for x up to
    1 - 1 / (1 + sqrt(N)).
    """
    return 1 - 1 / (1 + math.sqrt(affordable))


@kernel
def optimism(scale: float, affordable: float, pulls: float) -> float:
    """scale ln(1 + N / n), half the squared number of standard errors that a bound lies off.

    The break-even for a normal posterior has a scale near 1/2.
    """
    return scale * log(1 + affordable / max(1.0, pulls))


@kernel
def bound_width(level: float, spread: float, top: float, pulls: float) -> float:
    """The distance of a bound from a mean, after Bernstein.

    It is sqrt(2 L v / (n + 1)) + L top / (3 (n + 1)).

    level    L, see `optimism`
    spread   the sum of the n squared deviations; v = (spread + top^2 / 4) / (n + 1)
    top      the largest value that the number takes
    """
    part = 1 / (pulls + 1)
    variance = (spread + PRIOR * top * top) * part
    return math.sqrt(2 * level * variance * part) + level * top * part / 3


@kernel
def lower_cost(mean: float, width: float) -> float:
    """A lower bound on a cost that is positive whenever a cost was seen: c / (1 + width / c).

    A difference c - width would be 0 for hundreds of pulls.
    """
    return mean * mean / (mean + width) if mean > 0 else 0.0
