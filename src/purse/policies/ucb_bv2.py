r"""UCB-BV2: UCB-BV1 where nothing is known about the costs; the smallest mean cost seen stands for
their lower bound.

The rule (Ding, Qin, Zhang and Liu, 2013), with costs in (0, 1]. Each arm once, in order; then the
arm with the largest

    lam_t    = min_j c(j)
    eta_t(i) = sqrt(ln(t - 1) / N(i))
    D_t(i)   = r(i) / c(i) + (1 / lam_t) (1 + 1 / (lam_t - eta_t(i))) eta_t(i)        infinite where
             eta_t(i) >= lam_t

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random.

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| r(i) / c(i), 1 / sqrt(N(i)), c(i) | `state.bases[i]`, `state.slopes[i]`, `state.mean_costs[i]` |
| lam_t | `lam`, from the arms that have reported |
| D_t(i) | `state.scores[i]` |

`state.bases[i]`, `state.slopes[i]` and `state.mean_costs[i]` are renewed with a report on i only.

Guarantee: regret O(log B) for i.i.d. rewards and costs, with a larger constant than UCB-BV1's.
Until an arm has ln(t - 1) / lam_t^2 pulls its index is infinite, so with one cheap arm all arms are
pulled equally often for a long time.

Departures from the paper: none known.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("ucb-bv2", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: W. Ding, T. Qin, X.-D. Zhang, T.-Y. Liu. Multi-armed bandit with budget constraint and
variable costs. AAAI 2013.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.jit import kernel
from purse.kernels.index_rules import (
    FIRST,
    add_report,
    common_width,
    keep_ratio_and_root,
    share_largest,
    take_largest,
)
from purse.kernels.random import U
from purse.kernels.weights import smallest
from purse.types import Floats, Ints, Problem

NAME = "ucb-bv2"
INITIAL_PULLS = True


class UcbBv2Params(NamedTuple):
    n_arms: int


class UcbBv2State(NamedTuple):
    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    bases: Floats  # (P, K) `FIRST` without a report
    slopes: Floats  # (P, K) 0 without a report
    mean_costs: Floats  # (P, K) 1 without a report
    scores: Floats  # (P, K) scratch


def params(problem: Problem) -> UcbBv2Params:
    """No options."""
    problem.require(NAME, plays=1, n_resources=1)
    return UcbBv2Params(problem.n_arms)


def init(params: UcbBv2Params, problem: Problem, n_paths: int) -> UcbBv2State:
    shape = n_paths, params.n_arms
    return UcbBv2State(
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.full(shape, FIRST),
        np.zeros(shape),
        np.ones(shape),
        np.zeros(shape),
    )


@kernel
def row(state: UcbBv2State, path: int) -> UcbBv2State:
    return UcbBv2State(
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.bases[path],
        state.slopes[path],
        state.mean_costs[path],
        state.scores[path],
    )


@kernel
def weigh(params: UcbBv2Params, state: UcbBv2State, t: int) -> None:
    width = common_width(1.0, t)
    lam = smallest(state.mean_costs)
    scale = width / lam
    for i in range(params.n_arms):
        eta = width * state.slopes[i]
        state.scores[i] = (
            state.bases[i] + (1 + 1 / (lam - eta)) * (scale * state.slopes[i])
            if eta < lam
            else FIRST
        )


@kernel
def choose(
    key: U,
    params: UcbBv2Params,
    state: UcbBv2State,
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
    params: UcbBv2Params,
    state: UcbBv2State,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = arms[0]
    add_report(state, i, rewards[0], costs[0, 0])
    keep_ratio_and_root(state, i)
    state.mean_costs[i] = state.costs[i] / state.pulls[i]


@kernel
def probabilities(
    params: UcbBv2Params, state: UcbBv2State, t: int, left: Floats, out: Floats
) -> None:
    weigh(params, state, t)
    share_largest(state.scores, out)
