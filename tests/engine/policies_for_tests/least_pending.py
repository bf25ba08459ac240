"""Least pending: of the allowed arms the first with the fewest open tickets; rewards add up."""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import is_allowed, kernel
from purse.types import Floats, Now, Play, Problem

NAME, PENDING, PLAYS = "least-pending", True, 1


class LeastPendingParams(NamedTuple):
    n_arms: int


class LeastPendingState(NamedTuple):
    rewards: Floats  # (K,)


def params(problem: Problem) -> LeastPendingParams:
    return LeastPendingParams(problem.n_arms)


def init(params: LeastPendingParams, problem: Problem) -> LeastPendingState:
    return LeastPendingState(np.zeros(params.n_arms))


@kernel
def choose(params: LeastPendingParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    best = -1
    for i in range(params.n_arms):
        if is_allowed(now, i) and (best < 0 or now.pending[i] < now.pending[best]):
            best = i
    play.arms[0] = best
    play.probs[0] = 1.0


@kernel
def update(params: Any, state: LeastPendingState, scratch: Any, now: Now, play: Play) -> None:
    state.rewards[play.arms[0]] += play.rewards[0]
