r"""EXP3++ with prices and a learning rate from the data: `exp3++.prices` where rewards are small.

A variant of `exp3++.prices`, whose rate sqrt(ln K / (t K)) is right for rounds that are worth 1.
If a round is worth 0.05, its weights hardly move. Here the sum of squares of what rounds were
worth takes the place of t. With g_s = (r_s - theta sum_j v_j c_j b / b_j) / (1 + theta) at the
prices when the report came, and V the sum of g_s^2 over the reports:

    eta_t  = rate sqrt(ln K / (K (1 + V)))
    eps_t  = min{1/(2K), (1/2) sqrt(ln K / (t K)) sqrt((1 + V) / (1 + t))}

Options: rate=0.7.

Guarantee: none is proved; for one, V would have to contain the importance weights. Measured: on the
suite it is better than `exp3++.prices` in nearly all cases, and worse if a player should save
for later (`spend_or_save`) or if costs mislead.

Departures from the paper: the policy is ours, not the paper's; all else is as in `exp3++.prices`.

Needs the budgets; no least cost. O(K D) a round with K exps, and D exps a report.

>>> import purse
>>> world = purse.worlds.ad_slots(
...     clicks=[0.1, 0.05, 0.2], values=[0.6, 1, 0.2], prices=[0.5, 0.9, 0.1], views=5000
... )
>>> gains = [
...     purse.simulate(name, world, budget=[75, 3000], n_paths=10, seed=0).gain.mean()
...     for name in ("exp3++.ada-prices", "exp3++.prices")
... ]
>>> bool(gains[0] > 1.1 * gains[1])
True
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import Mixture, kernel, mixed_rule, number
from purse.policies import exp3pp_prices
from purse.policies.exp3pp_prices import PricesScratch, mix_scores, set_prices
from purse.policies.exp3pp_prices import update as add_report
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS = "exp3++.ada-prices", True, 1
scratch = exp3pp_prices.scratch


class AdaPricesParams(NamedTuple):
    n_arms: int
    n_resources: int  # without time
    log_ratio: float  # ln K / K
    kappa: float
    scale: Floats  # (D,)
    rate: float


class AdaPricesState(NamedTuple):
    reward_estimates: Floats  # (K,)
    cost_estimates: Floats  # (K, D)
    spent: Floats  # (D,)
    earned: Floats  # (1,)
    worth: Floats  # (1,) V


def params(problem: Problem, *, rate: float = 0.7) -> AdaPricesParams:
    return AdaPricesParams(*exp3pp_prices.params(problem), number("rate", rate, above=0))


def init(params: AdaPricesParams, problem: Problem) -> AdaPricesState:
    n_arms, d = params.n_arms, len(params.scale)
    return AdaPricesState(
        np.zeros(n_arms), np.zeros((n_arms, d)), np.zeros(d), np.zeros(1), np.zeros(1)
    )


@kernel
def weigh(
    params: AdaPricesParams, state: AdaPricesState, scratch: PricesScratch, t: int
) -> Mixture:
    """Write prices and weights."""
    theta = set_prices(params, state, scratch)
    slope = params.rate * math.sqrt(params.log_ratio / (1 + state.worth[0])) / (1 + theta)
    explore = math.sqrt(params.log_ratio / t) * math.sqrt((1 + state.worth[0]) / (1 + t))
    return mix_scores(params, state, scratch, slope, explore)


@kernel
def update(
    params: AdaPricesParams, state: AdaPricesState, scratch: PricesScratch, now: Now, play: Play
) -> None:
    if now.t > params.n_arms:
        theta = set_prices(params, state, scratch)
        worth = play.rewards[0]
        for j in range(scratch.prices.shape[0]):
            share = params.scale[j] * (play.costs[0, j] if j < params.n_resources else 1.0)
            worth -= scratch.prices[j] * share
        state.worth[0] += (worth / (1 + theta)) ** 2
    add_report(params, state, scratch, now, play)


choose, probabilities = mixed_rule(weigh)
