r"""c-UCB: the most that an arm's mean reward may be, per mean cost as seen.

The rule (Xia and others, 2017), with costs in (0, 1]. Each arm once, in order; then the arm with
the largest

    x_t(i) = alpha sqrt(ln(t - 1) / N(i))
    D_t(i) = (r(i) + x_t(i)) / c(i)

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random.

Options: alpha=0.125, which the paper's experiments are reported to favour.

Guarantee: the paper proves regret sublinear in B for i.i.d. rewards and costs, and O(log B) for a
suitable alpha. At the default neither shows at a budget that one meets: an arm whose first pull
paid nothing is tried again only after exp((D c(i) / alpha)^2) rounds, with D the leader's ratio.
Measured at B = 10^4 on `bernoulli:rewards=[.42,.5,.4,.3,.6],costs=[.3,.5,.6,.4,.9]`, means of 100
paths: regret 1,356 with alpha=0.125, 29 with alpha=0.5.

Departures from the paper: none known.

Needs nothing. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("c-ucb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, T. Qin, W. Ding, H. Li, X.-D. Zhang, N. Yu, T.-Y. Liu. Finite budget analysis of
multi-armed bandit problems. Neurocomputing 258, 2017.
"""

import math
from functools import partial

from purse.kernels import IndexState, common_width, index_rule, kernel
from purse.policies import m_ucb
from purse.policies.m_ucb import MUcbParams
from purse.types import Now

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "c-ucb", True, 1, 1
SOURCE = "Xia et al., Neurocomputing 2017, as in code of Heyden et al. (OmegaUCB)"
params = partial(m_ucb.params, alpha=0.125)


@kernel
def score(params: MUcbParams, state: IndexState, now: Now, i: int) -> float:
    return state.bases[i] + common_width(params.alpha2, now.t) * state.slopes[i]


@kernel
def learn(params: MUcbParams, state: IndexState, i: int) -> None:
    per_cost = 1 / state.costs[i]
    state.bases[i] = state.rewards[i] * per_cost
    state.slopes[i] = math.sqrt(state.pulls[i]) * per_cost


init, scratch, choose, update, probabilities = index_rule(score, learn)
