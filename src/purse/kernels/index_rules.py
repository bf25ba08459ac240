"""What index rules share: sums per arm, and the arm with the largest index, ties broken at random.

A policy that gives every arm a number from its own pulls and takes the largest needs to write only
that number: its module imports `init`, `row` and `update` from here, fills `state.scores` and calls
`take_largest` in `choose` and `share_largest` in `probabilities`. One resource, one play. An arm
whose first report is still missing has pulls 0: give it the score `FIRST`.

What of an arm's index changes only with a report on it can be kept: a policy that writes `bases`
and `slopes` in an `update` of its own spares `choose` the roots and divisions, K of each a round.
Most radii are one number for all arms, `common_width`, times one number of the arm's.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from purse.compiler.jit import cold, kernel
from purse.kernels.fastmath import log
from purse.kernels.random import U, uniform
from purse.types import STOP, Floats, Ints, Problem

# the scores of an arm that must be tried first, and of one that cannot be taken; finite, as all of
# a state is
FIRST, OUT = 1e300, -1e300


class IndexState(NamedTuple):
    """Sums per arm over the reports so far, costs as policies see them, and what a policy may keep
    of them.
    """

    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    bases: Floats  # (P, K) the policy's; `FIRST` without a report
    slopes: Floats  # (P, K) the policy's; 0 without a report
    scores: Floats  # (P, K) `FIRST` at the start


def init(params: Any, problem: Problem, n_paths: int) -> IndexState:
    """Nothing seen yet."""
    shape = n_paths, problem.n_arms
    return IndexState(
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.full(shape, FIRST),
        np.zeros(shape),
        np.full(shape, FIRST),
    )


@kernel
def row(state: IndexState, path: int) -> IndexState:
    """One path's slice."""
    return IndexState(
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.bases[path],
        state.slopes[path],
        state.scores[path],
    )


@kernel
def update(
    key: U,
    params: Any,
    state: IndexState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    """Add the report to the sums of its arm."""
    add_report(state, arms[0], rewards[0], costs[0, 0])


@kernel
def add_report(state: Any, arm: int, reward: float, cost: float) -> None:
    """The same, for an `update` that goes on; any state with these sums will do."""
    state.pulls[arm] += 1
    state.rewards[arm] += reward
    state.costs[arm] += cost


@kernel
def keep_ratio_and_root(state: Any, arm: int) -> None:
    """Keep reward per cost, r(i) / c(i), as the base and 1 / sqrt(N(i)) as the slope."""
    state.bases[arm] = state.rewards[arm] / state.costs[arm]
    state.slopes[arm] = 1 / math.sqrt(state.pulls[arm])


@kernel
def common_width(scale: float, t: int) -> float:
    """sqrt(scale ln(t - 1)), t - 1 being the number of rounds so far; 0 in the first two."""
    return math.sqrt(scale * log(max(1, t - 1)))


@kernel
def score_lines(width: float, bases: Floats, slopes: Floats, scores: Floats) -> None:
    """Write the scores of an index that is base + width slope; `FIRST` for an arm without a
    report.
    """
    for i in range(scores.shape[0]):
        scores[i] = bases[i] + width * slopes[i]


@kernel
def ratio_bound(pulls: float, reward: float, cost: float, width: float) -> float:
    """The most that a ratio of means may be: min(r + x, 1) / (c - x) with all four numbers times
    the pulls; `FIRST` where the cost may be nothing.

    Sums instead of means spare the divisions; an arm without a pull has cost - width = 0, which is
    `FIRST` too.
    """
    least = cost - width
    return min(reward + width, pulls) / least if least > 0 else FIRST


@kernel
def find_largest(scores: Floats) -> tuple[int, int]:
    """The first arm with the largest score, and how many have it; -1 and 0 where all are `OUT`. No
    branches.
    """
    top = OUT
    arm = -1
    for i in range(scores.shape[0]):
        more = scores[i] > top
        arm = i if more else arm
        top = scores[i] if more else top
    count = 0
    for i in range(scores.shape[0]):
        count += scores[i] == top
    return arm, count if arm >= 0 else 0


@kernel
def take_largest(key: U, scores: Floats, arms: Ints, probs: Floats) -> None:
    """Write an arm with the largest score, each of them equally likely; `STOP` where all are
    `OUT`.
    """
    arm, count = find_largest(scores)
    arms[0] = STOP if arm < 0 else arm
    probs[0] = 1.0
    if count > 1:
        arms[0] = take_equal(arm, scores, int(uniform(key, 0) * count))
        probs[0] = 1 / count


@cold
def take_equal(first: int, scores: Floats, skip: int) -> int:
    """The arm that comes so many places after the first among those with its score."""
    arm = first
    while skip > 0:
        arm += 1
        skip -= scores[arm] == scores[first]
    return arm


@kernel
def share_largest(scores: Floats, out: Floats) -> None:
    """Write the probabilities of `take_largest`."""
    arm, count = find_largest(scores)
    for i in range(scores.shape[0]):
        out[i] = 1 / count if count > 0 and scores[i] == scores[arm] else 0.0
