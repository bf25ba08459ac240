r"""b-greedy: the best ratio of means so far, and any arm with a probability that falls like 1/t.

The rule (Xia and others, 2017). Each arm once, in order; then

    eps_t = min(1, alpha K / t)
    with probability eps_t    any arm, each equally likely
    else                      the arm with the largest r(i) / c(i)

with r, c the arm's mean reward and mean cost so far; ties are broken at random.

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

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import count_allowed, kernel, nth_allowed, number, uniform
from purse.kernels.index_rules import FIRST, find_largest, share_largest, take_largest
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "b-greedy", True, 1, 1
SOURCE = "Xia et al., Neurocomputing 2017, as in code of Heyden et al. (OmegaUCB)"


class BGreedyParams(NamedTuple):
    scale: float  # alpha K


class BGreedyState(NamedTuple):
    rewards: Floats  # (K,) sums, as the costs
    costs: Floats  # (K,)
    ratios: Floats  # (K,) r(i) / c(i), `FIRST` without a report


def params(problem: Problem, *, alpha: float = 1.0) -> BGreedyParams:
    return BGreedyParams(number("alpha", alpha, low=0) * problem.n_arms)


def init(params: BGreedyParams, problem: Problem) -> BGreedyState:
    k = problem.n_arms
    return BGreedyState(np.zeros(k), np.zeros(k), np.full(k, FIRST))


@kernel
def choose(params: BGreedyParams, state: BGreedyState, scratch: Any, now: Now, play: Play) -> None:
    n_arms = count_allowed(now, state.ratios.shape[0])
    explore = min(1.0, params.scale / now.t)
    u = uniform(now.key, 1)  # number 0 is for ties
    if u < explore:
        arm = nth_allowed(now, min(int(u / explore * n_arms), n_arms - 1))
        best, count = find_largest(now, state.ratios)
        play.arms[0] = arm
        play.probs[0] = 1 / count if state.ratios[arm] == state.ratios[best] else 0.0
    else:
        take_largest(now, state.ratios, play)
    play.probs[0] = explore / n_arms + (1 - explore) * play.probs[0]


@kernel
def update(params: BGreedyParams, state: BGreedyState, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    state.rewards[i] += play.rewards[0]
    state.costs[i] += play.costs[0, 0]
    state.ratios[i] = state.rewards[i] / state.costs[i]


@kernel
def probabilities(
    params: BGreedyParams, state: BGreedyState, scratch: Any, now: Now, out: Floats
) -> None:
    share_largest(now, state.ratios, out)
    explore = min(1.0, params.scale / now.t)
    n_arms = count_allowed(now, out.shape[0])
    for i in range(out.shape[0]):
        if not now.masked or now.allowed[i]:
            out[i] = explore / n_arms + (1 - explore) * out[i]
