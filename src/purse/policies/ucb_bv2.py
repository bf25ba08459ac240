r"""UCB-BV2: UCB-BV1 where nothing is known about the costs; the smallest mean cost seen stands for their lower bound.

The rule (Ding, Qin, Zhang and Liu, 2013), with costs in (0, 1]. Each arm once, in order; then the arm with the largest

    lam_t    = min_j c(j)
    eta_t(i) = sqrt(ln(t - 1) / N(i))
    D_t(i)   = r(i) / c(i) + (1 / lam_t) (1 + 1 / (lam_t - eta_t(i))) eta_t(i)        infinite where eta_t(i) >= lam_t

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random.

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| lam_t | `lam`, from the arms that have reported |
| D_t(i) | `state.scores[i]` |

Guarantee: regret O(log B) for i.i.d. rewards and costs, with a larger constant than UCB-BV1's. Until an arm has ln(t - 1) / lam_t^2 pulls
its index is infinite, so with one cheap arm all arms are pulled equally often for a long time.

Departures from the paper: none known.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.environments.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("ucb-bv2", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: W. Ding, T. Qin, X.-D. Zhang, T.-Y. Liu. Multi-armed bandit with budget constraint and variable costs. AAAI 2013.
"""

from __future__ import annotations

from typing import NamedTuple

from purse.indices import FIRST, IndexState, init, log_before, radius, row, share_largest, take_largest, update
from purse.jit import kernel
from purse.random import U
from purse.types import Floats, Ints, Problem

__all__ = ["NAME", "SWEEP", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "ucb-bv2"
SWEEP = True


class UcbBv2Params(NamedTuple):
    n_arms: int


def params(problem: Problem) -> UcbBv2Params:
    """No options."""
    problem.require(NAME, plays=1, n_resources=1)
    return UcbBv2Params(problem.n_arms)


@kernel
def weigh(params: UcbBv2Params, state: IndexState, t: int) -> None:
    log_t = log_before(t)
    lam = 1.0
    for i in range(params.n_arms):
        if state.pulls[i] > 0:
            lam = min(lam, state.costs[i] / state.pulls[i])
    for i in range(params.n_arms):
        eta = radius(log_t, state.pulls[i])
        state.scores[i] = state.rewards[i] / state.costs[i] + (1 + 1 / (lam - eta)) * eta / lam if eta < lam else FIRST


@kernel
def choose(key: U, params: UcbBv2Params, state: IndexState, t: int, left: Floats, arms: Ints, probs: Floats) -> None:
    weigh(params, state, t)
    take_largest(key, state.scores, arms, probs)


@kernel
def probabilities(params: UcbBv2Params, state: IndexState, t: int, left: Floats, out: Floats) -> None:
    weigh(params, state, t)
    share_largest(state.scores, out)
