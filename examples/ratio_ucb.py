r"""Ratio-UCB: the mean reward per mean cost, plus a radius that shrinks with the pulls.

An index rule of your own, as one file: a number for each arm, and the arm with the largest is
pulled. `score` gives the number, and `learn` keeps what it needs after each report:

    D_t(i) = R(i) / C(i) + alpha sqrt(ln(t - 1) / N(i))

with the sums R, C of arm i's rewards and costs and its pulls N so far.

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(K) a round.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.kernels import IndexState, common_width, index_rule, kernel, number
from purse.types import Now, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "ratio-ucb", True, 1, 1


class RatioUcbParams(NamedTuple):
    alpha2: float


def params(problem: Problem, *, alpha: float = 0.5) -> RatioUcbParams:
    """Options: alpha, the scale of the radius."""
    return RatioUcbParams(number("alpha", alpha, above=0) ** 2)


@kernel
def score(params: RatioUcbParams, state: IndexState, now: Now, i: int) -> float:
    return state.bases[i] + common_width(params.alpha2, now.t) * state.slopes[i]


@kernel
def learn(params: RatioUcbParams, state: IndexState, i: int) -> None:
    state.bases[i] = state.rewards[i] / state.costs[i]
    state.slopes[i] = 1 / math.sqrt(state.pulls[i])


init, scratch, choose, update, probabilities = index_rule(score, learn)
