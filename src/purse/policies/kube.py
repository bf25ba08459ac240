r"""KUBE: what is left is filled greedily with the most that each arm may pay per unit, and an arm
is drawn from that knapsack.

The rule (Tran-Thanh, Chapman, Rogers and Jennings, 2012), with constant costs c(i) that are known.
Each arm once, in order; then

    D_t(i) = (r(i) + sqrt(2 ln(t - 1) / N(i))) / c(i)
    m(i)   = floor(u / c(i)),   u <- u - m(i) c(i)         for the arms by falling D_t, u being what
           is left
    p_t(i) = m(i) / sum_j m(j)

with N, r the arm's pulls and mean reward so far. When no arm can be paid for the game ends.

| symbol | code |
|---|---|
| N(i), N(i) r(i) | `state.pulls[i]`, `state.rewards[i]` |
| c(i) | `params.prices.costs[i]`, and exactly `params.prices.units[i]` |
| r(i) / c(i), 1 / (sqrt(N(i)) c(i)) | `state.bases[i]`, `state.slopes[i]` |
| D_t(i), m(i) | `state.scores[i]`, `state.counts[i]` |
| the arms by falling D_t | `state.order` |

`state.bases[i]` and `state.slopes[i]` are renewed with a report on i only.

Guarantee: regret O(K log B / min Delta) against the best that a player can do who knows the means,
for i.i.d. rewards.

Departures from the paper: of arms with the same D_t the first comes first. While the first report
of arms that can be paid for is missing (live, reports come late), one of them is pulled, each
equally likely.

Needs the costs, not B. O(K) a round and the number of places that arms move in the order.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> run = purse.simulate("kube", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 1].mean() > 5 * run.pulls[:, 0].mean())
True

Reference: L. Tran-Thanh, A. Chapman, A. Rogers, N. R. Jennings. Knapsack based optimal policies for
budget-limited multi-armed bandits. AAAI 2012.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.jit import cold, kernel
from purse.kernels.greedy_knapsack import (
    FillingState,
    KnownCosts,
    draw,
    fill,
    fits,
    init,
    known_costs,
    rank,
    row,
    share,
    units_left,
    update,
)
from purse.kernels.index_rules import common_width, score_lines
from purse.kernels.random import U
from purse.types import Floats, Ints, Problem

__all__ = ["INITIAL_PULLS", "NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "kube"
INITIAL_PULLS = True


class KubeParams(NamedTuple):
    prices: KnownCosts
    first: Ints  # the arms of the rounds 1, 2, ...; none where the game makes the initial pulls


def params(problem: Problem) -> KubeParams:
    """No options."""
    problem.require(NAME, plays=1, n_resources=1)
    return KubeParams(known_costs(problem, NAME), np.zeros(0, np.int64))


@kernel
def weigh(params: KubeParams, state: FillingState, t: int, left: Floats) -> float:
    """Write m(i), and return the sum; in initial rounds 1 for the arms to pull."""
    purse = units_left(params.prices, left)
    if t <= params.first.shape[0] or state.seen[0] < state.pulls.shape[0]:
        missing = weigh_missing(params, state, t, purse)
        if missing > 0:
            return missing
    score_lines(common_width(2.0, t), state.bases, state.slopes, state.scores)
    rank(state.scores, state.order)
    return fill(params.prices, state.order, state.pulls, purse, state.counts)


@cold
def weigh_missing(params: KubeParams, state: FillingState, t: int, purse: int) -> float:
    """Write 1 for the arm of an initial round, else for those without a report; returns how
    many.
    """
    initial = (
        params.first[t - 1]
        if t <= params.first.shape[0]
        and fits(params.prices, state.pulls, params.first[t - 1], purse)
        else -1
    )
    missing = 0.0
    for i in range(state.pulls.shape[0]):
        wanted = i == initial or (
            initial < 0 and state.pulls[i] == 0 and fits(params.prices, state.pulls, i, purse)
        )
        state.counts[i] = 1.0 if wanted else 0.0
        missing += state.counts[i]
    return missing


@kernel
def choose(
    key: U, params: KubeParams, state: FillingState, t: int, left: Floats, arms: Ints, probs: Floats
) -> None:
    draw(key, state.counts, weigh(params, state, t, left), arms, probs)


@kernel
def probabilities(
    params: KubeParams, state: FillingState, t: int, left: Floats, out: Floats
) -> None:
    share(state.counts, weigh(params, state, t, left), out)
