"""Scripted: the arms of round t are row t of a script, which starts again at its end; -1 skips a
round and -2 stops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse.compiler.jit import kernel
from purse.kernels.random import U
from purse.types import STOP, Floats, Ints, Problem

NAME = "scripted"


class ScriptedParams(NamedTuple):
    script: Ints  # (L, m)
    stop_below: float  # stop when less than this is left of the first resource


class ScriptedState(NamedTuple):
    diary: Floats  # (P, 64, 4) round, probability, reward and cost, as the policy was told them


def params(problem: Problem, *, script: Any, stop_below: float = 0.0) -> ScriptedParams:
    return ScriptedParams(np.array(script, np.int64).reshape(-1, problem.plays), float(stop_below))


def init(params: ScriptedParams, problem: Problem, n_paths: int) -> ScriptedState:
    return ScriptedState(np.zeros((n_paths, 64, 4)))


@kernel
def row(state: ScriptedState, path: int) -> ScriptedState:
    return ScriptedState(state.diary[path])


@kernel
def choose(
    key: U,
    params: ScriptedParams,
    state: ScriptedState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    line = (t - 1) % params.script.shape[0]
    for k in range(params.script.shape[1]):
        arms[k] = params.script[line, k]
        probs[k] = 1.0
    if left[0] < params.stop_below:
        arms[0] = STOP


@kernel
def update(
    key: U,
    params: ScriptedParams,
    state: ScriptedState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    if t <= state.diary.shape[0]:
        state.diary[t - 1, 0] = t
        state.diary[t - 1, 1] = probs[0]
        state.diary[t - 1, 2] = rewards[0]
        state.diary[t - 1, 3] = costs[0, 0]
