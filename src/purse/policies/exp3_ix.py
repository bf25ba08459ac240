r"""EXP3-IX: exponential weights on losses that are estimated a little too low, which is all the
exploration it needs.

The rule (Neu, 2015), for T rounds, blind to costs, with losses 1 - x:

    p_t(i) = exp(-eta L_{t-1}(i)) / sum_j exp(-eta L_{t-1}(j))
    L_t(i) = L_{t-1}(i) + 1{i = i_t} (1 - x_t(i)) / (p_t(i) + eta / 2)          x = r

    eta  "rounds":  sqrt(2 ln K / (K T)), T the horizon where there is one, else ceil(B / c_min)
         (the default) "anytime": sqrt(ln K / (K t)), which needs no T or a number from 0 up

EXP3-IX.BwK runs the same kernels on another x.

| symbol | code |
|---|---|
| L_t(i) | `state.losses[i]` |
| exp(-eta L_t(i)), shifted | leaves of `state.tree`, relative to the loss `state.low[0]` |
| eta | `rate(params, t)` |
| 1 - x_t(i_t) | `loss` in `learn` |

Options: eta="rounds", "anytime" or a number, as above.

Guarantee: with probability 1 - delta, for every delta, the reward over T rounds falls short of any
fixed arm's, in the same rounds, by at most 2 sqrt(2 K T ln K) + (sqrt(2 K T / ln K) + 1) ln(2 /
delta); anytime: 4 sqrt(K T ln K) + (2 sqrt(K T / ln K) + 1) ln(2 / delta). Whatever the rewards. Of
a budget that says something only where all costs are one constant.

Departures from the paper: it has rounds and no budget; here play goes on until the budget is gone.
The bounds are recalled.

Needs the horizon, or B and c_min, unless eta says otherwise; plays any number of resources. O(log
K) a round: only the pulled arm's weight changes, so the weights live in a sum tree. Anytime O(K)
with K exps.

>>> import purse
>>> policy = purse.Policy("exp3-ix", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=0, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] < 0.5)
True

Reference: G. Neu. Explore no more: improved high-probability regret bounds for non-stochastic
bandits. NIPS 2015.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import cold, kernel
from purse.errors import invalid
from purse.kernels import sumtree
from purse.kernels.fastmath import exp
from purse.kernels.horizon import rounds_of
from purse.kernels.random import U, uniform
from purse.kernels.weights import smallest
from purse.types import Floats, Ints, Problem

NAME = "exp3-ix"
LEAST = 1e-100  # a sum of weights this small moves the loss that they are relative to


class Exp3IxParams(NamedTuple):
    n_arms: int
    leaf: int
    c_min: float  # x = c_min r / c where costs are looked at
    eta: float  # in round 1
    anytime: bool  # whether it falls like 1 / sqrt(t)


class Exp3IxState(NamedTuple):
    losses: Floats  # (P, K)
    tree: Floats  # (P, 2 leaf); scratch where anytime
    low: Floats  # (P, 1) likewise


def params(problem: Problem, *, eta: float | str = "rounds") -> Exp3IxParams:
    """Options: eta, "rounds", "anytime" or a number from 0 up."""
    problem.require(NAME, plays=1)
    return tuned(problem.n_arms, 1.0, rounds_of(problem, NAME) if eta == "rounds" else 0, eta)


def tuned(n_arms: int, c_min: float, rounds: int, eta: float | str) -> Exp3IxParams:
    anytime = eta == "anytime"
    if isinstance(eta, str):
        if eta not in ("rounds", "anytime"):
            raise invalid("eta", eta, "must be 'rounds', 'anytime' or a number from 0 up")
        eta = math.sqrt(
            math.log(n_arms) / n_arms if anytime else 2 * math.log(n_arms) / (n_arms * rounds)
        )
    return Exp3IxParams(
        n_arms, sumtree.first_leaf(n_arms), c_min, validation.number("eta", eta, low=0), anytime
    )


def init(params: Exp3IxParams, problem: Problem, n_paths: int) -> Exp3IxState:
    return Exp3IxState(
        np.zeros((n_paths, params.n_arms)),
        sumtree.ones(n_paths, params.n_arms),
        np.zeros((n_paths, 1)),
    )


@kernel
def row(state: Exp3IxState, path: int) -> Exp3IxState:
    return Exp3IxState(state.losses[path], state.tree[path], state.low[path])


@kernel
def rate(params: Exp3IxParams, t: int) -> float:
    return params.eta / math.sqrt(t) if params.anytime else params.eta


@cold
def weigh(params: Exp3IxParams, state: Exp3IxState, eta: float) -> None:
    """Computes all weights afresh, the largest of them 1."""
    low = smallest(state.losses)
    state.low[0] = low
    for i in range(params.n_arms):
        state.tree[params.leaf + i] = exp(-eta * (state.losses[i] - low))
    sumtree.rebuild(state.tree, params.leaf)


@kernel
def choose(
    key: U,
    params: Exp3IxParams,
    state: Exp3IxState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    if params.anytime:
        weigh(params, state, rate(params, t))
    arms[0] = min(
        sumtree.find(state.tree, params.leaf, uniform(key, 0) * state.tree[1]), params.n_arms - 1
    )
    probs[0] = state.tree[params.leaf + arms[0]] / state.tree[1]


@kernel
def update(
    key: U,
    params: Exp3IxParams,
    state: Exp3IxState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    learn(params, state, t, arms[0], probs[0], 1 - rewards[0])


@kernel
def learn(
    params: Exp3IxParams, state: Exp3IxState, t: int, arm: int, prob: float, loss: float
) -> None:
    """Adds a loss in [0, 1]."""
    if loss == 0.0:
        return
    state.losses[arm] += loss / (prob + 0.5 * rate(params, t))
    if not params.anytime:
        sumtree.put(
            state.tree, params.leaf, arm, exp(-params.eta * (state.losses[arm] - state.low[0]))
        )
        if state.tree[1] < LEAST:
            weigh(params, state, params.eta)


@kernel
def probabilities(
    params: Exp3IxParams, state: Exp3IxState, t: int, left: Floats, out: Floats
) -> None:
    if params.anytime:
        weigh(params, state, rate(params, t))
    for i in range(params.n_arms):
        out[i] = state.tree[params.leaf + i] / state.tree[1]
