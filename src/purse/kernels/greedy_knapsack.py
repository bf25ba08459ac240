"""The common part of policies that know the costs: the greedy filling of a knapsack, with or
without caps, and a draw from it.

With u what is left, in whole units, each arm in order of falling score (of equal ones the first):

    m(i) = min(floor(u / c(i)), cap(i) - N(i)),     u <- u - m(i) c(i)

and arm i comes with probability m(i) / sum_j m(j). Amounts are whole numbers here, so that a purse
of 0.3 holds three pulls at 0.1. The order changes little from round to round, and `rank` sorts by
insertion: O(K) and the number of places that arms move from where the sorting starts. The result
does not depend on that start.

Under a mask only allowed arms are filled in.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.random import uniform
from purse.kernels.weights import pick
from purse.types import SKIP, STOP, Floats, Ints, Now, Play, Problem

UNCAPPED = 2**62  # more pulls than any game has


class KnownCosts(NamedTuple):
    """The cost of each arm, and how often it may be pulled; part of the parameters of a policy that
    knows it.
    """

    costs: Floats  # (K,) as policies see them
    units: Ints  # (K,) the same in units
    caps: Ints  # (K,) `UNCAPPED` without a cap
    unit: float  # the units in what policies see as 1
    least: int  # the smallest of the costs, in units


def known_costs(problem: Problem, policy: str) -> KnownCosts:
    """Return what a problem tells of costs and caps; refuse one whose costs are not known, or 0."""
    costs = problem.known_costs(policy)
    caps = (
        np.full(problem.n_arms, UNCAPPED)
        if problem.caps is None
        else np.minimum(problem.caps, UNCAPPED).astype(np.int64)
    )
    units = np.asarray(problem.costs)[:, 0].copy()
    return KnownCosts(costs, units, caps, float(problem.cost_max.max()), int(units.min()))


@kernel
def units_left(prices: KnownCosts, left: Floats) -> int:
    """Return what is left in units, exact below some 10^15 of them."""
    return int(left[0] * prices.unit + 0.5)


@kernel
def fits(prices: KnownCosts, pulls: Floats, i: int, purse: int) -> bool:
    """Return whether `purse` units can pay for the arm, and its cap has room."""
    return prices.units[i] <= purse and pulls[i] < prices.caps[i]


@kernel
def rank(scores: Floats, order: Ints) -> None:
    """Sort the arms by falling score, equal ones by index."""
    rank_from(scores, order, order)


@kernel
def rank_from(scores: Floats, start: Ints, order: Ints) -> None:
    """Write the arms by falling score, equal ones by index; quick if `start` is nearly that."""
    least = math.inf  # the score of the last arm so far
    for j in range(start.shape[0]):
        i = start[j]
        order[j] = i
        if scores[i] < least:
            least = scores[i]
        else:
            insert(scores, order, j)
            least = scores[order[j]]


@kernel
def insert(scores: Floats, order: Ints, j: int) -> None:
    """Move the arm at place j to its place among those before it, which are sorted."""
    i = order[j]
    while j > 0 and (
        scores[order[j - 1]] < scores[i] or (scores[order[j - 1]] == scores[i] and order[j - 1] > i)
    ):
        order[j] = order[j - 1]
        j -= 1
    order[j] = i


@kernel
def move_arm(i: int, width: float, bases: Floats, slopes: Floats, order: Ints) -> None:
    """Move arm i alone to its place by falling base + width slope."""
    k = 0
    while order[k] != i:
        k += 1
    score = bases[i] + width * slopes[i]
    while k > 0:
        j = order[k - 1]
        if bases[j] + width * slopes[j] >= score:
            break
        order[k] = j
        k -= 1
    while k < order.shape[0] - 1:
        j = order[k + 1]
        if bases[j] + width * slopes[j] <= score:
            break
        order[k] = j
        k += 1
    order[k] = i


@kernel
def fill(prices: KnownCosts, order: Ints, pulls: Floats, purse: int, counts: Floats) -> float:
    """Write how often each arm is in the greedy knapsack of `purse` units; return the sum."""
    for i in range(counts.shape[0]):
        counts[i] = 0.0
    total = 0.0
    for k in range(order.shape[0]):
        if purse < prices.least:
            break
        i = order[k]
        if fits(prices, pulls, i, purse):
            count = min(purse // prices.units[i], prices.caps[i] - int(pulls[i]))
            purse -= count * prices.units[i]
            counts[i] = count
            total += count
    return total


@cold
def keep_allowed(now: Now, order: Ints) -> int:
    """Move the allowed arms to the front, in the same order; return how many there are."""
    count = 0
    for k in range(order.shape[0]):
        if now.allowed[order[k]]:
            order[count] = order[k]
            count += 1
    return count


@kernel
def draw_counted(now: Now, counts: Floats, total: float, play: Play) -> None:
    """Draw an arm by its count with the round's first number.

    If there is no such arm, end the game; under a mask, let the round pass.
    """
    if total == 0:
        play.arms[0] = SKIP if now.masked else STOP
        play.probs[0] = 1.0
        return
    play.arms[0] = pick(uniform(now.key, 0) * total, counts)
    play.probs[0] = counts[play.arms[0]] / total


@kernel
def show_counted(counts: Floats, total: float, out: Floats) -> None:
    """Write the probabilities of `draw_counted`."""
    for i in range(counts.shape[0]):
        out[i] = counts[i] / total if total > 0 else 0.0
