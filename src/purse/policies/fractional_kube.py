r"""Fractional KUBE: the most that an arm may pay per unit of its known cost.

The rule (Tran-Thanh, Chapman, Rogers and Jennings, 2012), with constant costs c(i) that are known.
Each arm once, in order; then, among the arms that what is left can pay for, the one with the
largest

    D_t(i) = (r(i) + sqrt(2 ln(t - 1) / N(i))) / c(i)

with N, r the arm's pulls and mean reward so far; ties are broken at random. When no arm can be paid
for, the game ends.

Guarantee: regret O(K log B / min Delta) for i.i.d. rewards.

Departures from the paper: none known.

Needs the costs, not B. O(K) a round.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> run = purse.simulate("fractional-kube", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 1].mean() > 5 * run.pulls[:, 0].mean())
True

Reference: L. Tran-Thanh, A. Chapman, A. Rogers, N. R. Jennings. Knapsack based optimal policies for
budget-limited multi-armed bandits. AAAI 2012.
"""

import math
from typing import NamedTuple

from purse.kernels import OUT, IndexState, common_width, index_rule, kernel
from purse.types import Floats, Now, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "fractional-kube", True, 1, 1
SOURCE = "Tran-Thanh et al., AAAI 2012, as in public code (obriareus)"


class FractionalKubeParams(NamedTuple):
    costs: Floats  # (K,) as policies see them


def params(problem: Problem) -> FractionalKubeParams:
    return FractionalKubeParams(problem.known_costs(NAME))


@kernel
def score(params: FractionalKubeParams, state: IndexState, now: Now, i: int) -> float:
    bound = state.bases[i] + common_width(2.0, now.t) * state.slopes[i]
    # as a minimum, because the compiler takes out of the loop only what every arm needs
    return min(bound, OUT if params.costs[i] > now.left[0] else math.inf)


@kernel
def learn(params: FractionalKubeParams, state: IndexState, i: int) -> None:
    state.bases[i] = state.rewards[i] / (state.pulls[i] * params.costs[i])
    state.slopes[i] = 1 / (math.sqrt(state.pulls[i]) * params.costs[i])


init, scratch, choose, update, probabilities = index_rule(score, learn)
