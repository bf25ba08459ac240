"""Bounds on what an arm pays and costs, from its own reports and from those of all others.

The mean rewards of the arms are taken for draws of one normal law N(a, tau), which is found from
the arms themselves. Of arm i with n reports, mean reward r and v the variance of a reward, with one
more observation of the largest possible one: the posterior of its mean reward is normal, with

    share = n tau / (n tau + v),    mean a + share (r - a),    variance tau (1 - share).

With each report a and tau take one step of expectation and maximisation, as if one more arm with
the mean 1/2 and the variance 1/12 of a uniform law were there:

    a   = sum w r / sum w,  w = n / (n tau + v) of an arm, 1 / tau of the one more
    tau = mean of (share (r - a))^2 + tau (1 - share), 1/12 of the one more.

So few reports on an arm say little if all others are alike, and much if they are not. Costs differ
by decades, and each arm has its own.

Reference: Efron and Morris, Stein's estimation rule and its competitors: an empirical Bayes
approach, 1973; Dempster, Laird and Rubin, Maximum likelihood from incomplete data, 1977.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import kernel
from purse.kernels.optimism import PRIOR, bound_width, lower_cost, optimism, untried_cost
from purse.kernels.replan.fading_means import FadingMeans
from purse.kernels.small_lp import SmallLp
from purse.types import Floats, Ints

_MEAN, _VARIANCE = 0.5, 1 / 12  # of the one more arm
_GUESS = 0.5  # the part of its declared largest cost that an untried arm may take


class CostBounds(NamedTuple):
    """What is declared of costs, each (K, d)."""

    least: Floats
    most: Floats


def new_pool() -> Floats:
    """(2,) a and tau before any report."""
    return np.array([_MEAN, _VARIANCE])


@kernel
def learn_pool(arms: FadingMeans, pool: Floats) -> None:
    """Take a step towards the law of the arms' mean rewards; `pool` is (2,), a and tau."""
    a, tau = pool[0], pool[1]
    below, above = 1 / tau, _MEAN / tau
    within, count = _VARIANCE, 1.0
    for i in range(arms.weights.shape[0]):
        n = arms.weights[i]
        w = _weight(n, n * arms.variances[i, 0] + PRIOR, n, tau)
        below += w
        above += w * arms.means[i, 0]
        share = w * tau
        off = share * (arms.means[i, 0] - a)
        tried = min(1.0, n)
        within += tried * (off * off + tau * (1 - share))
        count += tried
    pool[0] = above / below
    pool[1] = within / count


@kernel
def _weight(count: float, spread: float, n: float, tau: float) -> float:
    """Return count / (count tau + v), v = spread / (n + 1)."""
    return count * (n + 1) / (count * tau * (n + 1) + spread)


@kernel
def set_bounds(
    lp: SmallLp,
    arms: FadingMeans,
    pool: Floats,
    declared: CostBounds,
    pending: Ints,
    scale: float,
    root: float,
) -> None:
    """Write u to `gains` and l to `uses`.

    The program must have its limits and caps. Its rows are the d resources and, with a horizon,
    time. `root`: of the number of arms. A loop for each step, because an arm's steps wait for each
    other and those of several arms do not; in between `gains` has N and `scales` has L.
    """
    n_arms, d = declared.most.shape
    timed = lp.uses.shape[1] > d
    a, tau = pool[0], pool[1]
    for i in range(n_arms):
        part = lp.parts[d] if timed else 0.0
        for j in range(d):
            untried = _GUESS * declared.most[i, j]
            cost = arms.means[i, 1 + j] if arms.weights[i] > 0 else untried
            part = max(part, max(cost, declared.least[i, j]) * lp.parts[j])
        lp.gains[i] = min(1 / part, max(0.0, lp.caps[i])) * (1 / root)
    for i in range(n_arms):
        lp.scales[i] = optimism(scale, lp.gains[i], arms.weights[i] + pending[i])
    for i in range(n_arms):
        n, out, level = arms.weights[i], pending[i], lp.scales[i]
        spread = n * arms.variances[i, 0] + PRIOR
        mean = a + tau * _weight(n, spread, n, tau) * (arms.means[i, 0] - a)
        variance = tau * (1 - tau * _weight(n + out, spread, n, tau))
        lp.gains[i] = min(1.0, max(0.0, mean + math.sqrt(2 * level * variance)))
        for j in range(d):
            least = declared.least[i, j]
            if n > 0:
                top = arms.tops[i, 1 + j]
                width = bound_width(level, n * arms.variances[i, 1 + j], top, n)
                lp.uses[i, j] = max(least, lower_cost(arms.means[i, 1 + j], width))
            else:
                lp.uses[i, j] = untried_cost(least, _GUESS * declared.most[i, j], level)
        if timed:
            lp.uses[i, d] = 1.0
