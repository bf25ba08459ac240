"""Costs and caps that a policy knows, in whole units, so that a purse of 0.3 holds three pulls at
0.1.
"""

from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import kernel
from purse.types import Floats, Ints, Problem

_UNCAPPED = 2**62  # more pulls than any game has


class KnownCosts(NamedTuple):
    """The cost and the cap of each arm; part of the parameters of a policy that knows them."""

    costs: Floats  # (K,) as policies see them
    units: Ints  # (K,) the same in units
    caps: Ints  # (K,) `UNCAPPED` without a cap
    unit: float  # the units in what policies see as 1
    least: int  # the smallest of the costs, in units


def known_costs(problem: Problem, policy: str) -> KnownCosts:
    """Return the costs and caps of a problem; refuse one whose costs are not known, or 0."""
    costs = problem.known_costs(policy)
    caps = (
        np.full(problem.n_arms, _UNCAPPED)
        if problem.caps is None
        else np.minimum(problem.caps, _UNCAPPED).astype(np.int64)
    )
    units = np.asarray(problem.costs)[:, 0].copy()
    return KnownCosts(costs, units, caps, float(problem.cost_max.max()), int(units.min()))


@kernel
def units_left(prices: KnownCosts, left: Floats) -> int:
    """Return the units left, exact below some 10^15 of them."""
    return int(left[0] * prices.unit + 0.5)


@kernel
def fits(prices: KnownCosts, pulls: Floats, i: int, purse: int) -> bool:
    """Return whether `purse` units can pay for the arm, and its cap has room."""
    return prices.units[i] <= purse and pulls[i] < prices.caps[i]
