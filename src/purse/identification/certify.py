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

With one resource and no horizon V(P) is P r / c of the best arm, whichever it is, and the program
is at least P high / low of that arm: only its two bounds must hold, so delta is shared by at most
two. If arms come or go, another one may be the best: a tenth of delta is put aside for that, and
shared by all.

The least cost is the larger of two bounds, with half of its delta each: that of a coin, and a bet,
which knows the variance. If costs X >= 0 are drawn with mean m, the product of 1 + s (X / m - 1) is
for each 0 < s < 1 a martingale, and with psi(s) = -ln(1 - s) - s it is at least (Fan)

    exp(s sum (X / m - 1) - psi(s) sum (X / m - 1)^2)

So m is more than any m' at which that exceeds 1 / delta, and as the product falls with m', than all
below. The least 1 / m' is the root of a quadratic; delta is shared by the sizes s of the bet.

Assumptions: the pulls of an arm are independent draws from one distribution that does not change,
whatever else may be chosen, and rewards and costs lie within the ranges that are given.
"""

import math
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np

from purse.identification.question import lower_between, upper_between
from purse.identification.recommendation import check_confidence
from purse.kernels.mean_bounds import log_term_of
from purse.kernels.small_lp import new_lp, set_limit, solve
from purse.types import Floats

_FIRST_SET = 0.9  # of delta: for the arms that are there from the beginning
_BETS = range(1, 11)  # sizes 1/2, 1/4, ..


def most_gain(
    counts: Sequence[int],
    reward_sums: Sequence[float],
    cost_sums: Sequence[Sequence[float]],
    *,
    cost_squares: Sequence[float] | None = None,
    paid: Sequence[float],
    rounds: int | None = None,
    reward_range: tuple[float, float] = (0.0, 1.0),
    cost_ranges: Sequence[Sequence[tuple[float, float]]],
    among: Sequence[int] | None = None,
    as_first: bool = True,
    confidence: float,
) -> float:
    """Return a bound on every policy's expected gain, for the same money in as many rounds.

    counts, reward_sums   (K,) of the reports of each arm
    cost_sums             (K, d) of the same reports
    cost_squares          (K,) sums of the squared costs of the first resource; None: not known
    paid                  (d,) so far
    rounds                so far, if they are limited
    reward_range          of all rewards
    cost_ranges           (K, d) the least and the most that a pull costs; twice the same if known
    among                 the arms that the policy may choose; None: all
    as_first              whether it could choose from the same arms in the beginning
    confidence            above 0 and below 1

    Infinity says nothing: an arm may cost nothing, as far as is known.
    """
    delta = 1 - check_confidence(confidence)
    varying = sum(low < high for row in cost_ranges for low, high in row)
    n_bounds = len(counts) + varying
    if len(paid) == 1 and rounds is None:
        delta *= _FIRST_SET if as_first else 1 - _FIRST_SET
        n_bounds = 1 + (varying > 0) if as_first else n_bounds
    log_term = log_term_of(1 - delta, n_bounds)
    arms = range(len(counts)) if among is None else among
    squares = [[of_first] for of_first in cost_squares] if cost_squares else [[] for _ in counts]
    gains = np.array(
        [
            upper_between(_mean(reward_sums[i], counts[i], reward_range), counts[i], log_term,
                          *reward_range)
            for i in arms
        ]
    )  # fmt: skip
    uses = np.array(
        [
            [
                _least_mean(total, counts[i], of_squares, log_term, within)
                for total, of_squares, within in zip_longest(
                    cost_sums[i], squares[i], cost_ranges[i]
                )
            ]
            for i in arms
        ]
    )
    limits = np.array(paid, float)
    if rounds is not None:
        uses, limits = np.c_[uses, np.ones(len(uses))], np.append(limits, rounds)
    return _upper_bound(gains, uses, limits)


def _mean(total: float, n: int, within: tuple[float, float]) -> float:
    """Return a mean within its range; without a report the least of it."""
    return min(within[1], max(within[0], total / n)) if n else within[0]


def _least_mean(
    total: float, n: int, squares: float | None, log_term: float, within: tuple[float, float]
) -> float:
    """Return a lower bound on a mean cost, from a coin's bound and, if the sum of squares is known,
    from a bet.
    """
    low, high = within
    mean = _mean(total, n, within)
    if squares is None or low >= high or total <= n * low:
        return float(lower_between(mean, n, log_term, low, high))
    coin = float(lower_between(mean, n, log_term + math.log(2), low, high))
    above = total - n * low
    # at least what equal costs have, and never less for what is lost in a difference
    spread = max(squares - 2 * low * total + n * low * low, above * above / n) + 1e-12 * squares
    return max(coin, low + max(_bet(above, n, spread, log_term, 0.5**k) for k in _BETS))


def _bet(total: float, n: int, squares: float, log_term: float, size: float) -> float:
    """Return the lower bound on the mean of costs of which only >= 0 is known, with one size of the
    bet; 0 if it says nothing.
    """
    psi = -math.log1p(-size) - size
    linear = (size + 2 * psi) * total
    constant = (size + psi) * n + log_term + math.log(len(_BETS))
    root = linear * linear - 4 * psi * squares * constant
    return (linear + math.sqrt(root)) / (2 * constant) if root >= 0 else 0.0


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
