"""Bounds that widen with what is left to win, and a guard: parts of `replan` and of the policies
with contexts.

**Bounds.** Optimism is worth the information that it buys. `affordable` is the number of pulls of
an arm that its share of what is left pays for. All bounds are in the arm's own scale. What an
untried arm costs is guessed from what part of their declared largest costs other arms took.

**Guard.** Conservative exploration: no pull that could leave much less than a safe arm alone would
bring. The safe arm is the cheapest one with a report. Let rho be what a pull of it surely brings.
An arm is too risky if

    gain so far + reward of one pull of it + rho pulls(what is left then)
        < (1 - guard) rho pulls(all that there was),

and pulls(.) is how often the safe arm can be pulled for that, and in the rounds that there are.

Reference: Wu, Shariff, Lattimore, Szepesvári: Conservative bandits, ICML 2016. There the reward of
the safe arm is known; here it is an estimate less half a standard error.
"""

from __future__ import annotations

import math

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import exp, log
from purse.kernels.replan.fading_means import FadingMeans
from purse.types import Floats, Ints

PRIOR = 0.25  # the largest variance in [0, 1]: of one observation that every arm starts with
_CHEAPER = 0.01  # an untried arm may cost a tenth of what others suggest, sqrt(0.01)
TINY = 1e-12  # what rounding may add to a cost
CHEAPEST = 1e-12  # what the safe arm costs at least


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
def untried_cost(cost_min: float, guess: float, level: float) -> float:
    """Return a lower bound on the cost of an arm without a report, from a guess."""
    low = min(guess, math.sqrt(max(cost_min, _CHEAPER * guess) * guess))
    return max(cost_min, low / (1 + math.sqrt(level) + level))


@kernel
def find_safe(arms: FadingMeans, parts: Floats, open: Ints) -> int:
    """Return the open arm with a report that takes the smallest part of a budget; -1 if no arm
    does.

    parts   (d,) 1 / budget
    """
    safe = -1
    smallest = math.inf
    for i in range(arms.weights.shape[0]):
        part = 0.0
        for j in range(parts.shape[0]):
            part = max(part, arms.means[i, 1 + j] * parts[j])
        if arms.weights[i] > 0 and open[i] and part < smallest:
            smallest = part
            safe = i
    return safe


@kernel
def expected_reward(weight: float, mean: float) -> float:
    """Return the mean reward with one more report of 1/2."""
    return (weight * mean + 0.5) / (weight + 1)


@kernel
def sure_reward(weight: float, mean: float, spread: float) -> float:
    """Return the same less half a standard error: with few rewards the guard must not trust the
    mean.
    """
    error = math.sqrt(spread + PRIOR) / (weight + 1)
    return max(0.0, expected_reward(weight, mean) - error / 2)
