r"""PrimalDualBwK: the most reward per cost, where costs of several resources are added up at prices
that rise with what is used.

The rule (Badanidiyuru, Kleinberg and Slivkins, 2013). Time is one more resource if there is a
horizon T; budgets are rescaled to one, B, as `purse.kernels.primal_dual` says, and costs c_j with
them; D resources in all. Each arm once, in order; then the arm with the largest

    D_t(i)   = u(i) / sum_j v_j l_j(i)                              infinite if nothing is known
             to be used
    u(i)     = min{1, r(i) + rad(r(i), N(i))}
    l_j(i)   = max{0, c_j(i) - rad(c_j(i), N(i))},                  of time l = B / T
    rad(x,N) = sqrt(C x / N) + C / N
    v_j     <- v_j (1 + eps)^(l_j(i_t)),  v_j = 1 at the start,     eps = sqrt(ln D / B)

with N, r, c the arm's pulls, mean reward and mean costs so far; ties are broken at random. For one
resource without a horizon the price does not matter, and the rule is the ratio of an upper to a
lower bound.

Options: c_rad=1 (C), or "theory" (C = ln(D K T), T the horizon or the most rounds that can be paid
for). The paper leaves the constant open; 1 measures far better on the suite.

Guarantee: in i.i.d. worlds the gain falls short of the optimum OPT of the linear program on the
true means by at most O(sqrt(ln(D K T))) (sqrt(K OPT) + OPT sqrt(K / B)) + O(K) ln(D K T) ln T, the
best possible up to logarithms, with C of that order. Smaller C is often better at budgets one can
play, at the risk of leaving the best arm for good: with 20,000 prompts and a budget of 4,000 on the
world of the suite, `routing`, it loses 11% of OPT with the C of theory and 0.2% with C = 0.5.

Departures from the paper: prices move after the initial pulls; a late report moves them by today's
bounds. If T is the least of the budgets it takes part as B, too.

Scale: loses 87% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm, and each arm is bought once whatever it costs.

Needs B and, for C, T or c_min. O(K D) a round with D exps.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.5, 0.6, 0.9], prices=[0.1, 0.5, 0.6], prompts=4000
... )
>>> run = purse.simulate("primal-dual-bwk:c_rad=0.5", world, budget=1500, n_paths=10, seed=0)
>>> bool(run.pulls[:, 1].sum() < run.pulls[:, [0, 2]].sum() / 4)
True

Reference: A. Badanidiyuru, R. Kleinberg, A. Slivkins. Bandits with knapsacks. FOCS 2013; Journal of
the ACM 65, 2018.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import c_rad_of, exp, kernel, largest, lower_radius, upper_radius
from purse.kernels.index_rules import FIRST, Scores, largest_rule, room_for_scores
from purse.kernels.primal_dual import common_budget
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS = "primal-dual-bwk", True, 1
SOURCE = "Badanidiyuru et al., FOCS 2013, as in public code (lzt68, Online-Learning-Implementation)"
scratch = room_for_scores


class PrimalDualParams(NamedTuple):
    c_rad: float
    rise: float  # ln(1 + eps)
    pace: float  # what a round takes of time, B / T; 0 without a horizon
    factors: Floats  # (d,) of the costs


class PrimalDualState(NamedTuple):
    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    costs: Floats  # (K, d) rescaled
    upper: Floats  # (K,) u
    lower: Floats  # (K, D) l, time last
    used: Floats  # (D,) ln v / ln(1 + eps)
    prices: Floats  # (D,) v, relative to the largest
    scores: Floats  # (K,) used with one price


def params(problem: Problem, *, c_rad: float | str = 1.0) -> PrimalDualParams:
    budget, factors = common_budget(problem, problem.horizon)
    pace = 0.0 if problem.horizon is None else budget / problem.horizon
    n_prices = problem.n_resources + (problem.horizon is not None)
    return PrimalDualParams(
        c_rad_of(c_rad, problem, n_prices, NAME),
        math.log1p(math.sqrt(math.log(n_prices) / budget)),
        pace,
        factors,
    )


def init(params: PrimalDualParams, problem: Problem) -> PrimalDualState:
    n_arms, n_resources = problem.n_arms, problem.n_resources
    n_prices = n_resources + (params.pace > 0)
    lower = np.zeros((n_arms, n_prices))
    lower[:, n_resources:] = params.pace
    pulls, rewards = np.zeros((2, n_arms))
    costs, upper, scores = np.zeros((n_arms, n_resources)), np.ones(n_arms), np.full(n_arms, FIRST)
    used, prices = np.zeros(n_prices), np.ones(n_prices)
    return PrimalDualState(pulls, rewards, costs, upper, lower, used, prices, scores)


@kernel
def score(state: PrimalDualState, i: int) -> float:
    cost = 0.0
    for j in range(state.prices.shape[0]):
        cost += state.prices[j] * state.lower[i, j]
    return min(FIRST, state.upper[i] / cost) if cost > 0 else FIRST


@kernel
def score_all(params: Any, state: PrimalDualState, scratch: Scores, now: Now) -> None:
    for i in range(scratch.scores.shape[0]):
        # with one price, a score changes only with a report on its arm
        one = state.prices.shape[0] == 1
        scratch.scores[i] = state.scores[i] if one else score(state, i)


choose, probabilities = largest_rule(score_all)


@kernel
def update(
    params: PrimalDualParams, state: PrimalDualState, scratch: Scores, now: Now, play: Play
) -> None:
    i = play.arms[0]
    if now.t > state.pulls.shape[0] and state.prices.shape[0] > 1:
        raise_prices(params, state, i)
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.upper[i] = upper_radius(state.rewards[i], state.pulls[i], params.c_rad)
    for j in range(state.costs.shape[1]):
        state.costs[i, j] += params.factors[j] * play.costs[0, j]
        state.lower[i, j] = lower_radius(state.costs[i, j], state.pulls[i], params.c_rad)
    if state.prices.shape[0] == 1:
        state.scores[i] = score(state, i)


@kernel
def raise_prices(params: PrimalDualParams, state: PrimalDualState, arm: int) -> None:
    for j in range(state.used.shape[0]):
        state.used[j] += state.lower[arm, j]
    top = largest(state.used)
    for j in range(state.used.shape[0]):
        state.prices[j] = exp(params.rise * (state.used[j] - top))
