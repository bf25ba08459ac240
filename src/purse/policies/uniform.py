r"""Uniform: every arm equally likely in every round; the yardstick for having learnt nothing.

With m plays a round, each set of m arms is equally likely (one pass of selection sampling), so p(i)
= m / K.

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(1) a round; O(K) with
several plays.

>>> import purse
>>> purse.Policy("uniform", n_arms=4, budget=10, cost_min=0.5).probabilities()
array([0.25, 0.25, 0.25, 0.25])
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.jit import kernel
from purse.kernels.random import U
from purse.kernels.random import uniform as draw_uniform
from purse.types import Floats, Ints, Problem

NAME = "uniform"


class UniformParams(NamedTuple):
    n_arms: int
    plays: int


class UniformState(NamedTuple):
    nothing: Floats  # (P, 1)


def params(problem: Problem) -> UniformParams:
    """No options."""
    return UniformParams(problem.n_arms, problem.plays)


def init(params: UniformParams, problem: Problem, n_paths: int) -> UniformState:
    return UniformState(np.zeros((n_paths, 1)))


@kernel
def row(state: UniformState, path: int) -> UniformState:
    return UniformState(state.nothing[path])


@kernel
def choose(
    key: U,
    params: UniformParams,
    state: UniformState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    if params.plays == 1:
        arms[0] = int(draw_uniform(key, 0) * params.n_arms)
        probs[0] = 1 / params.n_arms
        return
    taken = 0
    for i in range(params.n_arms):
        if draw_uniform(key, i) * (params.n_arms - i) < params.plays - taken:
            arms[taken] = i
            probs[taken] = params.plays / params.n_arms
            taken += 1


@kernel
def update(
    key: U,
    params: UniformParams,
    state: UniformState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    pass


@kernel
def probabilities(
    params: UniformParams, state: UniformState, t: int, left: Floats, out: Floats
) -> None:
    for i in range(params.n_arms):
        out[i] = params.plays / params.n_arms
