r"""Prices that keep the spending on pace, as a function of what is left and of the round.

With a horizon of T rounds and budgets b_j, b_j / T is the pace of resource j: what may be spent of
it a round. A cost c_j is u_j = c_j T / b_j rounds of pace. In this unit the best price lies in
{lambda >= 0, sum_j lambda_j <= 1}, whatever money is counted in: T sum_j lambda_j is at most the
optimum, and that is at most T.

    S_j    = (b_j - left_j) T / b_j - (t - 1)          rounds of pace overspent so far
    Q      = 1 + sum over reports of sum_j (u_j - 1)^2 + d (t - 1 - reports)
    lambda = the point of that set next to base + eta S / sqrt(Q)

This price falls in rounds that pass, knows what open tickets hold and what was added to the budget,
and asking twice gives it twice. It is dual averaging with AdaGrad's scale.

The multiplicative law has one weight for each resource and one, 1, for no price:

    lambda_j = exp(step S_j) / (1 + sum_k exp(step S_k))

Without a horizon no round may pass, and the best policy has the largest reward per cost. With b the
least of the budgets, u_j = c_j b / b_j, and U_j its sum over reports, the prices are what was
earned per cost, charged to the resources by how fast they are used up:

    lambda_j = v_j (earned) / sum_k v_k U_k,     v_j = exp(kappa U_j),  kappa = sqrt(ln d / b)

with 1/2 earned and a pull of middling costs spent beforehand. Either way an arm is worth its reward
less sum_j lambda_j u_j.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from purse.compiler.kernel import attach, kernel
from purse.kernels.fastmath import exp
from purse.kernels.index_rules import find_largest, share_largest, take_largest
from purse.kernels.primal_dual import common_budget, project
from purse.kernels.weights import largest
from purse.types import SKIP, Floats, Now, Play, Problem

# in `paced`: Q - 1 - d (t - 1), rewards, and the first of the U_j
_SPREAD, _EARNED, _SPENT = range(3)
score_all: Any = None  # bound by `worthwhile_rule`


class Pace(NamedTuple):
    """The pace that prices follow from; part of the parameters of a policy that uses them."""

    skips: bool  # whether there is a horizon, so that rounds may pass
    budget: Floats  # (d,) in largest costs
    rates: Floats  # (d,) u_j / c_j, for costs in largest costs
    kappa: float


def new_pace(problem: Problem) -> Pace:
    """Return the pace of a problem, with or without a horizon."""
    budget, factors = common_budget(problem, None)
    if problem.horizon is not None:
        factors = factors * (problem.horizon / budget)
    kappa = math.sqrt(math.log(problem.n_resources) / budget)
    return Pace(problem.horizon is not None, problem.budget * problem.unit_scale, factors, kappa)


def new_paced(pace: Pace, problem: Problem) -> Floats:
    """Return `paced` before any report, shape (2 + d,): a part of the state."""
    paced = np.zeros(_SPENT + problem.n_resources)
    if not pace.skips:
        middle = (problem.cost_min + problem.cost_max).mean(axis=0) / 2 * problem.unit_scale
        paced[_EARNED], paced[_SPENT:] = 0.5, middle * pace.rates
    return paced


@kernel
def add_to_pace(pace: Pace, paced: Floats, reward: float, costs: Floats) -> None:
    """Add a report, with its costs (d,)."""
    paced[_EARNED] += reward
    for j in range(costs.shape[0]):
        used = pace.rates[j] * costs[j]
        paced[_SPREAD] += used * (used - 2)
        paced[_SPENT + j] += used


@kernel
def _overspent(pace: Pace, now: Now, j: int) -> float:
    """S_j, with a horizon; negative if less than the pace was spent."""
    return (pace.budget[j] - now.left[j]) * pace.rates[j] - (now.t - 1)


@kernel
def pace_prices(pace: Pace, paced: Floats, now: Now, eta: float, prices: Floats) -> None:
    """Write lambda (d,) over the base (d,). Without a horizon the base does not count."""
    if not pace.skips:
        earned_prices(pace.kappa, paced[_EARNED], paced[_SPENT:], prices)
        return
    squares = 1 + prices.shape[0] * float(now.t - 1) + paced[_SPREAD]
    scale = eta / math.sqrt(max(1.0, squares))
    for j in range(prices.shape[0]):
        prices[j] += scale * _overspent(pace, now, j)
    project(prices, 1.0)


@kernel
def multiplicative_prices(pace: Pace, now: Now, step: float, prices: Floats) -> None:
    """Write lambda (d,) by the multiplicative law; there must be a horizon."""
    for j in range(prices.shape[0]):
        prices[j] = step * _overspent(pace, now, j)
    top = max(0.0, largest(prices))
    whole = exp(-top)
    for j in range(prices.shape[0]):
        prices[j] = exp(prices[j] - top)
        whole += prices[j]
    for j in range(prices.shape[0]):
        prices[j] /= whole


@kernel
def earned_prices(kappa: float, earned: float, spent: Floats, prices: Floats) -> float:
    """Write what was earned per cost as a price of each resource (d,); return the sum of the
    prices.
    """
    maximum = largest(spent)
    whole = charged = 0.0
    for j in range(prices.shape[0]):
        prices[j] = exp(kappa * (spent[j] - maximum))
        whole += prices[j]
        charged += prices[j] * spent[j]
    theta = earned * whole / charged if charged > 0 else 0.0
    for j in range(prices.shape[0]):
        prices[j] *= theta / whole
    return theta


def _choose(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    score_all(params, state, scratch, now)
    take_largest(now, scratch.scores, play)
    if params.pace.skips and play.arms[0] >= 0 and scratch.scores[play.arms[0]] < 0:
        play.arms[0] = SKIP
        play.probs[0] = 1.0


def _share(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    score_all(params, state, scratch, now)
    share_largest(now, scratch.scores, out)
    arm, _ = find_largest(now, scratch.scores)
    if params.pace.skips and arm >= 0 and scratch.scores[arm] < 0:
        for i in range(out.shape[0]):
            out[i] = 0.0


def worthwhile_rule(score_all: Callable[..., None]) -> Any:
    """Return choose and probabilities of a rule that takes an allowed arm with the largest of the
    scores which `score_all(params, state, scratch, now)` writes to the scratch, each of them
    equally likely, and lets the round pass if that score is below 0 and, by the pace, it may.
    """
    return attach(_choose, score_all=score_all), attach(_share, score_all=score_all)
