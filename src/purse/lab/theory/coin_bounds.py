r"""Bounds on `tsallis-inf.coin`, and one on every player: T1 to T6 of the page *What is true*.

K arms, budget B, costs in [c, 1] after division by c_max, theta at least the reward per cost of
every pull: 1/c, or a smaller bound that is known. e(i) is mean reward per mean cost, G the gain,
Delta(i) = max_j e(j) - e(i), C the total deviation sum_t max_i |E r_t(i) - e(i) E c_t(i)|.

    R(B)        sqrt 2 theta (4 sqrt K - 2) sqrt(B + 1) + theta
    own_clock   R(B)                                      T1: own-clock regret, every fixed table
    stationary  R(B) + C/c                                T2, T4: max e(i) B - E G
    equal_costs R(B)                                      T3: regret against the best fixed arm
    bounded_efficiency   G*/(1 + phi) - R(B)              T3: E G, G* of the best fixed arm
    with_gaps   sum_i (22.3 ln(B + 1) + 46.6) theta^2/Delta(i) + 106 theta + C (3 + 2/c)       T4
    every_player   sqrt(K B)/(165 c) - 0.8/c              T5: max e(i) B - E G, some world
    with_price  4 sqrt(2 V K (B + 1)) + (2 K + 2)(s/V)(1 + ln(B + 1))^2 theta^2 + 4 sqrt K theta
                + 1.91 K s (2 + 1/l) + theta,  V = l + 3 l^2, s = 2 l + 1               T6, option l

The other half of T5 is `purse.lab.theory.bounds.two_worlds`. All are for one resource, no limit on
rounds, no late reports, no masks and the stop rule exit. Arguments are those of
`purse.lab.theory.bounds`, and

    efficiency_max   the largest reward per cost of any pull, in the user's unit; None: 1/c

Each raises `InvalidInput` when an argument is out of range.
"""

import math
from collections.abc import Sequence

from purse.base import validation
from purse.lab.theory.bound import ADVERSARIAL, PAGE, SMALLEST, Bound, Setting, scaled
from purse.lab.theory.lower_bounds import every_player

__all__ = [
    "bounded_efficiency",
    "equal_costs",
    "every_player",
    "own_clock",
    "stationary",
    "table",
    "with_gaps",
    "with_price",
]  # for users

_COIN = "tsallis-inf.coin"
_SHORTFALL = f"max e(i)·B − E G of {_COIN}"


def _theta_of(c: float, cost_max: float, efficiency_max: float | None) -> float:
    """Return theta, in rewards per largest cost."""
    if efficiency_max is None:
        return 1 / c
    return cost_max * validation.number("efficiency_max", efficiency_max, above=0)


def _block_regret(
    n_arms: int, budget: float, cost_min: float, cost_max: float, efficiency_max: float | None
) -> float:
    """Return R(B)."""
    arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    theta = _theta_of(c, cost_max, efficiency_max)
    return math.sqrt(2) * theta * (4 * math.sqrt(arms) - 2) * math.sqrt(b + 1) + theta


def own_clock(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    efficiency_max: float | None = None,
) -> Bound:
    """Return the upper bound on own-clock regret, T1. It always holds.

    >>> round(own_clock(n_arms=2, budget=1e4, cost_min=0.1).value)
    5182
    """
    value = _block_regret(n_arms, budget, cost_min, cost_max, efficiency_max)
    what = f"own-clock regret of {_COIN}"
    return Bound("T1", "at most", value, what, "always, rows fixed in advance", True, PAGE)


