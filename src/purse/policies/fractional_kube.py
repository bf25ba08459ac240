r"""Fractional KUBE: the most that an arm may pay per unit of its known cost.

The rule (Tran-Thanh, Chapman, Rogers and Jennings, 2012), with constant costs c(i) that are known.
Each arm once, in order; then, among the arms that what is left can pay for, the one with the
largest

    D_t(i) = (r(i) + sqrt(2 ln(t - 1) / N(i))) / c(i)

with N, r the arm's pulls and mean reward so far; ties are broken at random. When no arm can be paid
for the game ends.

| symbol | code |
|---|---|
| N(i), N(i) r(i) | `state.pulls[i]`, `state.rewards[i]` |
| c(i) | `params.costs[i]` |
| r(i) / c(i), 1 / (sqrt(N(i)) c(i)) | `state.bases[i]`, `state.slopes[i]` |
| D_t(i) | `state.scores[i]`, `OUT` where c(i) is more than what is left |

`state.bases[i]` and `state.slopes[i]` are renewed with a report on i only.

Guarantee: regret O(K log B / min Delta) for i.i.d. rewards.

Departures from the paper: none known.

Needs the costs, not B. O(K) a round.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> run = purse.simulate("fractional-kube", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 1].mean() > 5 * run.pulls[:, 0].mean())
True

Reference: L. Tran-Thanh, A. Chapman, A. Rogers, N. R. Jennings. Knapsack based optimal policies for
budget-limited multi-armed bandits. AAAI 2012.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.compiler.jit import kernel
from purse.kernels.index_rules import (
    OUT,
    IndexState,
    add_report,
    common_width,
    init,
    row,
    share_largest,
    take_largest,
)
from purse.kernels.random import U
from purse.types import Floats, Ints, Problem

__all__ = ["INITIAL_PULLS", "NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "fractional-kube"
INITIAL_PULLS = True


class FractionalKubeParams(NamedTuple):
    costs: Floats  # (K,) as policies see them


def params(problem: Problem) -> FractionalKubeParams:
    """No options."""
    problem.require(NAME, plays=1, n_resources=1)
    return FractionalKubeParams(problem.known_costs(NAME))


@kernel
def weigh(params: FractionalKubeParams, state: IndexState, t: int, left: Floats) -> None:
    width = common_width(2.0, t)
    for i in range(state.scores.shape[0]):
        state.scores[i] = (
            OUT if params.costs[i] > left[0] else state.bases[i] + width * state.slopes[i]
        )


@kernel
def choose(
    key: U,
    params: FractionalKubeParams,
    state: IndexState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    weigh(params, state, t, left)
    take_largest(key, state.scores, arms, probs)


@kernel
def update(
    key: U,
    params: FractionalKubeParams,
    state: IndexState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = arms[0]
    add_report(state, i, rewards[0], costs[0, 0])
    state.bases[i] = state.rewards[i] / (state.pulls[i] * params.costs[i])
    state.slopes[i] = 1 / (math.sqrt(state.pulls[i]) * params.costs[i])


@kernel
def probabilities(
    params: FractionalKubeParams, state: IndexState, t: int, left: Floats, out: Floats
) -> None:
    weigh(params, state, t, left)
    share_largest(state.scores, out)
