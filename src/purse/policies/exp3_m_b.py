r"""EXP3.M.B: exponential weights on reward less cost, for several plays a round, chosen by an
adversary.

The rule (Zhou and Tomlin, 2018), with K arms, m plays a round and costs in [c_min, 1]. In every
round, with

    cap    = (1/m - gamma/K) / (1 - gamma)        the largest share of the weights that an arm can
           use
    w'(i)  = min(w_t(i), v)                       v such that v = cap sum_j w'(j), where some share
           exceeds the cap; else w' = w_t
    p_t(i) = m ((1 - gamma) w'(i) / sum_j w'(j) + gamma / K)

m distinct arms are drawn, arm i with probability p_t(i) (`purse.kernels.dependent_rounding`); those
at the cap come for sure. Then

    w_{t+1}(i) = w_t(i) exp((m gamma / K) (r_t(i) - c_t(i)) / p_t(i))        for the arms that were
    drawn and are not at the cap

    gamma = min(1, sqrt(K ln(K/m) / ((e - 1) g))),    g = B (1 - c_min) / c_min        or a number
    in [0, 1]

where g is the most that reward less cost can sum to before B is spent.

| symbol | code |
|---|---|
| ln w_t(i) | `state.log_weights[i]` |
| w_t(i), relative to exp(`state.shift[0]`) | `state.weights[i]` |
| w_t(i), relative to that or to the largest that is not at the cap | `state.relative[i]` |
| p_t(i) | `state.marginals[i]` |
| m gamma / K | `params.rate` |

`state.relative` is relative to the largest weight that is not at the cap where that is far below.

Options: gamma=None (the one above) or a number in [0, 1]. Where c_min = 1, g is 0 and gamma 1,
which never learns: give a number.

Guarantee: expected regret O(sqrt(K B ln(K/m))) against the best fixed set of m arms where every
reward is at least its cost, whatever the rewards and costs are else; no algorithm is better than
Omega((1 - m/K)^2 sqrt(K B / m)). Where rewards may be below costs nothing is promised: what is
learnt is which arms have the largest reward less cost, and these need not be the most efficient.

Departures from the paper: gamma is reconstructed, and the paper's may differ in a term under the
root; it is 0, and all arms come for sure, where m = K. A report that comes late finds the cap of
the round in which its arm was drawn: p = 1 on the ticket says that it was at the cap.

Needs B and c_min (for gamma). O(m K) a round, with m exps: only the weights of the arms that were
drawn change. A sum tree would spare nothing, since the rounding that draws m arms looks at every
arm.

>>> import purse
>>> policy = purse.Policy("exp3.m.b", n_arms=4, plays=2, budget=100, cost_min=0.5, seed=1)
>>> policy.probabilities()
array([0.5, 0.5, 0.5, 0.5])
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=[1, 1], cost=[0.5, 0.5])
True
>>> bool(policy.probabilities()[list(ticket.arms)].min() > 0.5)
True

Reference: D. P. Zhou, C. J. Tomlin. Budget-constrained multi-armed bandits with multiple plays.
AAAI 2018.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import cold, kernel
from purse.kernels.dependent_rounding import dependent_round
from purse.kernels.fastmath import exp
from purse.kernels.random import U
from purse.kernels.weights import largest, total
from purse.types import Floats, Ints, Problem

NAME = "exp3.m.b"
FAR = 300.0  # a log-weight this far from the shift moves the shift
# where all weights below the cap are smaller they lose digits, and are taken anew relative to the
# largest of their own
TINY = 1e-150


class Exp3MBParams(NamedTuple):
    n_arms: int
    plays: int
    gamma: float
    cap: float
    rate: float  # m gamma / K


class Exp3MBState(NamedTuple):
    log_weights: Floats  # (P, K)
    weights: Floats  # (P, K)
    shift: Floats  # (P, 1)
    relative: Floats  # (P, K) scratch
    marginals: Floats  # (P, K) scratch


def params(problem: Problem, *, gamma: float | None = None) -> Exp3MBParams:
    """Options: gamma, a number in [0, 1]; from B, c_min, K and m unless given."""
    problem.require(NAME, n_resources=1)
    n_arms, plays = problem.n_arms, problem.plays
    gamma = (
        default_gamma(n_arms, plays, problem.b, problem.c_min)
        if gamma is None
        else validation.number("gamma", gamma, low=0, high=1)
    )
    cap = (1 / plays - gamma / n_arms) / (1 - gamma) if gamma < 1 else math.inf
    return Exp3MBParams(n_arms, plays, gamma, cap, plays * gamma / n_arms)


def default_gamma(n_arms: int, plays: int, b: float, c_min: float) -> float:
    if plays == n_arms:
        return 0.0
    most = b * (1 - c_min) / c_min
    return (
        min(1.0, math.sqrt(n_arms * math.log(n_arms / plays) / ((math.e - 1) * most)))
        if most > 0
        else 1.0
    )


def init(params: Exp3MBParams, problem: Problem, n_paths: int) -> Exp3MBState:
    shape = n_paths, params.n_arms
    return Exp3MBState(
        np.zeros(shape), np.ones(shape), np.zeros((n_paths, 1)), np.zeros(shape), np.zeros(shape)
    )


@kernel
def row(state: Exp3MBState, path: int) -> Exp3MBState:
    return Exp3MBState(
        state.log_weights[path],
        state.weights[path],
        state.shift[path],
        state.relative[path],
        state.marginals[path],
    )


@kernel
def weigh(params: Exp3MBParams, state: Exp3MBState) -> None:
    """Write the marginals."""
    for i in range(params.n_arms):
        state.relative[i] = state.weights[i]
        state.marginals[i] = 1.0 if params.plays == params.n_arms else 0.0
    if params.plays == params.n_arms:
        return
    room, rest = cap_heaviest(params, state) if params.plays > 1 else (1.0, total(state.weights))
    scale = params.plays * (1 - params.gamma) * room / rest
    for i in range(params.n_arms):
        state.marginals[i] = (
            1.0 if state.marginals[i] == 1.0 else min(1.0, scale * state.relative[i] + params.rate)
        )


@kernel
def cap_heaviest(params: Exp3MBParams, state: Exp3MBState) -> tuple[float, float]:
    """Write marginals of 1 for the arms at the cap; returns the share of the others and the sum of
    their weights.

    Arms reach the cap from the heaviest on, and at most m - 1 can: the last play is never sure.
    """
    room = 1.0
    rest = 0.0
    for capped in range(params.plays):
        heaviest, rest = below_cap(state)
        if state.relative[heaviest] < TINY:
            rest = rescale(state, heaviest)
        if capped == params.plays - 1 or state.relative[heaviest] * room < params.cap * rest:
            break
        state.marginals[heaviest] = 1.0
        room -= params.cap
    return room, rest


@kernel
def below_cap(state: Exp3MBState) -> tuple[int, float]:
    """The heaviest arm below the cap, and the sum of the weights of all of them."""
    heaviest = -1
    rest = 0.0
    for i in range(state.relative.shape[0]):
        if state.marginals[i] == 0.0:
            rest += state.relative[i]
            if heaviest < 0 or state.log_weights[i] > state.log_weights[heaviest]:
                heaviest = i
    return heaviest, rest


@cold
def rescale(state: Exp3MBState, heaviest: int) -> float:
    """Take the weights relative to this arm's; returns the sum of those below the cap."""
    rest = 0.0
    for i in range(state.relative.shape[0]):
        if state.marginals[i] == 0.0:
            state.relative[i] = exp(state.log_weights[i] - state.log_weights[heaviest])
            rest += state.relative[i]
    return rest


@kernel
def choose(
    key: U,
    params: Exp3MBParams,
    state: Exp3MBState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    weigh(params, state)
    dependent_round(key, state.marginals, arms)
    for k in range(params.plays):
        probs[k] = state.marginals[arms[k]]


@kernel
def update(
    key: U,
    params: Exp3MBParams,
    state: Exp3MBState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    for k in range(params.plays):
        i = arms[k]
        if probs[k] < 1.0:
            state.log_weights[i] += params.rate * (rewards[k] - costs[k, 0]) / probs[k]
            above = state.log_weights[i] - state.shift[0]
            state.weights[i] = exp(above)
            if abs(above) > FAR:
                move_shift(state)


@cold
def move_shift(state: Exp3MBState) -> None:
    """Take all weights relative to the largest."""
    state.shift[0] = largest(state.log_weights)
    for i in range(state.weights.shape[0]):
        state.weights[i] = exp(state.log_weights[i] - state.shift[0])


@kernel
def probabilities(
    params: Exp3MBParams, state: Exp3MBState, t: int, left: Floats, out: Floats
) -> None:
    weigh(params, state)
    for i in range(params.n_arms):
        out[i] = state.marginals[i]
