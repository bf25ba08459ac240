r"""Budget-UCB: the ratio of means, and what errors in the mean reward and in the mean cost may each
add to it.

The rule (Xia, Ding, Zhang, Yu and Qin, 2015), with costs in (0, 1] whose means are at least lam.
Each arm once, in order; then the arm with the largest

    x_t(i) = sqrt(2 ln(t - 1) / N(i))
    D_t(i) = r(i) / c(i) + x_t(i) / c(i) + (x_t(i) / c(i)) min(r(i) + x_t(i), 1) / max(c(i) -
    x_t(i), lam)

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random. Where
neither min nor max has to step in this is (r + x) / (c - x), exactly.

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| 1 / (N(i) c(i)), sqrt(N(i)) | `state.bases[i]`, `state.slopes[i]` |
| N(i) x_t(i) | `width` |
| D_t(i) | `state.scores[i]`, from sums: numerators and denominators times N(i) |

`state.bases[i]` and `state.slopes[i]` are renewed with a report on i only.

Options: lam=None (c_min) or a number up to the least mean cost.

Guarantee: regret O(log B) for i.i.d. rewards and costs.

Departures from the paper: the index is reconstructed, not taken from the printed text; that it
equals (r + x) / (c - x) where nothing is cut off speaks for it.

Needs lam, not B. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("budget-ucb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, W. Ding, X.-D. Zhang, N. Yu, T. Qin. Budgeted bandit problems with continuous
random costs. ACML 2015.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from purse.base import validation
from purse.compiler.jit import kernel
from purse.kernels.index_rules import (
    FIRST,
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

NAME = "budget-ucb"
INITIAL_PULLS = True


class BudgetUcbParams(NamedTuple):
    lam: float


def params(problem: Problem, *, lam: float | None = None) -> BudgetUcbParams:
    """Options: lam, a lower bound on the mean costs; c_min unless given."""
    problem.require(NAME, plays=1, n_resources=1)
    return BudgetUcbParams(
        problem.c_min if lam is None else validation.number("lam", lam, above=0, high=1)
    )


@kernel
def weigh(params: BudgetUcbParams, state: IndexState, t: int) -> None:
    common = common_width(2.0, t)
    for i in range(state.scores.shape[0]):
        n = state.pulls[i]
        width = common * state.slopes[i]
        ratio = min(state.rewards[i] + width, n) / max(state.costs[i] - width, params.lam * n)
        state.scores[i] = (
            (state.rewards[i] + width + width * ratio) * state.bases[i] if n > 0 else FIRST
        )


@kernel
def choose(
    key: U,
    params: BudgetUcbParams,
    state: IndexState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    weigh(params, state, t)
    take_largest(key, state.scores, arms, probs)


@kernel
def update(
    key: U,
    params: BudgetUcbParams,
    state: IndexState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = arms[0]
    add_report(state, i, rewards[0], costs[0, 0])
    state.bases[i] = 1 / state.costs[i]
    state.slopes[i] = math.sqrt(state.pulls[i])


@kernel
def probabilities(
    params: BudgetUcbParams, state: IndexState, t: int, left: Floats, out: Floats
) -> None:
    weigh(params, state, t)
    share_largest(state.scores, out)
