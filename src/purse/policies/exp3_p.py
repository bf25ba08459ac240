r"""EXP3.P: exponential weights on reward plus a bonus for what was seldom looked at, so that the
regret is small with high probability.

The rule (Bubeck and Cesa-Bianchi, 2012, after Auer et al., 2002), for T rounds, blind to costs:

    p_t(i) = (1 - gamma) exp(eta G_{t-1}(i)) / sum_j exp(eta G_{t-1}(j)) + gamma / K
    G_t(i) = G_{t-1}(i) + (1{i = i_t} x_t(i) + beta) / p_t(i)          for every arm; x = r

    beta  = sqrt(ln(K / delta) / (K T))
    eta   = 0.95 sqrt(ln K / (K T))
    gamma = 1.05 sqrt(K ln K / T), and 1 (play uniformly) where that is above 1/2
    T     = the horizon where there is one, else ceil(B / c_min)

EXP3.P.BwK runs the same kernels on another x.

| symbol | code |
|---|---|
| G_t(i) | `state.gains[i]` |
| p_t(i) | `state.chances[i]` |
| exp(eta G_t(i)), relative to some gain | `state.weights[i]` |
| x_t(i_t) | `gain` in `learn` |

Options: delta=0.05, the probability with which the guarantee may fail.

Guarantee: with probability 1 - delta the reward over T rounds falls short of any fixed arm's, in
the same rounds, by at most 5.15 sqrt(T K ln(K / delta)), whatever the rewards. Of a budget that
says something only where all costs are one constant.

Departures from the paper: it has rounds and no budget; here play goes on until the budget is gone.
When a report comes late, the pulled arm's estimate has the probability on its ticket, and the other
arms' bonus the probabilities of the moment. The constants are recalled; they add up to the bound: 2
+ 1.05 + 1.1 0.95 + 1/0.95 < 5.15.

Needs the horizon, or B and c_min; plays any number of resources. O(K) a round. The bonus moves
every arm in every round, but by little: since eta K / gamma = 0.95 / 1.05 a weight grows by exp(x)
with x <= 0.91 beta, for which a short series is exact to rounding. The pulled arm alone takes an
exp. Every `RENEW` reports all weights are computed afresh, before rounding adds up; so they are
with every report where beta is not small, and with one of a smaller probability than the rule gives
(`sao` has such).

>>> import purse
>>> policy = purse.Policy("exp3.p", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=1, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] > 0.5)
True

Reference: S. Bubeck, N. Cesa-Bianchi. Regret analysis of stochastic and nonstochastic multi-armed
bandit problems. Foundations and Trends in Machine Learning 5, 2012, section 3.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import cold, kernel
from purse.kernels.fastmath import exp, times_exp
from purse.kernels.horizon import rounds_of
from purse.kernels.random import U, uniform
from purse.kernels.weights import largest, pick, total
from purse.types import Floats, Ints, Problem

NAME = "exp3.p"
SMALL = 0.01  # beta: the first term that `times_exp` leaves out is below 1e-18
RENEW = 256  # reports; until then weights grow by at most exp((1 + beta) RENEW), far from overflow


class Exp3PParams(NamedTuple):
    n_arms: int
    c_min: float  # x = c_min r / c where costs are looked at
    eta: float
    gamma: float
    beta: float


class Exp3PState(NamedTuple):
    gains: Floats  # (P, K)
    chances: Floats  # (P, K) the p that follow from the gains
    weights: Floats  # (P, K) likewise
    age: Ints  # (P, 1) reports since all weights were computed


def params(problem: Problem, *, delta: float = 0.05) -> Exp3PParams:
    """Options: delta, the probability with which the guarantee may fail."""
    problem.require(NAME, plays=1)
    return tuned(problem.n_arms, 1.0, rounds_of(problem, NAME), delta)


def tuned(n_arms: int, c_min: float, rounds: int, delta: float) -> Exp3PParams:
    delta = validation.number("delta", delta, above=0, high=1)
    log_arms = math.log(n_arms)
    gamma = 1.05 * math.sqrt(n_arms * log_arms / rounds)
    beta = math.sqrt((log_arms - math.log(delta)) / (n_arms * rounds))
    return Exp3PParams(
        n_arms,
        c_min,
        0.95 * math.sqrt(log_arms / (n_arms * rounds)),
        gamma if gamma <= 0.5 else 1.0,
        beta,
    )


def init(params: Exp3PParams, problem: Problem, n_paths: int) -> Exp3PState:
    shape = n_paths, params.n_arms
    return Exp3PState(
        np.zeros(shape),
        np.full(shape, 1 / params.n_arms),
        np.ones(shape),
        np.zeros((n_paths, 1), np.int64),
    )


@kernel
def row(state: Exp3PState, path: int) -> Exp3PState:
    return Exp3PState(state.gains[path], state.chances[path], state.weights[path], state.age[path])


@kernel
def choose(
    key: U, params: Exp3PParams, state: Exp3PState, t: int, left: Floats, arms: Ints, probs: Floats
) -> None:
    arms[0] = pick(uniform(key, 0), state.chances)
    probs[0] = state.chances[arms[0]]


@kernel
def update(
    key: U,
    params: Exp3PParams,
    state: Exp3PState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    learn(params, state, arms[0], probs[0], rewards[0])


@kernel
def learn(params: Exp3PParams, state: Exp3PState, arm: int, prob: float, gain: float) -> None:
    """Adds a gain in [0, 1] and the bonuses, and renews the chances."""
    state.chances[arm] = prob
    for i in range(params.n_arms):
        bonus = params.beta / state.chances[i]
        state.gains[i] += bonus
        state.weights[i] = times_exp(state.weights[i], params.eta * bonus)
    state.gains[arm] += gain / prob
    state.weights[arm] *= exp(params.eta * (gain / prob))
    state.age[0] += 1
    if state.age[0] >= RENEW or params.beta > SMALL or prob < params.eta or params.gamma == 1:
        weigh_afresh(params, state)
    scale = (1 - params.gamma) / total(state.weights)
    for i in range(params.n_arms):
        state.chances[i] = scale * state.weights[i] + params.gamma / params.n_arms


@cold
def weigh_afresh(params: Exp3PParams, state: Exp3PState) -> None:
    """Computes all weights from the gains, the largest of them 1."""
    state.age[0] = 0
    top = largest(state.gains)
    for i in range(params.n_arms):
        state.weights[i] = exp(params.eta * (state.gains[i] - top))


@kernel
def probabilities(
    params: Exp3PParams, state: Exp3PState, t: int, left: Floats, out: Floats
) -> None:
    for i in range(params.n_arms):
        out[i] = state.chances[i]
