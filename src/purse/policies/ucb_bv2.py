r"""UCB-BV2: UCB-BV1 without knowledge of the costs; the smallest mean cost seen stands for their
lower bound.

The rule (Ding, Qin, Zhang and Liu, 2013) is that of UCB-BV1 with

    lam_t    = min_j c(j)                       of all arms, also under a mask
    D_t(i)   = r(i) / c(i) + (1 / lam_t) (1 + 1 / (lam_t - eta_t(i))) eta_t(i)

Guarantee: regret O(log B) for i.i.d. rewards and costs, with a larger constant than UCB-BV1's.
Until an arm has ln(t - 1) / lam_t^2 pulls its index is infinite, so with one cheap arm all arms are
pulled equally often for a long time.

Departures from the paper: none known.

Scale: loses 92% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm, and each arm is bought once whatever it costs.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("ucb-bv2", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: W. Ding, T. Qin, X.-D. Zhang, T.-Y. Liu. Multi-armed bandit with budget constraint and
variable costs. AAAI 2013.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import kernel, smallest
from purse.kernels.index_rules import (
    FIRST,
    Scores,
    add_report,
    common_width,
    keep_ratio_and_root,
    largest_rule,
    room_for_scores,
)
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "ucb-bv2", True, 1, 1
SOURCE = "Ding et al., AAAI 2013, equation 4, as public code reports it"
scratch = room_for_scores


class UcbBv2Params(NamedTuple):
    n_arms: int


class UcbBv2State(NamedTuple):
    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    costs: Floats  # (K,)
    bases: Floats  # (K,) `FIRST` without a report
    slopes: Floats  # (K,) 0 without a report
    mean_costs: Floats  # (K,) c, 1 without a report


def params(problem: Problem) -> UcbBv2Params:
    return UcbBv2Params(problem.n_arms)


def init(params: UcbBv2Params, problem: Problem) -> UcbBv2State:
    k = params.n_arms
    pulls, rewards, costs, slopes = np.zeros((4, k))
    return UcbBv2State(pulls, rewards, costs, np.full(k, FIRST), slopes, np.ones(k))


@kernel
def score_all(params: Any, state: UcbBv2State, scratch: Scores, now: Now) -> None:
    width, scores = common_width(1.0, now.t), scratch.scores
    lam = smallest(state.mean_costs)
    scale = width / lam
    for i in range(scores.shape[0]):
        eta = width * state.slopes[i]
        scores[i] = (
            state.bases[i] + (1 + 1 / (lam - eta)) * (scale * state.slopes[i])
            if eta < lam
            else FIRST
        )


choose, probabilities = largest_rule(score_all)


@kernel
def update(params: UcbBv2Params, state: UcbBv2State, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    add_report(state, i, play.rewards[0], play.costs[0, 0])
    keep_ratio_and_root(params, state, i)
    state.mean_costs[i] = state.costs[i] / state.pulls[i]
