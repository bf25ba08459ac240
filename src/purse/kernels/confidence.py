"""Confidence bounds on efficiencies, and the exploration rates of EXP3++ that follow from them.

For an arm with N pulls, mean reward r, mean cost c and e = r / c, the paper's eqs. (ucb), (lcb)
with natural logarithms:

    eta    = sqrt((alpha ln t + ln K) / (2 N))
    width  = (1 + 1/lam) eta / (lam - eta)     "printed": infinite if eta >= lam
             (1 + 1/lam) eta / c               "direct": valid for every eta, as c >= c_min >= lam
    UCB    = min(1/c_min, e + width),   LCB = max(0, e - width)
    gap_i  = max(0, max_{j != i} LCB_j - UCB_i)
    rate_i = min(cap, beta ln t / (t gap_i^2))
"""

import math
from typing import NamedTuple

from purse.base import validation
from purse.compiler.kernel import cold, kernel
from purse.kernels.fastmath import log
from purse.kernels.horizon import theory_or
from purse.types import Floats


class GapBounds(NamedTuple):
    """The constants of the bounds; part of the parameters of a policy that uses them."""

    alpha: float
    beta: float
    c_min: float
    lam: float
    direct: bool  # which width


def gap_bounds(
    c_min: float, *, alpha: float, beta: float | str, lam: float | None, width: str
) -> GapBounds:
    """Return the constants from a policy's options; beta="theory" is the paper's 256 / c_min^2,
    lam=None is c_min.
    """
    return GapBounds(
        validation.number("alpha", alpha, above=0),
        theory_or("beta", beta, "a positive number", lambda: 256 / c_min**2, above=0),
        c_min,
        c_min if lam is None else validation.number("lam", lam, above=0, high=c_min),
        validation.choice("width", width, ("printed", "direct")) == "direct",
    )


@kernel
def _width(bounds: GapBounds, eta: float, mean_cost: float) -> float:
    """Return half the confidence interval of an efficiency; infinite without enough reports."""
    slack = mean_cost if bounds.direct else bounds.lam - eta
    return (1 + 1 / bounds.lam) * eta / slack if slack > 0 else math.inf


@cold
def gap_rates(
    bounds: GapBounds,
    t: int,
    cap: float,
    pulls: Floats,
    rewards: Floats,
    costs: Floats,
    rates: Floats,
) -> float:
    """Write rate_i from the sums of each arm's pulls, rewards and costs; return the sum of rates.

    An arm without a pull (its report may be late) has the widest bounds: UCB = 1/c_min, LCB = 0.
    """
    n_arms = pulls.shape[0]
    log_t = log(t)
    variance = 0.5 * (bounds.alpha * log_t + log(n_arms))
    best = second = 0.0  # the largest LCB, and the largest of the other arms
    leader = -1
    for i in range(n_arms):
        if pulls[i] > 0:
            lcb = rewards[i] / costs[i] - _width(
                bounds, math.sqrt(variance / pulls[i]), costs[i] / pulls[i]
            )
            if lcb > best:
                second, best, leader = best, lcb, i
            elif lcb > second:
                second = lcb
    total = 0.0
    for i in range(n_arms):
        ucb = 1 / bounds.c_min
        if pulls[i] > 0:
            ucb = min(
                ucb,
                rewards[i] / costs[i]
                + _width(bounds, math.sqrt(variance / pulls[i]), costs[i] / pulls[i]),
            )
        gap = (second if i == leader else best) - ucb
        rates[i] = min(cap, bounds.beta * log_t / (t * gap * gap)) if gap > 0 else cap
        total += rates[i]
    return total


def quiet_until(n_arms: int, bounds: GapBounds, spread: float) -> int:
    """Return the first round in which a gap could lower a rate, whatever the data; before it the
    bounds are not computed.

    A gap is at most 1/c_min, so the rate from it is at least beta c_min^2 ln t / t, to be held
    against cap_t = min(1/(2K), spread sqrt(ln K / (t K))).
    """

    def binds(t: int) -> bool:
        return bounds.beta * math.log(t) * bounds.c_min**2 / t < min(
            0.5 / n_arms, spread * math.sqrt(math.log(n_arms) / (t * n_arms))
        )

    for t in range(n_arms + 1, max(n_arms + 2, 16)):
        if binds(t):
            return t
    # from round 8 on ln t / t over the cap only falls, so bisection is safe
    low, high = max(n_arms + 1, 15), 1 << 60
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if binds(middle) else (middle, high)
    return high
