"""The prices that would keep the spending on pace, solved on a sample of the contexts seen so far.

A reservoir keeps M contexts of reports, each equally likely. At prices lambda, in rounds of pace,
the arm of a context is the one with the largest r^ - sum_j lambda_j u^_j, or none. The base is the
least price at which these arms cost the pace on average: by 30 bisections for one resource, by 30
steps of the dual's subgradient for several. Predictions are used without bounds: optimism here
would overprice. Rounds that passed have no report and cost nothing, so that the average counts
N / t for N reports in t rounds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.compiler.kernel import cold, kernel
from purse.kernels.pace_price import Pace
from purse.kernels.primal_dual import project
from purse.kernels.random import uniform
from purse.kernels.regression import Regression, predict
from purse.types import Floats, Now, Problem

SIZE = 64  # contexts in the sample
EVERY, EARLY, OFTEN = 64, 256, 17  # reports between two solutions; before `EARLY` reports `OFTEN`
STEPS = 30


class PriceSample(NamedTuple):
    """The sample and the solution; a part of a policy's state."""

    memory: Floats  # (M, A, n)
    base: Floats  # (d,) in rounds of pace
    seen: Floats  # (1,) reports


class SampleRoom(NamedTuple):
    """Room to work in; a part of a policy's scratch."""

    rewards: Floats  # (M, K) predicted
    costs: Floats  # (M, K, d) predicted, in rounds of pace
    spent: Floats  # (d,)


def new_sample(problem: Problem) -> PriceSample:
    """Return an empty sample."""
    memory = np.zeros((SIZE, *problem.context_shape))
    return PriceSample(memory, np.zeros(problem.n_resources), np.zeros(1))


def sample_room(problem: Problem) -> SampleRoom:
    """Allocate the room to work in."""
    k, d = problem.n_arms, problem.n_resources
    return SampleRoom(np.zeros((SIZE, k)), np.zeros((SIZE, k, d)), np.zeros(d))


@kernel
def add_to_sample(sample: PriceSample, now: Now) -> bool:
    """Take the context of a report in, perhaps; return whether it is time to solve."""
    seen = int(sample.seen[0])
    slot = seen if seen < SIZE else int(uniform(now.key, 0) * (seen + 1))
    if slot < SIZE:
        for i in range(now.context.shape[0]):
            for k in range(now.context.shape[1]):
                sample.memory[slot, i, k] = now.context[i, k]
    sample.seen[0] += 1
    return seen % EVERY == 0 or (seen < EARLY and seen % OFTEN == 0)


@cold
def solve_prices(
    known: Regression,
    sample: PriceSample,
    room: SampleRoom,
    pace: Pace,
    least: Floats,
    most: Floats,
    now: Now,
) -> None:
    """Write the base; least, most: the declared bounds on costs, shape (K, d)."""
    size = min(SIZE, int(sample.seen[0]))
    n_arms, d = most.shape
    for m in range(size):
        for i in range(n_arms):
            x = sample.memory[m, min(i, sample.memory.shape[1] - 1)]
            room.rewards[m, i] = min(1.0, max(0.0, predict(known, i, 0, x)))
            for j in range(d):
                cost = min(most[i, j], max(least[i, j], predict(known, i, 1 + j, x)))
                tried = known.reports[i] > 0
                room.costs[m, i, j] = pace.rates[j] * (cost if tried else most[i, j])
    part = sample.seen[0] / now.t
    if d == 1:
        bisect(sample, room, size, part)
    else:
        descend(sample, room, size, part)


@kernel
def spend(sample: PriceSample, room: SampleRoom, size: int, part: float) -> None:
    """Write what the arms that are best at the base cost on average, shape (d,)."""
    d = room.spent.shape[0]
    for j in range(d):
        room.spent[j] = 0.0
    for m in range(size):
        best = 0.0
        arm = -1
        for i in range(room.rewards.shape[1]):
            value = room.rewards[m, i]
            for j in range(d):
                value -= sample.base[j] * room.costs[m, i, j]
            if value > best:
                best = value
                arm = i
        if arm >= 0:
            for j in range(d):
                room.spent[j] += room.costs[m, arm, j] * part / size


@kernel
def bisect(sample: PriceSample, room: SampleRoom, size: int, part: float) -> None:
    """Find the least price in [0, 1] at which the mean cost is at most the pace: one resource."""
    sample.base[0] = 0.0
    spend(sample, room, size, part)
    if room.spent[0] <= 1:
        return
    low = 0.0
    high = 1.0
    for _ in range(STEPS):
        sample.base[0] = 0.5 * (low + high)
        spend(sample, room, size, part)
        if room.spent[0] <= 1:
            high = sample.base[0]
        else:
            low = sample.base[0]
    sample.base[0] = high


@kernel
def descend(sample: PriceSample, room: SampleRoom, size: int, part: float) -> None:
    """Take subgradient steps from the last base, scaled by those so far: several resources."""
    squares = 1.0
    for _ in range(STEPS):
        spend(sample, room, size, part)
        for j in range(room.spent.shape[0]):
            squares += (room.spent[j] - 1) * (room.spent[j] - 1)
        for j in range(room.spent.shape[0]):
            sample.base[j] += (room.spent[j] - 1) / math.sqrt(squares)
        project(sample.base, 1.0)
