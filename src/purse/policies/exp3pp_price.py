r"""EXP3++ with a price: weights that rank arms by mean reward per mean cost, for random costs.

The paper's estimate of an efficiency has mean E[r/c]; what a budget buys is E[r]/E[c], and with
random costs the two can order the arms differently (the `misleading_ratio` environment). So reward
and cost are estimated apart, and cost is priced at what the player itself earns per unit. Costs c
in [c_min, 1]. Each arm once, in order; then

    theta_t   = (reward earned so far) / (cost paid so far)
    score(i)  = (R^(i) - theta_t C^(i)) / (1 + theta_t)     today's price for the whole past
    p_t(i)    = exp(eta_t score(i)) / sum_j exp(eta_t score(j)),     eta_t = sqrt(ln K / (t K))
    eps_t(i)  = min{1/(2K), (1/2) sqrt(ln K / (t K)), beta ln t / (t gap_t(i)^2)}
    p~_t(i)   = (1 - sum_j eps_t(j)) p_t(i) + eps_t(i)
    R^(i_t)  += r / p~_t(i_t),   C^(i_t) += c / p~_t(i_t)

with gap_t as in `purse.kernels.confidence`, of direct width.

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

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import Mixture, add_report, exp, kernel, largest, mixed_rule, total
from purse.kernels.confidence import GapBounds, gap_bounds, gap_rates, quiet_until
from purse.policies import exp3pp_bwk
from purse.policies.exp3pp_bwk import Exp3PPBwKScratch
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "exp3++.price", True, 1, 1
scratch = exp3pp_bwk.scratch
SPREAD = 0.5  # eps_t is at most SPREAD sqrt(ln K / (t K))


class Exp3PriceParams(NamedTuple):
    n_arms: int
    log_ratio: float  # ln K / K
    quiet: int  # the first round in which a gap could matter
    bounds: GapBounds


class Exp3PriceState(NamedTuple):
    reward_estimates: Floats  # (K,) R^
    cost_estimates: Floats  # (K,) C^
    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    costs: Floats  # (K,)
    earned: Floats  # (2,) the player's reward and cost


def params(
    problem: Problem, *, alpha: float = 3.0, beta: float | str = "theory"
) -> Exp3PriceParams:
    n_arms = problem.n_arms
    bounds = gap_bounds(problem.c_min, alpha=alpha, beta=beta, lam=None, width="direct")
    quiet = quiet_until(n_arms, bounds, SPREAD)
    return Exp3PriceParams(n_arms, math.log(n_arms) / n_arms, quiet, bounds)


def init(params: Exp3PriceParams, problem: Problem) -> Exp3PriceState:
    estimates, cost_estimates, pulls, rewards, costs = (np.zeros(params.n_arms) for _ in range(5))
    return Exp3PriceState(estimates, cost_estimates, pulls, rewards, costs, np.zeros(2))


@kernel
def weigh(
    params: Exp3PriceParams, state: Exp3PriceState, scratch: Exp3PPBwKScratch, t: int
) -> Mixture:
    """Write weights and, from the quiet round on, rates."""
    root = math.sqrt(params.log_ratio / t)
    cap = min(0.5 / params.n_arms, SPREAD * root)
    price = state.earned[0] / state.earned[1] if state.earned[1] > 0 else 0.0
    slope = root / (1 + price)
    for i in range(params.n_arms):
        scratch.weights[i] = slope * (state.reward_estimates[i] - price * state.cost_estimates[i])
    top = largest(scratch.weights)
    for i in range(params.n_arms):
        scratch.weights[i] = exp(scratch.weights[i] - top)
    explore = cap * params.n_arms
    if t >= params.quiet:
        explore = gap_rates(
            params.bounds, t, cap, state.pulls, state.rewards, state.costs, scratch.rates
        )
    return Mixture(cap, explore, t < params.quiet, total(scratch.weights))


@kernel
def update(
    params: Exp3PriceParams, state: Exp3PriceState, scratch: Exp3PPBwKScratch, now: Now, play: Play
) -> None:
    i, prob, reward, cost = play.arms[0], play.probs[0], play.rewards[0], play.costs[0, 0]
    add_report(state, i, reward, cost)
    state.earned[0] += reward
    state.earned[1] += cost
    if now.t > params.n_arms:
        state.reward_estimates[i] += reward / prob
        state.cost_estimates[i] += cost / prob


choose, probabilities = mixed_rule(weigh)
