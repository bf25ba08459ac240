"""Bounds that widen with what is left to win: parts of `replan` and of the policies with contexts.

Optimism is worth the information that it buys. `affordable` is the number of pulls of an arm that
its share of what is left pays for. All bounds are in the arm's own scale.
"""

import math

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import exp, log
from purse.types import Floats

PRIOR = 0.25  # the largest variance in [0, 1]: of one observation that every arm starts with
_CHEAPER = 0.01  # an untried arm may cost a tenth of what others suggest, sqrt(0.01)
TINY = 1e-12  # what rounding may add to a cost


@kernel
def untried_reward(affordable: float) -> float:
    """Return the reward of a known rival that makes one look at a new arm break even.

    N pulls are left, the prior on the arm's mean is uniform, and a look reveals the mean.
    """
    return 1 - 1 / (1 + math.sqrt(affordable))


@kernel
def optimism(scale: float, affordable: float, pulls: float) -> float:
    """Return scale ln(1 + N / n), half the squared number of standard errors that a bound lies off.

    The break-even for a normal posterior has a scale near 1/2.
    """
    return scale * log(1 + affordable / max(1.0, pulls))


@kernel
def lower_cost(mean: float, width: float) -> float:
    """Return a lower bound on a cost, positive whenever a cost was seen: c / (1 + width / c)."""
    return mean * mean / (mean + width) if mean > 0 else 0.0


@kernel
def usual_share(first: Floats) -> float:
    """Return the geometric mean of what `learn_share` has learnt; 1/2 before any report."""
    return exp(first[0] / first[1]) if first[1] > 0 else 0.5


@cold
def learn_share(first: Floats, costs: Floats, cost_max: Floats) -> None:
    """Learn from the first report on an arm what part of its declared largest cost a pull takes.

    first   (2,) the sum of ln(cost / cost_max) over such costs, and their number
    costs   (d,) what the pull cost; a cost of 0 is left out
    cost_max   (d,) the declared largest costs of the arm
    """
    for j in range(costs.shape[0]):
        if costs[j] > 0:
            first[0] += log(costs[j] / cost_max[j])
            first[1] += 1


@kernel
def least_guess(cost_min: float, guess: float) -> float:
    """Return what an arm without a report may cost, from a guess of what it costs."""
    return min(guess, math.sqrt(max(cost_min, _CHEAPER * guess) * guess))


@kernel
def untried_cost(cost_min: float, guess: float, level: float) -> float:
    """Return a lower bound on the cost of an arm without a report."""
    return max(cost_min, least_guess(cost_min, guess) / (1 + math.sqrt(level) + level))
