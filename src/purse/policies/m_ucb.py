r"""m-UCB: the most that an arm's mean reward may be, per the least that its mean cost may be.

The rule (Xia and others, 2017), with costs in (0, 1]. Each arm once, in order; then the arm with
the largest

    x_t(i) = alpha sqrt(ln(t - 1) / N(i))
    D_t(i) = min(r(i) + x_t(i), 1) / (c(i) - x_t(i))        infinite if x_t(i) >= c(i)

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random.

Options: alpha=0.25.

Guarantee: the paper proves regret sublinear in B for i.i.d. rewards and costs, and O(log B) for a
suitable alpha. An arm whose first pull paid nothing is tried again after exp((D c(i) / (1 + D) /
alpha)^2) rounds, with D the leader's ratio: soon at the default, late for a smaller alpha. Measured
at B = 10^4 on `bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]`, means of 100 paths:
regret 37 with alpha=0.25, 1,943 with alpha=0.0625.

Departures from the paper: its experiments are reported to favour alpha=0.0625.

Scale: loses 77% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm, and each arm is bought once whatever it costs.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("m-ucb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, T. Qin, W. Ding, H. Li, X.-D. Zhang, N. Yu, T.-Y. Liu. Finite budget analysis of
multi-armed bandit problems. Neurocomputing 258, 2017.
"""

import math
from typing import NamedTuple

from purse.kernels import IndexState, common_width, index_rule, kernel, number, ratio_bound
from purse.types import Now, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "m-ucb", True, 1, 1
SOURCE = "Xia et al., Neurocomputing 2017, as in code of Heyden et al. (OmegaUCB)"


class MUcbParams(NamedTuple):
    alpha2: float


def params(problem: Problem, *, alpha: float = 0.25) -> MUcbParams:
    return MUcbParams(number("alpha", alpha, above=0) ** 2)


@kernel
def score(params: MUcbParams, state: IndexState, now: Now, i: int) -> float:
    # sums: N times the means and the radius
    width = common_width(params.alpha2, now.t) * state.slopes[i]
    return ratio_bound(state.pulls[i], state.rewards[i], state.costs[i], width)


@kernel
def learn(params: MUcbParams, state: IndexState, i: int) -> None:
    state.slopes[i] = math.sqrt(state.pulls[i])


init, scratch, choose, update, probabilities = index_rule(score, learn)
