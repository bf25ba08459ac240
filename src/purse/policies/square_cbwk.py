r"""SquareCBwK: arms drawn by the gap between their predicted values, with prices that keep the
spending on pace; probabilities are exact, for logs.

The rule (Han et al., 2023; Slivkins, Sankararaman and Foster, 2023). Reward and costs of arm i in
context x are predicted by ridge regression, r^(i) and c^_j(i), each kept within its declared
bounds. In rounds of pace, u_j = c_j T / b_j, with prices lambda of `purse.kernels.pace_price`:

    L(i)  = r^(i) - sum_j lambda_j u^_j(i),        L(nothing) = 0
    best  = the largest of these
    p(i)  = 1 / (K' + gamma (L(best) - L(i)))      for all others, also for nothing
    p(best) = the rest,                            gamma = g sqrt(K T / n)

with K' = K + 1 actions, nothing among them, and n numbers in a context, its constant among them.
Without a horizon no round passes, K' = K, and gamma = g sqrt(K t / n).

Options: g=16; eta=0.3, the step of the prices; ridge=1.

Guarantee: with prices by the multiplicative law, b of the order of T and means linear in x, the
gain falls short of the optimum with contexts by O((T / b + 1) sqrt(K T n)) up to logarithms. None
is proved for the prices here.

Departures from the paper: prices are a function of what is left (the papers step a stored price); g
= 16 where theory has a constant near 1: on worlds of 10,000 rounds g = 1 loses 3 to 19% more. The
case without a horizon is ours.

Needs the budgets; a horizon or not. O(K n d) to choose, O(n^2) to learn.

>>> import purse
>>> live = purse.Policy(
...     "square-cbwk", n_arms=2, budget=100, cost_min=0.1, horizon=400, features=["size"]
... )
>>> live.probabilities(context=[0.5]).round(3)
array([0.661, 0.333])
>>> live.tell(live.ask(context=[0.5]), reward=1, cost=0.5)
True

References: Y. Han, J. Zeng, Y. Wang, Y. Xiang, J. Zhang. Optimal contextual bandits with knapsacks
under realizability via regression oracles. AISTATS 2023. A. Slivkins, K. A. Sankararaman, D. J.
Foster. Contextual bandits with packing and covering constraints: a modular Lagrangian approach via
regression. COLT 2023.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import draw_allowed, kernel, number, restrict
from purse.kernels.concave_hull import draw_shares, show_shares
from purse.kernels.pace_price import Pace, add_to_pace, new_pace, new_paced, pace_prices
from purse.kernels.regression import add_report, new_regression, predict, regression_of
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, CONTEXT = "square-cbwk", 1, True
SOURCE = "Han et al., AISTATS 2023: the draw, and sizes of g and Z, as in public code"


class SquareParams(NamedTuple):
    pace: Pace
    gamma: float
    eta: float
    ridge: float
    cost_min: Floats  # (K, d)
    cost_max: Floats  # (K, d)


class SquareState(NamedTuple):
    inverse: Floats  # (K, n, n) this and the next five: see `Regression`
    coefficients: Floats  # (K, 1 + d, n)
    squares: Floats  # (K, 1 + d)
    sums: Floats  # (K, 1 + d)
    tops: Floats  # (K, 1 + d)
    reports: Floats  # (K,)
    paced: Floats  # (2 + d,) see `pace_price`


class SquareScratch(NamedTuple):
    prices: Floats  # (d,) lambda
    scores: Floats  # (K,) L
    chances: Floats  # (K,) p
    gains: Floats  # (n,) room for the regression


def params(
    problem: Problem, *, g: float = 16.0, eta: float = 0.3, ridge: float = 1.0
) -> SquareParams:
    _, numbers = problem.context_shape
    rounds = 1 if problem.horizon is None else problem.horizon
    return SquareParams(
        new_pace(problem),
        number("g", g, above=0) * math.sqrt(problem.n_arms * rounds / numbers),
        number("eta", eta, above=0),
        number("ridge", ridge, above=0),
        problem.cost_min * problem.unit_scale,
        problem.cost_max * problem.unit_scale,
    )


def init(params: SquareParams, problem: Problem) -> SquareState:
    _, numbers = problem.context_shape
    model = new_regression(problem.n_arms, 1 + problem.n_resources, numbers, params.ridge)
    return SquareState(*model, new_paced(params.pace, problem))


def scratch(params: SquareParams, problem: Problem) -> SquareScratch:
    _, numbers = problem.context_shape
    scores, chances = np.zeros((2, problem.n_arms))
    return SquareScratch(np.zeros(problem.n_resources), scores, chances, np.zeros(numbers))


@kernel
def weigh(params: SquareParams, state: SquareState, scratch: SquareScratch, now: Now) -> None:
    """Write the probability of each arm; what is missing to 1 is for nothing."""
    for j in range(scratch.prices.shape[0]):
        scratch.prices[j] = 0.0
    pace_prices(params.pace, state.paced, now, params.eta, scratch.prices)
    value(params, state, scratch, now)
    n_arms = scratch.scores.shape[0]
    gamma = params.gamma if params.pace.skips else params.gamma * math.sqrt(float(now.t))
    best = 0
    for i in range(1, n_arms):
        if scratch.scores[i] > scratch.scores[best]:
            best = i
    top = scratch.scores[best]
    nothing = params.pace.skips and top < 0
    actions = n_arms
    remaining = 1.0
    if params.pace.skips:
        actions += 1
        top = max(0.0, top)
        if not nothing:
            remaining -= 1 / (actions + gamma * top)
    for i in range(n_arms):
        scratch.chances[i] = 1 / (actions + gamma * (top - scratch.scores[i]))
        if i != best:
            remaining -= scratch.chances[i]
    if not nothing:
        scratch.chances[best] = remaining


@kernel
def value(params: SquareParams, state: SquareState, scratch: SquareScratch, now: Now) -> None:
    """Write L(i)."""
    model = regression_of(state)
    for i in range(scratch.scores.shape[0]):
        x = now.context[min(i, now.context.shape[0] - 1)]
        score = min(1.0, max(0.0, predict(model, i, 0, x)))
        for j in range(scratch.prices.shape[0]):
            cost = min(
                params.cost_max[i, j], max(params.cost_min[i, j], predict(model, i, 1 + j, x))
            )
            score -= scratch.prices[j] * params.pace.rates[j] * cost
        scratch.scores[i] = score


@kernel
def choose(
    params: SquareParams, state: SquareState, scratch: SquareScratch, now: Now, play: Play
) -> None:
    weigh(params, state, scratch, now)
    if now.masked:
        draw_allowed(now, scratch.chances, play)
    else:
        draw_shares(now, params.pace.skips, scratch.chances, play)


@kernel
def update(
    params: SquareParams, state: SquareState, scratch: SquareScratch, now: Now, play: Play
) -> None:
    i = play.arms[0]
    x = now.context[min(i, now.context.shape[0] - 1)]
    add_report(regression_of(state), i, x, scratch.gains, play.rewards[0], play.costs[0])
    add_to_pace(params.pace, state.paced, play.rewards[0], play.costs[0])


@kernel
def probabilities(
    params: SquareParams, state: SquareState, scratch: SquareScratch, now: Now, out: Floats
) -> None:
    weigh(params, state, scratch, now)
    show_shares(params.pace.skips, scratch.chances, out)
    if now.masked:
        restrict(now, out)
