"""Optimism worth the information that it buys: bounds on means that widen with what is left to win.

An index for a game that ends. `affordable` is the number of pulls of an arm that its share of what
is left pays for: knowledge that can be used often is worth more. All bounds are in the arm's own
scale, so a cheap arm is not measured by what a dear one costs. What an untried arm costs is guessed
from what part of their declared largest costs other arms took.
"""

from __future__ import annotations

import math

from purse.compiler.kernel import cold, kernel
from purse.kernels.fading_means import FadingMeans
from purse.kernels.fastmath import exp, log
from purse.kernels.small_lp import SmallLp
from purse.types import Floats, Ints

PRIOR = 0.25  # the largest variance in [0, 1]: of one observation that everybody starts with
CHEAPER = 0.01  # an untried arm may cost a tenth of what others suggest, sqrt(0.01)


@kernel
def untried_reward(affordable: float) -> float:
    """Return the reward of a known rival that makes one look at a new arm break even.

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
    """Return the distance of a bound from a mean, after Bernstein.

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
    """Return a lower bound on a cost that is positive whenever a cost was seen: c / (1 + width /
    c).

    A difference c - width would be 0 for hundreds of pulls.
    """
    return mean * mean / (mean + width) if mean > 0 else 0.0


@kernel
def usual_share(first: Floats) -> float:
    """Return the geometric mean of what `learn_share` has learnt; 1/2 before any report."""
    return exp(first[0] / first[1]) if first[1] > 0 else 0.5


@cold
def learn_share(first: Floats, costs: Floats, most: Floats) -> None:
    """Learn from the first report on an arm what part of its declared largest cost a pull takes.

    first   (2,) the sum of ln(cost / most) over such costs, and their number
    costs   (d,) what the pull cost; a cost of 0 is left out
    most    (d,) the declared largest costs of the arm
    """
    for j in range(costs.shape[0]):
        if costs[j] > 0:
            first[0] += log(costs[j] / most[j])
            first[1] += 1


@kernel
def untried_cost(least: float, guess: float, level: float) -> float:
    """Return a lower bound on the cost of an arm without a report, from a guess; level: see
    `optimism`.
    """
    low = min(guess, math.sqrt(max(least, CHEAPER * guess) * guess))
    return max(least, low / (1 + math.sqrt(level) + level))


@kernel
def set_bounds(
    lp: SmallLp,
    known: FadingMeans,
    least: Floats,
    most: Floats,
    pending: Ints,
    scale: float,
    share: float,
) -> None:
    """Write the upper bounds on rewards to `gains` and the lower bounds on costs to `uses`.

    The program must have its limits and caps, and in `chances` the part of their weight that the
    reports on each arm still have. Its rows are the d resources and, where there is one, time.

    known         signal 0 is the reward, signal 1 + j the cost in resource j
    least, most   (K, d) the declared bounds on costs
    pending       (K,) open tickets, which count as reports
    scale         see `optimism`
    share         see `usual_share`

    A loop for each step, because an arm's steps wait for each other and those of several arms do
    not. In between `gains` has N and `scales` has L.
    """
    n_arms, d = most.shape
    timed = lp.uses.shape[1] > d
    for i in range(n_arms):
        part = lp.parts[d] if timed else 0.0
        for j in range(d):
            cost = known.means[i, 1 + j] if known.weights[i] > 0 else share * most[i, j]
            part = max(part, max(cost, least[i, j]) * lp.parts[j])
        lp.gains[i] = min(1 / part, max(0.0, lp.caps[i])) * (1 / n_arms)
    for i in range(n_arms):
        pulls = lp.chances[i] * known.weights[i] + pending[i]
        lp.scales[i] = optimism(scale, lp.gains[i], pulls)
    for i in range(n_arms):
        factor, level = lp.chances[i], lp.scales[i]
        pulls = factor * known.weights[i]
        if pulls > 0:
            width = bound_width(level, factor * known.spreads[i, 0], 1.0, pulls)
            lp.gains[i] = min(1.0, known.means[i, 0] + width)
            for j in range(d):
                spread = factor * known.spreads[i, 1 + j]
                width = bound_width(level, spread, known.tops[i, 1 + j], pulls)
                lp.uses[i, j] = max(least[i, j], lower_cost(known.means[i, 1 + j], width))
        else:
            lp.gains[i] = untried_reward(lp.gains[i] / (1 + pending[i]))
            for j in range(d):
                lp.uses[i, j] = untried_cost(least[i, j], share * most[i, j], level)
        if timed:
            lp.uses[i, d] = 1.0
