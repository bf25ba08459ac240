r"""b-greedy: the best ratio of means so far, and any arm with a probability that falls like 1/t.

The rule (Xia and others, 2017). Each arm once, in order; then

    eps_t = min(1, alpha K / t)
    with probability eps_t any arm, each equally likely; else the arm with the largest r(i) / c(i),
    ties broken at random

with r, c the arm's mean reward and mean cost so far.

| symbol | code |
|---|---|
| N(i) r(i), N(i) c(i) | `state.rewards[i]`, `state.costs[i]` |
| r(i) / c(i) | `state.scores[i]`, renewed with a report on i only; `FIRST` before the first |

Options: alpha=1; 0 never explores.

Guarantee: regret O(log B) for i.i.d. rewards and costs, for an alpha that is large enough for the
gaps between the arms. At the default some paths stay with a wrong arm for long. Measured at B =
10^4 on `bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]`, means of 100 paths: regret
1,089 with alpha=1, 224 with alpha=16.

Departures from the paper: the default of alpha is a published implementation's, not the paper's.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("b-greedy", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, T. Qin, W. Ding, H. Li, X.-D. Zhang, N. Yu, T.-Y. Liu. Finite budget analysis of
multi-armed bandit problems. Neurocomputing 258, 2017.
"""

from __future__ import annotations

from typing import NamedTuple

from purse.base import validation
from purse.compiler.jit import kernel
from purse.kernels.index_rules import (
    IndexState,
    add_report,
    find_largest,
    init,
    row,
    share_largest,
    take_largest,
)
from purse.kernels.random import U, uniform
from purse.types import Floats, Ints, Problem

__all__ = ["INITIAL_PULLS", "NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "b-greedy"
INITIAL_PULLS = True


class BGreedyParams(NamedTuple):
    scale: float  # alpha K


def params(problem: Problem, *, alpha: float = 1.0) -> BGreedyParams:
    """Options: alpha, the scale of the exploration."""
    problem.require(NAME, plays=1, n_resources=1)
    return BGreedyParams(validation.number("alpha", alpha, low=0) * problem.n_arms)


@kernel
def choose(
    key: U,
    params: BGreedyParams,
    state: IndexState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    n_arms = state.scores.shape[0]
    explore = min(1.0, params.scale / t)
    u = uniform(key, 1)  # number 0 is for ties
    if u < explore:
        arms[0] = min(int(u / explore * n_arms), n_arms - 1)
        best, count = find_largest(state.scores)
        probs[0] = 1 / count if state.scores[arms[0]] == state.scores[best] else 0.0
    else:
        take_largest(key, state.scores, arms, probs)
    probs[0] = explore / n_arms + (1 - explore) * probs[0]


@kernel
def update(
    key: U,
    params: BGreedyParams,
    state: IndexState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = arms[0]
    add_report(state, i, rewards[0], costs[0, 0])
    state.scores[i] = state.rewards[i] / state.costs[i]


@kernel
def probabilities(
    params: BGreedyParams, state: IndexState, t: int, left: Floats, out: Floats
) -> None:
    share_largest(state.scores, out)
    explore = min(1.0, params.scale / t)
    for i in range(out.shape[0]):
        out[i] = explore / out.shape[0] + (1 - explore) * out[i]
