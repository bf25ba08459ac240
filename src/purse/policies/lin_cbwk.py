r"""linCBwK: linear bounds of reward and costs, with prices by multiplicative weights, as published.

The rule (Agrawal and Devanur, 2016). Budgets are rescaled to one, B, and costs c_j in [0, 1] with
them, as `purse.kernels.primal_dual` says. mu^ and W^_j are least squares of reward and costs on the
contexts x(i) of the arms that were pulled, with M = I + sum x x':

    score(i) = [mu^.x(i) + beta w(i)] - Z sum_j theta_j [W^_j.x(i) - beta w(i)],     nothing: 0
    w(i)     = sqrt(x(i)' M^-1 x(i))
    beta     = sqrt(N ln((d + t N d) T)) + sqrt(N)
    theta_j  = exp(eta sum_s (c_j,s - B / T)) / (1 + sum_k exp(eta sum_s (c_k,s - B / T)))
    eta      = sqrt(ln(d + 1) / T) / (1 + B / T),          Z = T / B

[..] is kept within bounds. The arm with the largest score is played; below 0 the round passes. With
model="shared" all arms have the same coefficients, each its own context, and N = n numbers; with
model="arm" each arm has coefficients of its own, as if x(i) stood in the i-th block of a context of
N = n K numbers.

Options: radius="theory" or a number (beta); z="theory" or a number (Z); model="arm" or "shared".

Guarantee: in i.i.d. worlds whose means are linear the gain falls short of the optimum OPT with
contexts by (OPT / B + 1) N sqrt(T) up to logarithms, for B above sqrt(N) T^(3/4), if Z is between
OPT / B and a multiple of OPT / B + 1. T / B is never below. At sizes that one can play the radius
of theory explores too much: see `square-cbwk` on the same worlds.

Departures from the paper: Z = T / B, where the paper first spends some rounds to estimate OPT / B;
bounds are kept within [0, 1] and the declared costs of the arm; theta follows what is left. The
constants of beta and the step eta are from memory; the guarantee is as section 1 of the paper on
SemiBwK-RRS reports it. Without a horizon T = ceil(B / c_min), which the budget cannot outlast, and
no round passes: that is ours.

Scale: the radius is in units of the largest cost of any arm. If costs differ by orders of
magnitude the bounds of cheap arms say nothing for long.

Needs B and T, or c_min. O(K n (n + d)) a round.

>>> import purse
>>> live = purse.Policy(
...     "lin-cbwk:radius=1", n_arms=2, budget=100, cost_min=0.1, horizon=400, features=["size"]
... )
>>> live.tell(live.ask(context=[0.5]), reward=1, cost=0.5)
True

Reference: S. Agrawal, N. R. Devanur. Linear contextual bandits with knapsacks. NeurIPS 2016.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.errors import invalid
from purse.kernels import choice, kernel, log, rounds_of, theory_or
from purse.kernels.pace_price import Pace, multiplicative_prices, new_pace, worthwhile_rule
from purse.kernels.primal_dual import common_budget
from purse.kernels.regression import Regression, add_plain_report, leverage, new_regression, predict
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, CONTEXT, SOURCE = "lin-cbwk", 1, True, "from memory: beta and eta"
RIDGE = 1.0
THEORY = -1.0  # the radius of theory, which grows with t


class LinCBwKParams(NamedTuple):
    pace: Pace
    radius: float  # beta
    numbers: float  # N
    rounds: float  # T
    z: float
    step: float  # eta B / T
    shared: bool
    factors: Floats  # (d,) of the costs
    cost_min: Floats  # (K, d) rescaled
    cost_max: Floats  # (K, d)


class LinCBwKScratch(NamedTuple):
    prices: Floats  # (d,) theta
    scores: Floats  # (K,)
    gains: Floats  # (n,) room for the regression


def params(
    problem: Problem,
    *,
    radius: float | str = "theory",
    z: float | str = "theory",
    model: str = "arm",
) -> LinCBwKParams:
    _, numbers = problem.context_shape
    shared = choice("model", model, ("arm", "shared")) == "shared"
    if shared and not problem.per_arm:
        raise invalid(
            "model",
            model,
            "must be 'arm' where all arms have the same context, as "
            "in campaigns; each may have its own in simulations and with purse.Policy",
        )
    rounds = rounds_of(problem, NAME)
    budget, factors = common_budget(problem, None)
    pace = new_pace(problem)._replace(rates=factors * (rounds / budget))
    even = budget / rounds
    return LinCBwKParams(
        pace,
        theory_or("radius", radius, "a positive number", lambda: THEORY, above=0),
        float(numbers if shared else numbers * problem.n_arms),
        float(rounds),
        theory_or("z", z, "a positive number", lambda: 1 / even, above=0),
        math.sqrt(math.log(problem.n_resources + 1) / rounds) / (1 + even) * even,
        shared,
        factors,
        problem.cost_min * problem.unit_scale * factors,
        problem.cost_max * problem.unit_scale * factors,
    )


def init(params: LinCBwKParams, problem: Problem) -> Regression:
    """Return the regressions of all arms, or the one that they share."""
    _, numbers = problem.context_shape
    groups = 1 if params.shared else problem.n_arms
    model = new_regression(groups, 1 + problem.n_resources, numbers, RIDGE)
    model.coefficients[:] = 0.0
    return model


def scratch(params: LinCBwKParams, problem: Problem) -> LinCBwKScratch:
    _, numbers = problem.context_shape
    return LinCBwKScratch(
        np.zeros(problem.n_resources), np.zeros(problem.n_arms), np.zeros(numbers)
    )


@kernel
def radius_at(params: LinCBwKParams, t: int, n_resources: int) -> float:
    """Return beta."""
    if params.radius >= 0:
        return params.radius
    inside = n_resources * (1 + t * params.numbers) * params.rounds
    return math.sqrt(params.numbers * log(inside)) + math.sqrt(params.numbers)


@kernel
def score(params: LinCBwKParams, state: Regression, scratch: LinCBwKScratch, now: Now) -> None:
    """Write the score of each arm."""
    n_resources = scratch.prices.shape[0]
    multiplicative_prices(params.pace, now, params.step, scratch.prices)
    radius = radius_at(params, now.t, n_resources)
    for i in range(scratch.scores.shape[0]):
        group = 0 if params.shared else i
        x = now.context[min(i, now.context.shape[0] - 1)]
        width = radius * math.sqrt(leverage(state, group, x))
        worth = min(1.0, max(0.0, predict(state, group, 0, x) + width))
        for j in range(n_resources):
            cost = params.factors[j] * predict(state, group, 1 + j, x) - width
            cost = min(params.cost_max[i, j], max(params.cost_min[i, j], cost))
            worth -= params.z * scratch.prices[j] * cost
        scratch.scores[i] = worth


choose, probabilities = worthwhile_rule(score)


@kernel
def update(
    params: LinCBwKParams, state: Regression, scratch: LinCBwKScratch, now: Now, play: Play
) -> None:
    i = play.arms[0]
    x = now.context[min(i, now.context.shape[0] - 1)]
    group = 0 if params.shared else i
    add_plain_report(state, group, x, scratch.gains, play.rewards[0], play.costs[0])
