r"""Fixed: one arm in every round; the yardstick that regret against the best fixed arm is measured
with.

Option: arm, the index to play. With m plays a round: that arm and the m - 1 after it, counted round
the circle.

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(m) a round.

>>> import purse
>>> purse.Policy("fixed:arm=1", n_arms=3, budget=10, cost_min=0.5).ask().arm
1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import kernel
from purse.kernels.random import U
from purse.types import Floats, Ints, Problem

NAME = "fixed"


class FixedParams(NamedTuple):
    arms: Ints  # (m,)


class FixedState(NamedTuple):
    nothing: Floats  # (P, 1)


def params(problem: Problem, *, arm: int = 0) -> FixedParams:
    """Options: arm."""
    first = validation.integer("arm", arm, low=0, high=problem.n_arms - 1)
    return FixedParams((first + np.arange(problem.plays)) % problem.n_arms)


def init(params: FixedParams, problem: Problem, n_paths: int) -> FixedState:
    return FixedState(np.zeros((n_paths, 1)))


@kernel
def row(state: FixedState, path: int) -> FixedState:
    return FixedState(state.nothing[path])


@kernel
def choose(
    key: U, params: FixedParams, state: FixedState, t: int, left: Floats, arms: Ints, probs: Floats
) -> None:
    for k in range(params.arms.shape[0]):
        arms[k] = params.arms[k]
        probs[k] = 1.0


@kernel
def update(
    key: U,
    params: FixedParams,
    state: FixedState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    pass


@kernel
def probabilities(
    params: FixedParams, state: FixedState, t: int, left: Floats, out: Floats
) -> None:
    out[:] = 0.0
    for k in range(params.arms.shape[0]):
        out[params.arms[k]] = 1.0
