r"""UCB-BwK: in every round the best mixture of arms for bounds that favour each arm, at the pace at
which the budget lasts to the horizon.

The rule (Agrawal and Devanur, 2014), for one resource, budget B and T rounds. In every round arm i
is drawn with probability x(i), and with the rest nothing is done, where x solves

    max  sum_i u(i) x(i)    subject to    sum_i l(i) x(i) <= (1 - eps) B / T,   sum_i x(i) <= 1,   x
         >= 0
    u(i)     = min{1, r(i) + 2 rad(r(i), N(i) + 1)},     1 without a pull
    l(i)     = max{0, c(i) - 2 rad(c(i), N(i) + 1)},     0 without a pull
    rad(x,N) = sqrt(C x / N) + C / N

with N, r, c the arm's pulls, mean reward and mean cost so far. `purse.kernels.concave_hull` solves
it: at most two different points are mixed.

Without a horizon T = ceil(B / c_min), which the budget cannot outlast, and where nothing was to be
done it is drawn again: the arms come with probability x(i) / sum_j x(j). Once every l(i) is at
least c_min, that is the arm with the largest u(i) / l(i).

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| u(i), l(i) | `state.upper[i]`, `state.lower[i]` |
| x(i) | `state.shares[i]` |
| (1 - eps) B / T | `params.pace` |
| C | `params.c_rad` |

Options: eps=0, "theory" (sqrt(C K / B) + (C K / B) ln T) or a number in [0, 1); c_rad="theory" (C =
ln(K T)) or a positive number.

Guarantee: in i.i.d. worlds, with eps of that order, the gain falls short of the optimum OPT of the
linear program on the true means by at most O(sqrt(ln(K T))) (sqrt(K OPT) + OPT sqrt(K / B)) and
lower terms. With eps = 0 it may run out of budget some rounds early; with eps="theory" it leaves a
good part of a small budget unspent, and is refused where that would be all of it.

Departures from the paper: eps = 0 unless asked for; the factor 2 and N + 1 in the bounds are quoted
from memory, and so is eps="theory", with constants of 1 where the paper leaves them open; arms that
stand at the same point share its probability; what is done without a horizon is ours.

Needs B and T, or c_min. One linear program a report, O(K) for each edge of a hull; O(K) a round.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.55, 0.75, 0.9], prices=[0.02, 0.1, 0.6], prompts=4000
... )
>>> learnt = purse.simulate("ucb-bwk:c_rad=0.1", world, budget=800, n_paths=10, seed=0)
>>> chance = purse.simulate("uniform", world, budget=800, n_paths=10, seed=0)
>>> bool(learnt.gain.mean() > 1.05 * chance.gain.mean())
True

Reference: S. Agrawal, N. R. Devanur. Bandits with concave rewards and convex knapsacks. EC 2014.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import kernel
from purse.errors import InvalidInput, invalid
from purse.kernels.concave_hull import best_mixture, draw_shares, show_shares
from purse.kernels.horizon import rounds_of
from purse.kernels.random import U
from purse.policies.primal_dual_bwk import c_rad_of
from purse.types import Floats, Ints, Problem

NAME = "ucb-bwk"


class UcbBwKParams(NamedTuple):
    c_rad: float
    pace: float
    skips: bool  # whether a round may pass without a pull


class UcbBwKState(NamedTuple):
    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    upper: Floats  # (P, K)
    lower: Floats  # (P, K)
    shares: Floats  # (P, K) the x that follow from the bounds


def params(
    problem: Problem, *, eps: float | str = 0.0, c_rad: float | str = "theory"
) -> UcbBwKParams:
    """Options: eps, a number in [0, 1) or "theory"; c_rad, "theory" or a positive number."""
    problem.require(NAME, plays=1, n_resources=1)
    rounds = rounds_of(problem, NAME)
    radius = c_rad_of(c_rad, problem, 1, NAME)
    return UcbBwKParams(
        radius,
        (1 - eps_of(eps, problem, radius, rounds)) * problem.b / rounds,
        problem.horizon is not None,
    )


def eps_of(eps: float | str, problem: Problem, c_rad: float, rounds: int) -> float:
    if isinstance(eps, str):
        if eps != "theory":
            raise invalid("eps", eps, "must be 'theory' or a number from 0 to below 1")
        share = c_rad * problem.n_arms / problem.b
        eps = math.sqrt(share) + share * math.log(rounds)
        if eps >= 1:
            raise InvalidInput(
                f"eps='theory' is {eps:.3g} here, which would leave the whole budget "
                "unspent; give a number below 1, or a larger budget"
            )
    elif validation.number("eps", eps, low=0, high=1) == 1:
        raise invalid("eps", eps, "must be 'theory' or a number from 0 to below 1")
    return float(eps)


def init(params: UcbBwKParams, problem: Problem, n_paths: int) -> UcbBwKState:
    shape = n_paths, problem.n_arms
    return UcbBwKState(
        np.zeros(shape),
        np.zeros(shape),
        np.zeros(shape),
        np.ones(shape),
        np.zeros(shape),
        np.full(shape, 1 / problem.n_arms),
    )


@kernel
def row(state: UcbBwKState, path: int) -> UcbBwKState:
    return UcbBwKState(
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.upper[path],
        state.lower[path],
        state.shares[path],
    )


@kernel
def choose(
    key: U,
    params: UcbBwKParams,
    state: UcbBwKState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    draw_shares(key, params.skips, state.shares, arms, probs)


@kernel
def update(
    key: U,
    params: UcbBwKParams,
    state: UcbBwKState,
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
    scale = params.c_rad / (state.pulls[i] + 1)
    reward = state.rewards[i] / state.pulls[i]
    cost = state.costs[i] / state.pulls[i]
    state.upper[i] = min(1.0, reward + 2 * (math.sqrt(scale * reward) + scale))
    state.lower[i] = max(0.0, cost - 2 * (math.sqrt(scale * cost) + scale))
    best_mixture(params.pace, state.lower, state.upper, state.shares)


@kernel
def probabilities(
    params: UcbBwKParams, state: UcbBwKState, t: int, left: Floats, out: Floats
) -> None:
    show_shares(params.skips, state.shares, out)
