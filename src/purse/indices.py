"""What index rules share: sums per arm, and the arm with the largest index, ties broken at random.

A policy that gives every arm a number from its own pulls and takes the largest needs to write only that number: its module
imports `init`, `row` and `update` from here, fills `state.scores` and calls `take_largest` in `choose` and `share_largest` in
`probabilities`. One resource, one play. An arm whose first report is still missing has pulls 0: give it the score `FIRST`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from purse.jit import kernel
from purse.random import U, uniform
from purse.types import STOP, Floats, Ints, Problem

FIRST, OUT = 1e300, -1e300  # the scores of an arm that must be tried first, and of one that cannot be taken; finite, as all of a state is


class IndexState(NamedTuple):
    """Sums per arm over the reports so far, costs as policies see them."""

    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    scores: Floats  # (P, K) scratch


def init(params: Any, problem: Problem, n_paths: int) -> IndexState:
    """Nothing seen yet."""
    return IndexState(*(np.zeros((n_paths, problem.n_arms)) for _ in IndexState._fields))


@kernel
def row(state: IndexState, path: int) -> IndexState:
    """One path's slice."""
    return IndexState(state.pulls[path], state.rewards[path], state.costs[path], state.scores[path])


@kernel
def update(key: U, params: Any, state: IndexState, t: int, arms: Ints, probs: Floats, rewards: Floats, costs: Floats) -> None:
    """Add the report to the sums of its arm."""
    i = arms[0]
    state.pulls[i] += 1
    state.rewards[i] += rewards[0]
    state.costs[i] += costs[0, 0]


@kernel
def log_before(t: int) -> float:
    """ln(t - 1), the logarithm of the number of rounds so far; 0 in the first two."""
    return math.log(max(1, t - 1))


@kernel
def radius(log_t: float, pulls: float) -> float:
    """sqrt(log_t / pulls), infinite without a pull."""
    return math.sqrt(log_t / pulls) if pulls > 0 else math.inf


@kernel
def spread(log_t: float, pulls: float) -> float:
    """sqrt(log_t pulls), the radius times the pulls: what it adds to a sum; 0 without a pull."""
    return math.sqrt(log_t * pulls)


@kernel
def ratio_bound(pulls: float, reward: float, cost: float, width: float) -> float:
    """The most that a ratio of means may be: min(r + x, 1) / (c - x) with all four numbers times the pulls; `FIRST` where the cost may be nothing.

    Sums instead of means spare the divisions; an arm without a pull has cost - width = 0, which is `FIRST` too.
    """
    least = cost - width
    return min(reward + width, pulls) / least if least > 0 else FIRST


@kernel
def count_largest(scores: Floats) -> tuple[float, int]:
    """The largest score, and how many arms have it; `OUT` is never the largest."""
    top = OUT
    count = 0
    for i in range(scores.shape[0]):
        if scores[i] > top:
            top = scores[i]
            count = 1
        elif scores[i] == top and top > OUT:
            count += 1
    return top, count


@kernel
def take_largest(key: U, scores: Floats, arms: Ints, probs: Floats) -> None:
    """Write an arm with the largest score, each of them equally likely; `STOP` where all are `OUT`."""
    top, count = count_largest(scores)
    if count == 0:
        arms[0] = STOP
        return
    skip = int(uniform(key, 0) * count) if count > 1 else 0
    for i in range(scores.shape[0]):
        if scores[i] == top:
            if skip == 0:
                arms[0] = i
                probs[0] = 1 / count
                return
            skip -= 1


@kernel
def share_largest(scores: Floats, out: Floats) -> None:
    """Write the probabilities of `take_largest`."""
    top, count = count_largest(scores)
    for i in range(scores.shape[0]):
        out[i] = 1 / count if count > 0 and scores[i] == top else 0.0
