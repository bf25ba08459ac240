"""The share of the best that a campaign has earned for certain, from the sums of its reports.

    max  sum_i high_i x_i   subject to   sum_i low_ij x_i <= P_j,   sum_i x_i <= n,   x >= 0

is at least V(P, n), the largest expected gain of any policy, even of one that knows all means, that
never pays more than P and has at most n rounds, if high_i is at least the mean reward of arm i, and
low_ij at most its mean cost: for x_i take how often that policy pulls arm i on average. What it
pays on average is sum_i c_ij x_i, because it chooses before it sees the cost, and what it gains is
sum_i r_i x_i (Wald). With one resource and no horizon the program is P max_i high_i / low_i.

The bounds of `purse.kernels.mean_bounds` hold for all arms after every report at once, with the
confidence asked for. Then the program holds for all P and n at once, also for the P that was paid
and the n rounds that were played so far: with that confidence the gain so far is at all times at
least gain / program of V(P, n). This is of the money paid so far, not of the whole budget: what is
left or held counts for neither side. Whatever the policy, and however it was chosen when to look.

For the program itself any prices y >= 0 of the rows have a bound, so that no solver is trusted:
its value is at most y P max_i high_i / (low_i y).

The bounds by Chernoff with a union over counts need ln(n (n + 1) / delta) for an arm with n reports
and the mixture ln(2 sqrt(n) / delta), which is the same for n = 1 and less for all others.

Assumptions: the pulls of an arm are independent draws from one distribution that does not change,
whatever else may be chosen, and rewards and costs lie within the ranges that are given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from purse.identification.question import lower_between, upper_between
from purse.identification.recommendation import check_confidence
from purse.kernels.mean_bounds import log_term_of
from purse.kernels.small_lp import new_lp, set_limit, solve
from purse.types import Floats


def most_gain(
    counts: Sequence[int],
    reward_sums: Sequence[float],
    cost_sums: Sequence[Sequence[float]],
    *,
    paid: Sequence[float],
    rounds: int | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
    cost_ranges: Sequence[Sequence[tuple[float, float]]],
    among: Sequence[int] | None = None,
    confidence: float,
) -> float:
    """Return a bound on every policy's expected gain, for the same money in as many rounds.

    counts, reward_sums   (K,) of the reports of each arm
    cost_sums             (K, d) of the same reports
    paid                  (d,) so far
    rounds                so far, if they are limited
    reward_range          of all rewards
    cost_ranges           (K, d) the least and the most that a pull costs; twice the same if known
    among                 the arms that the policy may choose; None: all
    confidence            above 0 and below 1

    Infinity says nothing: an arm may cost nothing, as far as is known.
    """
    varying = sum(low < high for row in cost_ranges for low, high in row)
    log_term = log_term_of(check_confidence(confidence), len(counts) + varying)
    arms = range(len(counts)) if among is None else among
    gains = np.array(
        [_mean_bound(upper_between, reward_sums[i], counts[i], log_term, reward_range)
         for i in arms]
    )  # fmt: skip
    uses = np.array(
        [
            [
                _mean_bound(lower_between, total, counts[i], log_term, within)
                for total, within in zip(cost_sums[i], cost_ranges[i], strict=True)
            ]
            for i in arms
        ]
    )
    limits = np.array(paid, float)
    if rounds is not None:
        uses, limits = np.c_[uses, np.ones(len(uses))], np.append(limits, rounds)
    return _upper_bound(gains, uses, limits)


def _mean_bound(
    bound: object, total: float, n: int, log_term: float, within: tuple[float, float]
) -> float:
    """Return a bound on a mean; without a report that of the range."""
    mean = min(within[1], max(within[0], total / n)) if n else within[0]
    return float(bound(mean, n, log_term, *within))  # type: ignore[operator]


def _upper_bound(gains: Floats, uses: Floats, limits: Floats) -> float:
    """Return the least bound on the program by prices: those of a row alone, and the solver's."""
    # what nothing was paid of, no arm can use
    wanted = (gains > 0) & (uses[:, limits <= 0] <= 0).all(axis=1)
    gains, uses = gains[wanted], uses[wanted]
    if not len(gains):
        return 0.0
    prices = list(np.eye(len(limits)))
    if len(limits) > 1:
        lp = new_lp(*uses.shape)
        lp.gains[:], lp.uses[:] = gains, uses
        for j, limit in enumerate(limits.tolist()):
            set_limit(lp, j, limit)
        solve(lp)
        prices.append(np.maximum(lp.prices, 0))
    lowest = math.inf
    for price in prices:
        worth = uses @ price
        if (worth > 0).all():
            lowest = min(lowest, float((gains / worth).max() * (limits @ price)))
    return lowest
