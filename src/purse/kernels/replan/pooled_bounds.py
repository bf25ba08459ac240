"""Bounds on what an arm pays and costs, from its own reports and from those of all others.

The mean rewards of the arms are taken for draws of one normal law N(a, tau), which is found from
the arms themselves. Of arm i with n reports, mean reward r and v the variance of a reward, with one
more observation of the largest possible one: the posterior of its mean reward is normal, with

    share = n tau / (n tau + v),    mean a + share (r - a),    variance tau (1 - share).

When they are learnt, a and tau take one step of expectation and maximisation, as if one more arm
with the mean U / 2 and the variance U^2 / 12 of a uniform law on [0, U] were there:

    a   = sum w r / sum w,  w = n / (n tau + v) of an arm, 1 / tau of the one more
    tau = mean of (share (r - a))^2 + tau (1 - share), U^2 / 12 of the one more.

U, the scale of rewards, is 1 until there is one. Then it is the mean of the largest reward seen,
once for each arm with a report, and of 1, for the one more: others may pay more than those tried.
No bound on a mean reward exceeds U; when U changes, a and tau change with U and U^2.

So few reports on an arm say little if all others are alike, and much if they are not. Costs differ
by decades, and each arm has its own: before its first report the half of what is declared or, if
all arms are declared alike, the mean of those with a report.
A round changes only what is left, so what bounds are made of is computed when reports change it,
and a round takes a logarithm and a root for each arm.

Reference: Efron and Morris, Stein's estimation rule and its competitors: an empirical Bayes
approach, 1973; Dempster, Laird and Rubin, Maximum likelihood from incomplete data, 1977.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import series_log
from purse.kernels.optimism import PRIOR, TINY, least_guess
from purse.kernels.replan.fading_means import FadingMeans
from purse.kernels.small_lp import SmallLp
from purse.types import Floats, Ints

_MEAN, _VARIANCE = 0.5, 1 / 12  # of the one more arm
_GUESS = 0.5  # the part of its declared largest cost that an untried arm may take


class Beliefs(NamedTuple):
    """What the bounds of each arm are made of, and how it follows from reports."""

    pool: Floats  # (3 + d,) a, tau, U, and the parts of what is declared that an untried arm costs
    rewards: Floats  # (K,) the posterior's mean
    errors: Floats  # (K,) its standard deviation
    counts: Floats  # (K,) 1 / max{1, n}
    pulls: Floats  # (K, d) 1 / what a pull is expected to take
    costs: Floats  # (K, d) the cost c of l = c / (1 + sqrt(2 L) root + L rest)
    roots: Floats  # (K, d)
    rests: Floats  # (K, d)


def new_beliefs(least: Floats, most: Floats, arms: FadingMeans) -> Beliefs:
    """Beliefs before any report; `least` and `most` are the declared costs, each (K, d)."""
    k, d = most.shape
    vectors, matrices = np.zeros((3, k)), np.zeros((4, k, d))
    beliefs = Beliefs(np.array([_MEAN, _VARIANCE, 1.0] + [_GUESS] * d), *vectors, *matrices)
    for i in range(k):
        believe(beliefs, arms, least, most, i)
    return beliefs


@kernel
def learn_pool(pool: Floats, arms: FadingMeans, most: Floats) -> None:
    """Take a step towards the law of the arms; `pool` is that of `Beliefs`."""
    top, count = 0.0, 1.0
    for i in range(arms.weights.shape[0]):
        top = max(top, arms.tops[i, 0])
        count += min(1.0, arms.weights[i])
    unit = ((count - 1) * top + 1) / count if top > 0 else 1.0
    ratio = unit / pool[2]
    a, tau = ratio * pool[0], ratio * ratio * pool[1]
    pool[1], pool[2] = tau, unit
    below, above = 1 / tau, _MEAN * unit / tau
    within = _VARIANCE * unit * unit
    for i in range(arms.weights.shape[0]):
        n = arms.weights[i]
        w = _weight(n, pool, arms, i)
        below += w
        above += w * arms.means[i, 0]
        share = w * tau
        off = share * (arms.means[i, 0] - a)
        within += min(1.0, n) * (off * off + tau * (1 - share))
    pool[0] = above / below
    pool[1] = within / count
    for j in range(most.shape[1]):
        alike, parts = True, 0.0
        for i in range(most.shape[0]):
            alike &= most[i, j] == most[0, j]
            parts += arms.means[i, 1 + j] / max(TINY, most[i, j])
        if alike and count > 1:  # an arm without a report has the mean 0
            pool[3 + j] = parts / (count - 1)


@kernel
def _weight(count: float, pool: Floats, arms: FadingMeans, i: int) -> float:
    """Return count / (count tau + v) of an arm."""
    n = arms.weights[i]
    spread = n * arms.variances[i, 0] + PRIOR * (pool[2] * pool[2])
    return count * (n + 1) / (count * pool[1] * (n + 1) + spread)


@kernel
def believe(beliefs: Beliefs, arms: FadingMeans, least: Floats, most: Floats, i: int) -> None:
    """Bring what is believed of an arm up to date with its reports and the pool."""
    a, tau = beliefs.pool[0], beliefs.pool[1]
    n = arms.weights[i]
    share = tau * _weight(n, beliefs.pool, arms, i)
    beliefs.rewards[i] = a + share * (arms.means[i, 0] - a)
    beliefs.errors[i] = math.sqrt(max(0.0, tau * (1 - share)))
    beliefs.counts[i] = 1 / max(1.0, n)
    part = 1 / (n + 1)
    for j in range(most.shape[1]):
        guess = beliefs.pool[3 + j] * most[i, j]
        cost = arms.means[i, 1 + j] if n > 0 else guess
        pulls = 1 / max(TINY, max(cost, least[i, j]))
        beliefs.pulls[i, j] = pulls
        if n > 0:
            top = arms.tops[i, 1 + j]
            spread = n * arms.variances[i, 1 + j] + PRIOR * top * top
            beliefs.costs[i, j] = cost
            beliefs.roots[i, j] = math.sqrt(spread) * part * pulls
            beliefs.rests[i, j] = top * part * pulls * (1 / 3)
        else:  # l = c / (1 + sqrt(L) + L)
            beliefs.costs[i, j] = least_guess(least[i, j], guess)
            beliefs.roots[i, j] = math.sqrt(0.5)
            beliefs.rests[i, j] = 1.0


@kernel
def set_bounds(
    lp: SmallLp,
    beliefs: Beliefs,
    arms: FadingMeans,
    least: Floats,
    pending: Ints,
    scale: float,
    root: float,
) -> None:
    """Write u to `gains` and l to `uses`.

    The program must have its limits and caps. Its rows are the d resources and, with a horizon,
    time. `root`: of the number of arms. Loops over all arms do one step each, so that they become
    vector code; in between `gains` has N / n, `worths` the standard deviation and then sqrt(2 L),
    and `scales` L.
    """
    n_arms, d = least.shape
    timed = lp.uses.shape[1] > d
    whole = lp.limits[d] if timed else math.inf
    part = 1 / root
    most = beliefs.pool[2]
    some = False
    for i in range(n_arms):
        lp.gains[i] = min(whole, max(0.0, lp.caps[i])) * part
        some |= pending[i] > 0
    for j in range(d):
        limit = max(TINY, lp.limits[j]) * part
        for i in range(n_arms):
            lp.gains[i] = min(lp.gains[i], beliefs.pulls[i, j] * limit)
    if some:
        _count_pending(lp, beliefs, arms, pending)
    else:
        for i in range(n_arms):
            lp.gains[i] *= beliefs.counts[i]
            lp.worths[i] = beliefs.errors[i]
    for i in range(n_arms):
        level = scale * series_log(1 + lp.gains[i])
        wide = math.sqrt(2 * level)
        lp.gains[i] = min(most, max(0.0, beliefs.rewards[i] + wide * lp.worths[i]))
        lp.scales[i] = level
        lp.worths[i] = wide
    for j in range(d):
        for i in range(n_arms):
            width = lp.worths[i] * beliefs.roots[i, j] + lp.scales[i] * beliefs.rests[i, j]
            lp.uses[i, j] = max(least[i, j], beliefs.costs[i, j] / (1 + width))
    if timed:
        for i in range(n_arms):
            lp.uses[i, d] = 1.0


@cold
def _count_pending(lp: SmallLp, beliefs: Beliefs, arms: FadingMeans, pending: Ints) -> None:
    """Count open tickets as reports."""
    for i in range(pending.shape[0]):
        n, tau = arms.weights[i], beliefs.pool[1]
        lp.gains[i] /= max(1.0, n + pending[i])
        w = _weight(n + pending[i], beliefs.pool, arms, i)
        lp.worths[i] = math.sqrt(max(0.0, tau * (1 - tau * w)))
