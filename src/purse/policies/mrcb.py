r"""MRCB: a cautious m-UCB; truncated confidence bounds of reward over cost, with a radius close to
nothing.

The rule (Xia, Qin, Ma, Yu and Liu, 2016) for one play a round, with costs in (0, 1]. Each arm once,
in order; then the arm with the largest

    x_t(i) = sqrt(kappa ln(t - 1) / N(i))
    D_t(i) = min(r(i) + x_t(i), 1) / max(c(i) - x_t(i), 0)        infinite where the denominator is
    0

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random. This is
m-UCB with alpha = sqrt(kappa).

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| sqrt(N(i)) | `state.slopes[i]`, renewed with a report on i only |
| N(i) x_t(i) | `common_width(params.kappa, t)` times that |
| D_t(i) | `state.scores[i]`, by `indices.ratio_bound` |

Options: kappa=2e-4, which a published implementation uses.

Guarantee: the paper proves regret sublinear in B for i.i.d. rewards and costs, and O(log B) for
certain kappa. At the default neither shows at a budget that one meets: the policy is all but
greedy, and on some paths it never comes back to the best arm. Measured at B = 10^4 on
`bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]`, means of 100 paths: regret 3,572 with
kappa=2e-4, 37 with kappa=0.0625.

Departures from the paper: the paper pulls the set of L arms with the largest sum of upper bounds
per sum of lower bounds; here L = 1.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("mrcb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, T. Qin, W. Ma, N. Yu, T.-Y. Liu. Budgeted multi-armed bandits with multiple
plays. IJCAI 2016.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.base import validation
from purse.compiler.jit import kernel
from purse.kernels.index_rules import (
    IndexState,
    add_report,
    common_width,
    init,
    ratio_bound,
    row,
    share_largest,
    take_largest,
)
from purse.kernels.random import U
from purse.types import Floats, Ints, Problem

__all__ = ["INITIAL_PULLS", "NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "mrcb"
INITIAL_PULLS = True


class MrcbParams(NamedTuple):
    kappa: float


def params(problem: Problem, *, kappa: float = 2e-4) -> MrcbParams:
    """Options: kappa, the scale of the squared radius."""
    problem.require(NAME, plays=1, n_resources=1)
    return MrcbParams(validation.number("kappa", kappa, above=0))


@kernel
def weigh(params: MrcbParams, state: IndexState, t: int) -> None:
    width = common_width(params.kappa, t)
    for i in range(state.scores.shape[0]):
        state.scores[i] = ratio_bound(
            state.pulls[i], state.rewards[i], state.costs[i], width * state.slopes[i]
        )


@kernel
def choose(
    key: U, params: MrcbParams, state: IndexState, t: int, left: Floats, arms: Ints, probs: Floats
) -> None:
    weigh(params, state, t)
    take_largest(key, state.scores, arms, probs)


@kernel
def update(
    key: U,
    params: MrcbParams,
    state: IndexState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    add_report(state, arms[0], rewards[0], costs[0, 0])
    state.slopes[arms[0]] = math.sqrt(state.pulls[arms[0]])


@kernel
def probabilities(params: MrcbParams, state: IndexState, t: int, left: Floats, out: Floats) -> None:
    weigh(params, state, t)
    share_largest(state.scores, out)
