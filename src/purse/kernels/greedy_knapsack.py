"""What policies share that know what each arm costs: the greedy filling of a knapsack, with or
without caps, and a draw from it.

With u what is left, in whole units, each arm in order of falling score (of equal ones the first):

    m(i) = min(floor(u / c(i)), cap(i) - N(i)),     u <- u - m(i) c(i)

and arm i comes with probability m(i) / sum_j m(j). Amounts are whole numbers here, so that a purse
of 0.3 holds three pulls at 0.1. The order is kept from round to round, where it changes little, and
sorted by insertion: O(K) and the number of places that arms move. It does not depend on where the
sorting starts, so that a policy can be asked twice.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from purse.compiler.jit import kernel
from purse.kernels.index_rules import OUT
from purse.kernels.random import U, uniform
from purse.kernels.weights import pick
from purse.types import STOP, Floats, Ints, Problem

UNCAPPED = 2**62  # more pulls than any game has


class KnownCosts(NamedTuple):
    """What each arm costs, and how often it may be pulled; part of the parameters of a policy that
    knows it.
    """

    costs: Floats  # (K,) as policies see them
    units: Ints  # (K,) the same in units
    caps: Ints  # (K,) `UNCAPPED` where there is none
    unit: float  # the units in what policies see as 1


class FillingState(NamedTuple):
    """Sums per arm over the reports so far, and room to fill a knapsack in."""

    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    seen: Ints  # (P, 1) arms with a report
    bases: Floats  # (P, K) r(i) / c(i); `OUT` without a report
    slopes: Floats  # (P, K) 1 / (sqrt(N(i)) c(i)); 0 without a report
    scores: Floats  # (P, K) scratch
    counts: Floats  # (P, K) scratch: m(i)
    order: Ints  # (P, K) scratch: the arms by falling score


def known_costs(problem: Problem, policy: str) -> KnownCosts:
    """What a problem tells of costs and caps; refused where costs are not known, or nothing."""
    costs = problem.known_costs(policy)
    caps = (
        np.full(problem.n_arms, UNCAPPED)
        if problem.caps is None
        else np.minimum(problem.caps, UNCAPPED).astype(np.int64)
    )
    return KnownCosts(
        costs, np.asarray(problem.costs)[:, 0].copy(), caps, float(problem.cost_max.max())
    )


def init(params: Any, problem: Problem, n_paths: int) -> FillingState:
    """Nothing seen yet."""
    shape = n_paths, problem.n_arms
    pulls, rewards, slopes, scores, counts = (np.zeros(shape) for _ in range(5))
    order = np.tile(np.arange(problem.n_arms), (n_paths, 1))
    return FillingState(
        pulls,
        rewards,
        np.zeros((n_paths, 1), np.int64),
        np.full(shape, OUT),
        slopes,
        scores,
        counts,
        order,
    )


@kernel
def row(state: FillingState, path: int) -> FillingState:
    """One path's slice."""
    return FillingState(
        state.pulls[path],
        state.rewards[path],
        state.seen[path],
        state.bases[path],
        state.slopes[path],
        state.scores[path],
        state.counts[path],
        state.order[path],
    )


@kernel
def update(
    key: U,
    params: Any,
    state: FillingState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    """Add the report to the sums of its arm, and renew what follows from them."""
    i = arms[0]
    state.seen[0] += state.pulls[i] == 0
    state.pulls[i] += 1
    state.rewards[i] += rewards[0]
    state.bases[i] = state.rewards[i] / (state.pulls[i] * params.prices.costs[i])
    state.slopes[i] = 1 / (math.sqrt(state.pulls[i]) * params.prices.costs[i])


@kernel
def units_left(prices: KnownCosts, left: Floats) -> int:
    """What is left in units, exact below some 10^15 of them."""
    return int(left[0] * prices.unit + 0.5)


@kernel
def fits(prices: KnownCosts, pulls: Floats, i: int, purse: int) -> bool:
    """Whether so many units can pay for the arm, and its cap has room."""
    return prices.units[i] <= purse and pulls[i] < prices.caps[i]


@kernel
def rank(scores: Floats, order: Ints) -> None:
    """Sort the arms by falling score, equal ones by index."""
    for j in range(1, order.shape[0]):
        i = order[j]
        k = j
        while k > 0 and (
            scores[order[k - 1]] < scores[i]
            or (scores[order[k - 1]] == scores[i] and order[k - 1] > i)
        ):
            order[k] = order[k - 1]
            k -= 1
        order[k] = i


@kernel
def fill(prices: KnownCosts, order: Ints, pulls: Floats, purse: int, counts: Floats) -> float:
    """Write how often each arm is in the greedy knapsack of so many units; returns how many pulls
    that is.
    """
    total = 0.0
    for k in range(order.shape[0]):
        i = order[k]
        counts[i] = 0.0
        if fits(prices, pulls, i, purse):
            count = min(purse // prices.units[i], prices.caps[i] - int(pulls[i]))
            purse -= count * prices.units[i]
            counts[i] = count
            total += count
    return total


@kernel
def draw(key: U, counts: Floats, total: float, arms: Ints, probs: Floats) -> None:
    """Write an arm drawn by its count; `STOP` where there is none."""
    if total == 0:
        arms[0] = STOP
        return
    i = pick(uniform(key, 0) * total, counts)
    arms[0] = i
    probs[0] = counts[i] / total


@kernel
def share(counts: Floats, total: float, out: Floats) -> None:
    """Write the probabilities of `draw`."""
    for i in range(counts.shape[0]):
        out[i] = counts[i] / total if total > 0 else 0.0
