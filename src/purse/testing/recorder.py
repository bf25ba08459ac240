"""A policy that keeps the contexts that it sees: the checks compare them with those of the world.

Its arms depend on the context and on what it has learnt. With a horizon it skips some rounds.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import count_allowed, kernel, nth_allowed
from purse.types import SKIP, Floats, Now, Play, Problem

NAME, PLAYS, CONTEXT = "recorder", 1, True
KEPT = 64  # rounds


class RecorderParams(NamedTuple):
    """The arms, and whether rounds may be skipped."""

    n_arms: int
    skips: bool


class RecorderState(NamedTuple):
    """The contexts that were seen."""

    contexts: Floats  # (KEPT, A, n) of the first rounds; 0 if no report came
    sums: Floats  # (K, n) of the contexts in which each arm was pulled


def params(problem: Problem) -> RecorderParams:
    """Return no options."""
    return RecorderParams(problem.n_arms, problem.horizon is not None)


def init(params: RecorderParams, problem: Problem) -> RecorderState:
    """Return nothing seen yet."""
    rows, numbers = problem.context_shape
    return RecorderState(np.zeros((KEPT, rows, numbers)), np.zeros((params.n_arms, numbers)))


@kernel
def _part_of(state: RecorderState, now: Now) -> float:
    """Return a number in [0, 1) that changes with the context and with what was learnt."""
    total = 0.3 * abs(state.sums[0, 0])
    for i in range(now.context.shape[0]):
        for k in range(now.context.shape[1]):
            total += abs(now.context[i, k]) * (1.7 + k + i)
    return total - np.floor(total)


@kernel
def arm_of(params: RecorderParams, state: RecorderState, now: Now) -> int:
    """Return the arm of the round, or SKIP."""
    part = _part_of(state, now)
    if params.skips and part > 0.9:
        return SKIP
    n_allowed = count_allowed(now, params.n_arms)
    return nth_allowed(now, min(n_allowed - 1, int(part * n_allowed)))


@kernel
def choose(
    params: RecorderParams, state: RecorderState, scratch: Any, now: Now, play: Play
) -> None:
    """Choose the arm of the context."""
    play.arms[0] = arm_of(params, state, now)
    play.probs[0] = 1.0


@kernel
def update(params: Any, state: RecorderState, scratch: Any, now: Now, play: Play) -> None:
    """Keep the context."""
    i = play.arms[0]
    row = min(i, now.context.shape[0] - 1)
    for k in range(now.context.shape[1]):
        state.sums[i, k] += now.context[row, k]
    if now.t <= state.contexts.shape[0]:
        for row in range(now.context.shape[0]):
            for k in range(now.context.shape[1]):
                state.contexts[now.t - 1, row, k] = now.context[row, k]


@kernel
def probabilities(
    params: RecorderParams, state: RecorderState, scratch: Any, now: Now, out: Floats
) -> None:
    """Write 1 for the arm of the context."""
    for i in range(params.n_arms):
        out[i] = 0.0
    arm = arm_of(params, state, now)
    if arm >= 0:
        out[arm] = 1.0
