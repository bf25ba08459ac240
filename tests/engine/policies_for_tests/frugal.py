"""Frugal: lets a round pass that allows one arm alone; reports of a period tell another's arm."""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import count_allowed, kernel, nth_allowed, number
from purse.types import SKIP, Floats, Ints, Now, Play, Problem

NAME, SEEN, PLAYS, VERSION, PERIOD = "frugal", True, 1, 1, ("told",)


class FrugalParams(NamedTuple):
    n_arms: int
    skip: float


class FrugalState(NamedTuple):
    rewards: Floats  # (K,)
    told: Ints  # (1,) reports in this period


def params(problem: Problem, *, skip: float = 1) -> FrugalParams:
    return FrugalParams(problem.n_arms, number("skip", skip, low=0, high=1))


def init(params: FrugalParams, problem: Problem) -> FrugalState:
    return FrugalState(np.zeros(params.n_arms), np.full(1, 2))


@kernel
def find_arm(params: FrugalParams, state: FrugalState, now: Now) -> int:
    count = count_allowed(now, params.n_arms)
    if params.skip > 0 and now.masked and now.rounds_left < 2.0**60 and count == 1:
        return SKIP
    return nth_allowed(now, state.told[0] % count)


@kernel
def choose(params: FrugalParams, state: FrugalState, scratch: Any, now: Now, play: Play) -> None:
    play.arms[0] = find_arm(params, state, now)
    play.probs[0] = 1.0


@kernel
def probabilities(
    params: FrugalParams, state: FrugalState, scratch: Any, now: Now, out: Floats
) -> None:
    for i in range(params.n_arms):
        out[i] = i == find_arm(params, state, now)


@kernel
def update(params: FrugalParams, state: FrugalState, scratch: Any, now: Now, play: Play) -> None:
    state.rewards[play.arms[0]] += play.rewards[0]
    state.told[0] += 1
