"""Scripted: the arms of round t are row t of a script, which starts again at its end; -1 skips a
round, -2 stops, and of -9 nothing is written. Masks are not honoured.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import kernel
from purse.types import STOP, Floats, Ints, Now, Play, Problem

NAME = "scripted"


class ScriptedParams(NamedTuple):
    script: Ints  # (L, m)
    stop_below: float  # stop when less than this is left of the first resource


class ScriptedState(NamedTuple):
    diary: Floats  # (64, 4) round, probability, reward and cost, as the policy was told them


def params(problem: Problem, *, script: Any, stop_below: float = 0.0) -> ScriptedParams:
    return ScriptedParams(np.array(script, np.int64).reshape(-1, problem.plays), float(stop_below))


def init(params: ScriptedParams, problem: Problem) -> ScriptedState:
    return ScriptedState(np.zeros((64, 4)))


@kernel
def choose(params: ScriptedParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    line = (now.t - 1) % params.script.shape[0]
    for k in range(params.script.shape[1]):
        if params.script[line, k] != -9:
            play.arms[k] = params.script[line, k]
            play.probs[k] = 1.0
    if now.left[0] < params.stop_below:
        play.arms[0] = STOP


@kernel
def update(params: Any, state: ScriptedState, scratch: Any, now: Now, play: Play) -> None:
    if now.t <= state.diary.shape[0]:
        state.diary[now.t - 1, 0] = now.t
        state.diary[now.t - 1, 1] = play.probs[0]
        state.diary[now.t - 1, 2] = play.rewards[0]
        state.diary[now.t - 1, 3] = play.costs[0, 0]
