r"""EXP3++ with prices: one price per resource, time among them, for several budgets and a horizon;
no least cost is needed.

`exp3++.price` prices cost at what the player earns per unit. With several resources, or a budget
and a horizon, there is a price for each: the part v_j of all that is earned which resource j is
charged with, more the faster it is used up. Costs c_j in [0, 1]; with a horizon T, time
is one more resource, of which every pull takes 1. In units in which all budgets are b, the
scarcest:

    S_j       = what was spent of resource j so far, times b / b_j
    v_t(j)    = exp(kappa S_j) / sum_k exp(kappa S_k),        kappa = sqrt(ln D / b), D resources
    theta_t   = (reward earned so far) / sum_j v_t(j) S_j
    score(i)  = (R^(i) - theta_t sum_j v_t(j) C^_j(i)) / (1 + theta_t)
    p_t(i)    = exp(eta_t score(i)) / sum_k exp(eta_t score(k)),     eta_t = sqrt(ln K / (t K))
    eps_t     = min{1/(2K), (1/2) sqrt(ln K / (t K))}
    p~_t(i)   = (1 - K eps_t) p_t(i) + eps_t
    R^(i_t)  += r / p~_t(i_t),   C^_j(i_t) += c_j b / (b_j p~_t(i_t))

Each arm once first, in order. At the optimum of the linear program theta v_j is what all of
resource j is worth.

Guarantee: none is proved. Measured: with one resource and no horizon it plays like `exp3++.price`;
on the suite's cases with a horizon see the leaderboard.

Departures from the paper: the policy is ours, not the paper's; its exploration and its initial
pulls are those of EXP3++.BwK, without the gaps.

Needs the budgets; no least cost, so it also plays if that is unknown. O(K D) a round with K
exps.

>>> import purse
>>> world = purse.worlds.routing(quality=[0.5, 0.9], prices=[0.1, 0.5], prompts=3000)
>>> run = purse.simulate("exp3++.prices", world, budget=600, n_paths=10, seed=0)
>>> fixed = purse.simulate("fixed:arm=0", world, budget=600, n_paths=10, seed=0)
>>> bool(run.gain.mean() > 1.05 * fixed.gain.mean())
True
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import Mixture, exp, kernel, largest, mixed_rule, total
from purse.kernels.pace_price import earned_prices
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS = "exp3++.prices", True, 1


class PricesParams(NamedTuple):
    n_arms: int
    n_resources: int  # without time
    log_ratio: float  # ln K / K
    kappa: float
    scale: Floats  # (D,) b / b_j, time last


class PricesState(NamedTuple):
    reward_estimates: Floats  # (K,) R^
    cost_estimates: Floats  # (K, D) C^
    spent: Floats  # (D,) S
    earned: Floats  # (1,)


class PricesScratch(NamedTuple):
    prices: Floats  # (D,) theta v
    weights: Floats  # (K,)
    rates: Floats  # (1,) not read: all rates are equal


def params(problem: Problem) -> PricesParams:
    n_arms = problem.n_arms
    budgets = (problem.budget * problem.unit_scale).tolist()
    if problem.horizon is not None:
        budgets.append(float(problem.horizon))
    scarcest = min(budgets)
    return PricesParams(
        n_arms,
        problem.n_resources,
        math.log(n_arms) / n_arms,
        math.sqrt(math.log(len(budgets)) / scarcest),
        scarcest / np.array(budgets),
    )


def init(params: PricesParams, problem: Problem) -> PricesState:
    n_arms, d = params.n_arms, len(params.scale)
    return PricesState(np.zeros(n_arms), np.zeros((n_arms, d)), np.zeros(d), np.zeros(1))


def scratch(params: Any, problem: Problem) -> PricesScratch:
    return PricesScratch(np.zeros(len(params.scale)), np.zeros(params.n_arms), np.zeros(1))


@kernel
def set_prices(params: Any, state: Any, scratch: PricesScratch) -> float:
    """Write theta v_j; return theta. Any params and state with these fields will do, as below."""
    return earned_prices(params.kappa, state.earned[0], state.spent, scratch.prices)


@kernel
def mix_scores(
    params: Any, state: Any, scratch: PricesScratch, slope: float, explore: float
) -> Mixture:
    """Write the weights of the scores times `slope`; explore each arm at half of `explore`."""
    for i in range(params.n_arms):
        score = state.reward_estimates[i]
        for j in range(scratch.prices.shape[0]):
            score -= scratch.prices[j] * state.cost_estimates[i, j]
        scratch.weights[i] = slope * score
    top = largest(scratch.weights)
    for i in range(params.n_arms):
        scratch.weights[i] = exp(scratch.weights[i] - top)
    cap = min(0.5 / params.n_arms, 0.5 * explore)
    return Mixture(cap, cap * params.n_arms, True, total(scratch.weights))


@kernel
def weigh(params: PricesParams, state: PricesState, scratch: PricesScratch, t: int) -> Mixture:
    """Write prices and weights."""
    root = math.sqrt(params.log_ratio / t)
    theta = set_prices(params, state, scratch)
    return mix_scores(params, state, scratch, root / (1 + theta), root)


@kernel
def update(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    """Add a report to the estimates, and its costs to what was spent."""
    i = play.arms[0]
    counts = now.t > params.n_arms
    state.earned[0] += play.rewards[0]
    if counts:
        state.reward_estimates[i] += play.rewards[0] / play.probs[0]
    for j in range(state.spent.shape[0]):
        share = params.scale[j] * (play.costs[0, j] if j < params.n_resources else 1.0)
        state.spent[j] += share
        if counts:
            state.cost_estimates[i, j] += share / play.probs[0]


choose, probabilities = mixed_rule(weigh)
