r"""Epsilon-greedy on contexts, for tests: the arm whose rewards go best with the context.

    index(i) = sum over the reports on i of reward x, times x of this round

The index is large where rewards came with contexts like this one. Guarantee: none.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import draw_allowed, kernel, number, restrict, uniform
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, CONTEXT, PLAYS = "context-greedy", True, True, 1


class ContextGreedyParams(NamedTuple):
    n_arms: int
    epsilon: float


class ContextGreedyState(NamedTuple):
    sums: Floats  # (K, n)


class ContextGreedyScratch(NamedTuple):
    chances: Floats  # (K,)


def params(problem: Problem, *, epsilon: float = 0.2) -> ContextGreedyParams:
    return ContextGreedyParams(problem.n_arms, number("epsilon", epsilon, low=0, high=1))


def init(params: ContextGreedyParams, problem: Problem) -> ContextGreedyState:
    return ContextGreedyState(np.zeros((params.n_arms, problem.context_shape[1])))


def scratch(params: ContextGreedyParams, problem: Problem) -> ContextGreedyScratch:
    return ContextGreedyScratch(np.zeros(params.n_arms))


@kernel
def index(state: ContextGreedyState, now: Now, i: int) -> float:
    row = min(i, now.context.shape[0] - 1)
    total = 0.0
    for k in range(state.sums.shape[1]):
        total += state.sums[i, k] * now.context[row, k]
    return total


@kernel
def probabilities(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    best = -1
    for i in range(params.n_arms):
        out[i] = params.epsilon / params.n_arms
        if now.masked and not now.allowed[i]:
            continue
        if best < 0 or index(state, now, i) > index(state, now, best):
            best = i
    out[best] += 1 - params.epsilon
    if now.masked:
        restrict(now, out)


@kernel
def choose(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    probabilities(params, state, scratch, now, scratch.chances)
    if now.masked:
        draw_allowed(now, scratch.chances, play)
        return
    arm, left = 0, uniform(now.key, 0) - scratch.chances[0]
    while left >= 0 and arm < params.n_arms - 1:
        arm += 1
        left -= scratch.chances[arm]
    play.arms[0] = arm
    play.probs[0] = scratch.chances[arm]


@kernel
def update(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    arm = play.arms[0]
    row = min(arm, now.context.shape[0] - 1)
    for k in range(state.sums.shape[1]):
        state.sums[arm, k] += play.rewards[0] * now.context[row, k]