def stationary(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    efficiency_max: float | None = None,
    deviation: float = 0.0,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the upper bound on max e(i) B - E G, T2; with deviations, the second line of T4.

    deviation   C, at least 0, in rewards

    The best fixed arm gains at most max e(i) (B + c_max), so that regret against it is at most
    theta more.
    """
    value = _block_regret(n_arms, budget, cost_min, cost_max, efficiency_max)
    if lost := validation.number("deviation", deviation, low=0):
        value += lost / (cost_min / cost_max)
    when = "E r = e(i) E c in every round whatever happened before; i.i.d. rounds in particular"
    if lost:
        when = f"independent rounds with E r = e(i) E c up to C = {lost:g} in all"
    applies = setting.iid and not lost
    return Bound("T4, C" if lost else "T2", "at most", value, _SHORTFALL, when, applies, PAGE)


def equal_costs(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    efficiency_max: float | None = None,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the upper bound on regret if all arms cost the same in each round, T3."""
    value = _block_regret(n_arms, budget, cost_min, cost_max, efficiency_max)
    what = f"regret of {_COIN} against the best fixed arm"
    when = "in each round all arms cost the same; `tsallis-inf` has (4√K − 2)√(B/c) there"
    applies = setting.costs == "one" or setting.world == "same_costs"
    return Bound("T3, equal costs", "at most", value, what, when, applies, PAGE)


def bounded_efficiency(
    best: float,
    phi: float,
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    efficiency_max: float | None = None,
) -> Bound:
    """Return the lower bound on the gain if efficiencies move within a factor, T3.

    best   what the best fixed arm gains
    phi    at least 0: no arm's reward per cost is above 1 + phi times what it is in another round
    """
    regret = _block_regret(n_arms, budget, cost_min, cost_max, efficiency_max)
    best_gain = validation.number("best", best, low=0)
    times = 1 + validation.number("phi", phi, low=0)
    value = best_gain / times - regret
    when = f"rows fixed, each arm's reward per cost within a factor {times:g}"
    return Bound("T3, factor", "at least", value, f"E G of {_COIN}", when, True, PAGE)


def with_gaps(
    gaps: Sequence[float] | None,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    efficiency_max: float | None = None,
    deviation: float = 0.0,
    n_arms: int | None = None,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the logarithmic upper bound on max e(i) B - E G, T4.

    gaps        the gaps in efficiency of all arms but the best, in the user's unit; None: no value
    deviation   C, at least 0, in rewards
    n_arms      K; without it the bound does not apply, since several arms may be best
    """
    _, b, c = scaled(1, budget, cost_min, cost_max)
    theta = _theta_of(c, cost_max, efficiency_max)
    lost = validation.number("deviation", deviation, low=0)
    value = None
    if gaps is not None:
        sizes = [validation.number("gap", gap, above=0, low=SMALLEST**2) * cost_max for gap in gaps]
        factor = (22.3 * math.log(b + 1) + 46.6) * theta**2
        value = sum(factor / gap for gap in sizes) + 106 * theta + lost * (3 + 2 / c)
    when = "one best arm; independent rounds with E r = e(i) E c up to C in all; asymptotic"
    alone = gaps is not None and n_arms == len(gaps) + 1
    applies = setting.iid and bool(gaps) and alone and not lost
    return Bound("T4, gaps", "at most", value, _SHORTFALL, when, applies, PAGE)


def with_price(
    n_arms: int,
    budget: float,
    cost_min: float,
    price_max: float,
    *,
    cost_max: float = 1.0,
    efficiency_max: float | None = None,
    setting: Setting = ADVERSARIAL,
) -> Bound:
    """Return the upper bound on max e(i) B - E G with the option price_max, T6.

    price_max   at least max e(i), in the user's unit
    """
    arms, b, c = scaled(n_arms, budget, cost_min, cost_max)
    theta = _theta_of(c, cost_max, efficiency_max)
    top = cost_max * validation.number("price_max", price_max, above=0)
    variance, scale = top + 3 * top * top, 2 * top + 1
    value = (
        4 * math.sqrt(2 * variance * arms * (b + 1))
        + (2 * arms + 2) * scale / variance * (1 + math.log(b + 1)) ** 2 * theta**2
        + 4 * math.sqrt(arms) * theta
        + 1.91 * arms * scale * (2 + 1 / top)
        + theta
    )
    what = f"{_SHORTFALL}:price_max={price_max:g}"
    when = f"i.i.d. rounds, max e(i) ≤ {price_max:g}"
    return Bound("T6", "at most", value, what, when, setting.iid, PAGE)


def table(
    n_arms: int,
    budget: float,
    cost_min: float,
    *,
    cost_max: float = 1.0,
    gaps: Sequence[float] | None = None,
    setting: Setting = ADVERSARIAL,
) -> list[Bound]:
    """Return the bounds that need nothing but a problem: T1, T2, T3, T4 with gaps, and T5."""
    problem = (n_arms, budget, cost_min)
    return [
        own_clock(*problem, cost_max=cost_max),
        stationary(*problem, cost_max=cost_max, setting=setting),
        equal_costs(*problem, cost_max=cost_max, setting=setting),
        with_gaps(gaps, budget, cost_min, cost_max=cost_max, n_arms=n_arms, setting=setting),
        every_player(*problem, cost_max=cost_max, setting=setting),
    ]
