r"""Fixed: one arm in every round; the yardstick that regret against the best fixed arm is measured
with.

Option: arm, the index to play. With m plays a round: that arm and the m - 1 after it, counted round
the circle.

Under a mask that excludes the arm, each allowed arm is equally likely; with m plays, the first m
allowed arms of the circle are played, and if fewer are allowed the last plays are skipped.

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(m) a round.

>>> import purse
>>> purse.Policy("fixed:arm=1", n_arms=3, budget=10, cost_min=0.5).ask().arm
1
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import cold, integer, is_allowed, kernel, show_any, take_any
from purse.types import SKIP, Floats, Ints, Now, Play, Problem

NAME = "fixed"


class FixedParams(NamedTuple):
    arms: Ints  # (n,) by preference, n >= m: the first m that are allowed; if no arm is, any arm
    plays: int


class FixedState(NamedTuple):
    nothing: Floats  # (1,)


def params(problem: Problem, *, arm: int = 0) -> FixedParams:
    first = integer("arm", arm, low=0, high=problem.n_arms - 1)
    length = 1 if problem.plays == 1 else problem.n_arms
    return FixedParams((first + np.arange(length)) % problem.n_arms, problem.plays)


def init(params: FixedParams, problem: Problem) -> FixedState:
    return FixedState(np.zeros(1))


@kernel
def choose(params: FixedParams, state: FixedState, scratch: Any, now: Now, play: Play) -> None:
    if now.masked:
        choose_allowed(params, now, play)
        return
    for k in range(play.arms.shape[0]):
        play.arms[k] = params.arms[k]
        play.probs[k] = 1.0


@cold
def choose_allowed(params: FixedParams, now: Now, play: Play) -> None:
    count = 0
    for k in range(params.arms.shape[0]):
        if count < params.plays and now.allowed[params.arms[k]]:
            play.arms[count] = params.arms[k]
            play.probs[count] = 1.0
            count += 1
    if count == 0:
        take_any(now, play)
        return
    for k in range(count, params.plays):
        play.arms[k] = SKIP
        play.probs[k] = 1.0


@kernel
def update(params: FixedParams, state: FixedState, scratch: Any, now: Now, play: Play) -> None:
    pass


@kernel
def probabilities(params: FixedParams, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    out[:] = 0.0
    count = 0
    for k in range(params.arms.shape[0]):
        if count < params.plays and is_allowed(now, params.arms[k]):
            out[params.arms[k]] = 1.0
            count += 1
    if count == 0:
        show_any(now, params.plays, out)
