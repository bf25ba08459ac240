r"""Budget-UCB: the ratio of means, and what errors in the mean reward and in the mean cost may each
add to it.

The rule (Xia, Ding, Zhang, Yu and Qin, 2015), with costs in (0, 1] whose means are at least lam.
Each arm once, in order; then the arm with the largest

    x_t(i) = sqrt(2 ln(t - 1) / N(i))
    y_t(i) = min(r(i) + x_t(i), 1) / max(c(i) - x_t(i), lam)
    D_t(i) = r(i) / c(i) + (1 + y_t(i)) x_t(i) / c(i)

with N, r, c the arm's pulls, mean reward and mean cost so far; ties are broken at random. If
neither min nor max cuts anything off, D is exactly (r + x) / (c - x).

Options: lam=None (c_min) or a number up to the least mean cost.

Guarantee: regret O(log B) for i.i.d. rewards and costs.

Departures from the paper: the index is reconstructed, not taken from the printed text; that it
equals (r + x) / (c - x) if no term is cut off speaks for it.

Needs lam, not B. O(K) a round.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.6, 0.6], cost_min=0.3)
>>> run = purse.simulate("budget-ucb", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, W. Ding, X.-D. Zhang, N. Yu, T. Qin. Budgeted bandit problems with continuous
random costs. ACML 2015.
"""

import math

from purse.kernels import FIRST, IndexState, common_width, index_rule, kernel
from purse.policies import ucb_bv1
from purse.policies.ucb_bv1 import UcbBv1Params
from purse.types import Now

NAME, INITIAL_PULLS, PLAYS, RESOURCES, SOURCE = "budget-ucb", True, 1, 1, "from memory"
params = ucb_bv1.params


@kernel
def score(params: UcbBv1Params, state: IndexState, now: Now, i: int) -> float:
    n = state.pulls[i]
    width = common_width(2.0, now.t) * state.slopes[i]
    cost = max(state.costs[i] - width, params.lam * max(1.0, n))
    ratio = min(state.rewards[i] + width, n) / cost
    bound = (state.rewards[i] + width + width * ratio) * state.bases[i]
    # as a maximum, because the compiler takes out of the loop only what every arm needs
    return max(bound, -math.inf if n > 0 else FIRST)


@kernel
def learn(params: UcbBv1Params, state: IndexState, i: int) -> None:
    state.bases[i] = 1 / state.costs[i]  # a sum, as `score` has them: N times the means
    state.slopes[i] = math.sqrt(state.pulls[i])


init, scratch, choose, update, probabilities = index_rule(score, learn)
