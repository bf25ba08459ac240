r"""UCB-SC: the steepest line from nothing that still touches a disc around an arm's mean cost and
mean reward.

The rule (Watanabe, Komiyama, Nakamura and Kudo, 2018), with costs in (0, 1]. Each arm once, in
order; then the arm with the largest

    a_t(i) = ln t / (2 N(i))
    b_t(i) = sqrt(a_t(i) / (r(i)^2 + c(i)^2 - a_t(i)))
    D_t(i) = (r(i) + b_t(i) c(i)) / (c(i) - b_t(i) r(i))        infinite if c(i) <= sqrt(a_t(i))

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random. D is the
largest ratio y / x of the points (x, y) that are within sqrt(a) of (c, r). As the larger root of
D^2 (c^2 - a) - 2 D r c + r^2 - a = 0 it needs one square root and one division:

    D_t(i) = (r c + sqrt(a (r^2 + c^2 - a))) / (c^2 - a)

Guarantee: asymptotically optimal, so regret O(log B), for Bernoulli rewards and costs with means
around 1/2.

Departures from the paper: none known.

Scale: loses 91% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm, and each arm is bought once whatever it costs.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("ucb-sc", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: R. Watanabe, J. Komiyama, A. Nakamura, M. Kudo. UCB-SC: a fast variant of KL-UCB-SC for
budgeted multi-armed bandit. IEICE Transactions on Fundamentals E101-A(3), 2018.
"""

import math
from typing import NamedTuple

from purse.kernels import FIRST, IndexState, index_rule, kernel, log
from purse.types import Now, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "ucb-sc", True, 1, 1
SOURCE = "Watanabe et al., IEICE 2018, as in code of Heyden et al. (OmegaUCB)"


class UcbScParams(NamedTuple):
    n_arms: int


def params(problem: Problem) -> UcbScParams:
    return UcbScParams(problem.n_arms)


@kernel
def score(params: UcbScParams, state: IndexState, now: Now, i: int) -> float:
    reward, cost = state.rewards[i], state.costs[i]
    # sums: numerator and denominator times N^2
    area = 0.5 * log(now.t) * state.pulls[i]
    below = cost * cost - area
    if below > 0:
        return (reward * cost + math.sqrt(area * (reward * reward + below))) / below
    return FIRST


init, scratch, choose, update, probabilities = index_rule(score)
