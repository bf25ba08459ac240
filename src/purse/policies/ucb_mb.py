r"""UCB-MB: the several arms whose efficiencies may be the largest, for random costs and several
plays a round.

The rule (Zhou and Tomlin, 2018), with K arms, m plays a round and costs in [c_min, 1]. Each arm
once, m in a round, in order; then the m arms with the largest

    x_t(i) = sqrt((m + 1) ln t / N(i))
    U_t(i) = r(i) / c(i) + (1 + 1/c_min) x_t(i) / (c_min - x_t(i))        infinite where x_t(i) >=
    c_min

with N, r, c the arm's pulls, mean reward and mean cost so far, and t the number of the round. Where
the m-th and the next largest are equal, all arms that share this value are equally likely to come.

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| r(i) / c(i), 1 / sqrt(N(i)) | `state.bases[i]`, `state.slopes[i]` |
| U_t(i) | `state.scores[i]` |

`state.bases[i]` and `state.slopes[i]` are renewed with a report on i only.

Guarantee: regret O(K m^4 log B) for i.i.d. rewards and costs, against the m arms with the best
efficiencies. Until an arm has (m + 1) ln t / c_min^2 pulls its index is infinite, so for small
c_min or many plays all arms are pulled equally often for a long time.

Departures from the paper: the factor m + 1 under the root is known for m = 1 and reconstructed for
more plays. Where m does not divide K, the last of the initial rounds pulls some arms again.

Needs c_min, not B. O(m K) a round.

>>> import purse
>>> world = purse.worlds.two_point(
...     rewards=[0.9, 0.8, 0.1, 0.1], costs=[0.75] * 4, cost_min=0.5
... )
>>> run = purse.simulate("ucb-mb", world, budget=20_000, plays=2, n_paths=4, seed=0)
>>> bool(run.pulls[:, :2].sum() > 5 * run.pulls[:, 2:].sum())
True

Reference: D. P. Zhou, C. J. Tomlin. Budget-constrained multi-armed bandits with multiple plays.
AAAI 2018.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.compiler.jit import kernel
from purse.kernels.fastmath import log
from purse.kernels.index_rules import (
    FIRST,
    OUT,
    IndexState,
    add_report,
    init,
    keep_ratio_and_root,
    row,
)
from purse.kernels.random import U, uniform
from purse.types import Floats, Ints, Problem

__all__ = ["INITIAL_PULLS", "NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "ucb-mb"
INITIAL_PULLS = True


class UcbMbParams(NamedTuple):
    plays: int
    c_min: float


def params(problem: Problem) -> UcbMbParams:
    """No options."""
    problem.require(NAME, n_resources=1)
    return UcbMbParams(problem.plays, problem.c_min)


@kernel
def weigh(params: UcbMbParams, state: IndexState, t: int) -> None:
    width = math.sqrt((params.plays + 1) * log(t))
    for i in range(state.scores.shape[0]):
        x = width * state.slopes[i]
        state.scores[i] = (
            state.bases[i] + (1 + 1 / params.c_min) * x / (params.c_min - x)
            if x < params.c_min
            else FIRST
        )


@kernel
def last_in(scores: Floats, plays: int) -> tuple[float, int, int]:
    """The score that is the `plays`-th largest, how many arms have a larger one, and how many have
    just this one.
    """
    larger = 0
    bound = math.inf
    while True:
        top = OUT
        equal = 0
        for i in range(scores.shape[0]):
            if top < scores[i] < bound:
                top = scores[i]
                equal = 1
            elif scores[i] == top:
                equal += 1
        if larger + equal >= plays:
            return top, larger, equal
        larger += equal
        bound = top


@kernel
def choose(
    key: U, params: UcbMbParams, state: IndexState, t: int, left: Floats, arms: Ints, probs: Floats
) -> None:
    weigh(params, state, t)
    last, larger, equal = last_in(state.scores, params.plays)
    open_places = params.plays - larger
    chance = open_places / equal
    taken = 0
    for i in range(state.scores.shape[0]):
        if state.scores[i] < last:
            continue
        sure = state.scores[i] > last
        # selection sampling: every set of those that are equal is equally likely
        if sure or uniform(key, i) * equal < open_places:
            arms[taken] = i
            probs[taken] = 1.0 if sure else chance
            taken += 1
            open_places -= not sure
        equal -= not sure


@kernel
def update(
    key: U,
    params: UcbMbParams,
    state: IndexState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    for k in range(params.plays):
        add_report(state, arms[k], rewards[k], costs[k, 0])
        keep_ratio_and_root(state, arms[k])


@kernel
def probabilities(
    params: UcbMbParams, state: IndexState, t: int, left: Floats, out: Floats
) -> None:
    weigh(params, state, t)
    last, larger, equal = last_in(state.scores, params.plays)
    for i in range(state.scores.shape[0]):
        out[i] = (
            1.0
            if state.scores[i] > last
            else (params.plays - larger) / equal
            if state.scores[i] == last
            else 0.0
        )
