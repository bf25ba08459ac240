r"""EXP3++ with a price: weights that rank arms by mean reward per mean cost, for random costs.

The paper's estimate of an efficiency has mean E[r/c]; what a budget buys is E[r]/E[c], and with
random costs the two can order the arms differently (the `misleading_ratio` environment). So reward
and cost are estimated apart, and cost is priced at what the player itself earns per unit. Costs c
in [c_min, 1]. Each arm once, in order; then

    theta_t   = (reward earned so far) / (cost paid so far)
    score(i)  = (R^(i) - theta_t C^(i)) / (1 + theta_t)              today's price for the whole
              past
    p_t(i)    = exp(eta_t score(i)) / sum_j exp(eta_t score(j)),     eta_t = sqrt(ln K / (t K))
    eps_t(i)  = min{1/(2K), (1/2) sqrt(ln K / (t K)), beta ln t / (t gap_t(i)^2)}        direct
              width, see `purse.kernels.confidence`
    p~_t(i)   = (1 - sum_j eps_t(j)) p_t(i) + eps_t(i)
    R^(i_t)  += r / p~_t(i_t),   C^(i_t) += c / p~_t(i_t)

| symbol | code |
|---|---|
| R^(i), C^(i) | `state.reward_estimates[i]`, `state.cost_estimates[i]` |
| N, sum r, sum c of an arm | `state.pulls`, `state.rewards`, `state.costs` |
| eps_t(i) | `state.rates[i]`, from the round `params.quiet` on; before it, all are `cap` |

Options: alpha=3; beta="theory" (256 / c_min^2) or a number.

Guarantee: none is proved. Measured: on `misleading_ratio` its regret is below 1% of the budget at B
= 10^5, where EXP3.BwK and EXP3++.BwK lose 28%.

Departures from the paper: the policy is ours, not the paper's; its exploration and its initial
pulls are those of EXP3++.BwK.

Needs c_min (for the gaps), not B. O(K) a round with K exps: the price moves every arm's score in
every round.

>>> import purse
>>> world = purse.worlds.misleading_ratio()
>>> run = purse.simulate("exp3++.price", world, budget=1000, n_paths=20, seed=0)
>>> other = purse.simulate("exp3++.bwk", world, budget=1000, n_paths=20, seed=0)
>>> bool(run.gain.mean() > other.gain.mean())
True
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.compiler.jit import kernel
from purse.kernels.confidence import GapBounds, gap_bounds, gap_rates, quiet_until
from purse.kernels.fastmath import exp
from purse.kernels.random import U, uniform
from purse.kernels.weights import largest, mixed_arm, mixed_probability, total
from purse.types import Floats, Ints, Problem

NAME = "exp3++.price"
INITIAL_PULLS = True
SPREAD = 0.5  # eps_t is at most SPREAD sqrt(ln K / (t K))


class Exp3PlusPlusPriceParams(NamedTuple):
    n_arms: int
    log_ratio: float  # ln K / K
    quiet: int  # the first round in which a gap could matter
    bounds: GapBounds


class Exp3PlusPlusPriceState(NamedTuple):
    reward_estimates: Floats  # (P, K)
    cost_estimates: Floats  # (P, K)
    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    earned: Floats  # (P, 2) the player's reward and cost
    weights: Floats  # (P, K) scratch
    rates: Floats  # (P, K) scratch


def params(
    problem: Problem, *, alpha: float = 3.0, beta: float | str = "theory"
) -> Exp3PlusPlusPriceParams:
    """Options: alpha, beta ("theory" or a number)."""
    problem.require(NAME, plays=1, n_resources=1)
    bounds = gap_bounds(problem.c_min, alpha=alpha, beta=beta, lam=None, width="direct")
    return Exp3PlusPlusPriceParams(
        problem.n_arms,
        math.log(problem.n_arms) / problem.n_arms,
        quiet_until(problem.n_arms, bounds, SPREAD),
        bounds,
    )


def init(params: Exp3PlusPlusPriceParams, problem: Problem, n_paths: int) -> Exp3PlusPlusPriceState:
    def per_arm() -> Floats:
        return np.zeros((n_paths, params.n_arms))

    return Exp3PlusPlusPriceState(
        per_arm(),
        per_arm(),
        per_arm(),
        per_arm(),
        per_arm(),
        np.zeros((n_paths, 2)),
        per_arm(),
        per_arm(),
    )


@kernel
def row(state: Exp3PlusPlusPriceState, path: int) -> Exp3PlusPlusPriceState:
    return Exp3PlusPlusPriceState(
        state.reward_estimates[path],
        state.cost_estimates[path],
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.earned[path],
        state.weights[path],
        state.rates[path],
    )


@kernel
def weigh(
    params: Exp3PlusPlusPriceParams, state: Exp3PlusPlusPriceState, t: int
) -> tuple[float, float, float]:
    """Writes weights and, from the quiet round on, rates; returns the cap, the sum of the rates and
    the sum of the weights.
    """
    root = math.sqrt(params.log_ratio / t)
    cap = min(0.5 / params.n_arms, SPREAD * root)
    price = state.earned[0] / state.earned[1] if state.earned[1] > 0 else 0.0
    slope = root / (1 + price)
    for i in range(params.n_arms):
        state.weights[i] = slope * (state.reward_estimates[i] - price * state.cost_estimates[i])
    top = largest(state.weights)
    for i in range(params.n_arms):
        state.weights[i] = exp(state.weights[i] - top)
    explore = cap * params.n_arms
    if t >= params.quiet:
        explore = gap_rates(
            params.bounds, t, cap, state.pulls, state.rewards, state.costs, state.rates
        )
    return cap, explore, total(state.weights)


@kernel
def choose(
    key: U,
    params: Exp3PlusPlusPriceParams,
    state: Exp3PlusPlusPriceState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    cap, explore, sum_weights = weigh(params, state, t)
    equal = t < params.quiet
    arms[0] = mixed_arm(
        uniform(key, 0), cap, explore, equal, state.rates, state.weights, sum_weights
    )
    probs[0] = mixed_probability(
        arms[0], cap, explore, equal, state.rates, state.weights, sum_weights
    )


@kernel
def update(
    key: U,
    params: Exp3PlusPlusPriceParams,
    state: Exp3PlusPlusPriceState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = arms[0]
    state.pulls[i] += 1
    state.rewards[i] += rewards[0]
    state.costs[i] += costs[0, 0]
    state.earned[0] += rewards[0]
    state.earned[1] += costs[0, 0]
    if t > params.n_arms:
        state.reward_estimates[i] += rewards[0] / probs[0]
        state.cost_estimates[i] += costs[0, 0] / probs[0]


@kernel
def probabilities(
    params: Exp3PlusPlusPriceParams,
    state: Exp3PlusPlusPriceState,
    t: int,
    left: Floats,
    out: Floats,
) -> None:
    cap, explore, sum_weights = weigh(params, state, t)
    for i in range(params.n_arms):
        out[i] = mixed_probability(
            i, cap, explore, t < params.quiet, state.rates, state.weights, sum_weights
        )
