"""Conservative exploration: no pull that could leave much less than a safe arm alone would bring.

The safe arm is the cheapest one with a report. Let rho be what a pull of it surely brings. An arm
is too risky where

    gain so far + reward of one pull of it + rho pulls(what is left then)
        < (1 - guard) rho pulls(all that there was),

and pulls(.) is how often the safe arm can be pulled for that, and in the rounds that there are.

Reference: Wu, Shariff, Lattimore, Szepesvári: Conservative bandits, ICML 2016. There the reward of
the safe arm is known; here it is an estimate less half a standard error.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.compiler.kernel import kernel
from purse.kernels.fading_means import FadingMeans
from purse.kernels.information import PRIOR
from purse.types import Floats, Ints

CHEAPEST = 1e-12  # what the safe arm costs at least


class GuardStakes(NamedTuple):
    """What there was and what is left, in the same unit as costs."""

    guard: float  # the part of the safe arm's gain that may be risked
    earned: float  # the gain so far
    horizon: float  # infinity where there is none
    rounds_left: float  # this round included
    budget: Floats  # (d,)
    left: Floats  # (d,)


@kernel
def find_safe(known: FadingMeans, parts: Floats, open: Ints) -> int:
    """Return the open arm with a report that takes the smallest part of a budget; -1 where none
    does.

    parts   (d,) 1 / budget
    """
    safe = -1
    least = math.inf
    for i in range(known.weights.shape[0]):
        part = 0.0
        for j in range(parts.shape[0]):
            part = max(part, known.means[i, 1 + j] * parts[j])
        if known.weights[i] > 0 and open[i] and part < least:
            least = part
            safe = i
    return safe


@kernel
def too_risky(
    known: FadingMeans, stakes: GuardStakes, most: Floats, uses: Floats, safe: int, arm: int
) -> bool:
    """Return whether a pull of `arm` could leave less than 1 - guard of what the safe arm alone
    brings.

    most   (K, d) the declared largest costs; an untried arm that is declared no dearer than the
           safe one is never too risky
    uses   (K, d or more) what an untried arm costs
    """
    no_dearer = known.weights[arm] == 0
    alone, after = stakes.horizon, stakes.rounds_left - 1
    for j in range(stakes.budget.shape[0]):
        no_dearer &= most[arm, j] <= most[safe, j]
        price = max(CHEAPEST, known.means[safe, 1 + j])
        taken = known.means[arm, 1 + j] if known.weights[arm] > 0 else uses[arm, j]
        alone = min(alone, stakes.budget[j] / price)
        after = min(after, max(0.0, stakes.left[j] - taken) / price)
    rho = sure_reward(known.weights[safe], known.means[safe, 0], known.spreads[safe, 0])
    hope = expected_reward(known.weights[arm], known.means[arm, 0])
    gain = stakes.earned + hope + rho * after
    return not no_dearer and gain < (1 - stakes.guard) * rho * alone


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
