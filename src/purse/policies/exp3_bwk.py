r"""EXP3.BwK: exponential weights on efficiency, for costs and rewards that an adversary may choose.

The rule (Rangi, Franceschetti and Tran-Thanh, Algorithm 1), with costs c in [c_min, 1]:

    p_t(i)     = (1 - gamma) w_t(i) / sum_j w_t(j) + gamma / K
    e^_t(i)    = 1{i = i_t} r_t(i) / (p_t(i) c_t(i))
    w_{t+1}(i) = w_t(i) exp(gamma c_min e^_t(i) / K)

    gamma  "theorem": min(1, sqrt(c_min K ln K / ((e - 1) B)))                  (Theorem 1; the
           default) "proof":   min(1, sqrt(c_min K ln K / ((e - 1) B + (e - 2) K)))      (its proof)
           or a number in [0, 1]

Guarantee: for every arm j, summed up to the round sigma in which the game ends,
E sum e_t(j) - E sum e_t(i_t) <= K ln K / (c_min gamma) + (e - 1) gamma (B + c_min) / c_min^2
(`bounds.proposition_a`). This is a statement about efficiencies over the player's own rounds.
Theorem 1 (`bounds.theorem1`) claims the same order for reward against the best fixed arm; that is
false in general (the `two_worlds` environment is a counterexample) and true if all costs are one
constant, or if rewards are i.i.d. and each arm's cost is a constant (`bounds.proposition_c`).

Departures from the paper: gamma is capped at 1, and is 0 for a single arm; a pull that cannot be
paid is not learnt from.

Needs B (for gamma) and c_min. O(log K) a round: only the pulled arm's weight changes, so the
weights live in a sum tree.

>>> import purse
>>> policy = purse.Policy("exp3.bwk", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> policy.probabilities()
array([0.5, 0.5])
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=1, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] > 0.5)
True

Reference: A. Rangi, M. Franceschetti, L. Tran-Thanh. Unifying the stochastic and the adversarial
bandits with knapsack, 2019.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.errors import invalid
from purse.kernels import U, cold, exp, kernel, number, restrict, sumtree, take_any, uniform
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, RESOURCES, SOURCE = "exp3.bwk", 1, 1, "Rangi et al., 2019, Algorithm 1"
HIGHEST = 300.0  # a log-weight this far above the shift moves the shift


class Exp3BwKParams(NamedTuple):
    n_arms: int
    leaf: int
    gamma: float
    rate: float  # gamma c_min / K


class Exp3BwKState(NamedTuple):
    log_weights: Floats  # (K,) ln w
    tree: Floats  # (2 leaf,) w, relative to exp(shift)
    shift: Floats  # (1,)


def params(problem: Problem, *, gamma: float | str = "theorem") -> Exp3BwKParams:
    n_arms = problem.n_arms
    gamma = gamma_of(gamma, n_arms, problem.b, problem.c_min)
    return Exp3BwKParams(n_arms, sumtree.first_leaf(n_arms), gamma, gamma * problem.c_min / n_arms)


def gamma_of(gamma: float | str, n_arms: int, b: float, c_min: float) -> float:
    if isinstance(gamma, str):
        extra = {"theorem": 0.0, "proof": math.e - 2}
        if gamma not in extra:
            raise invalid("gamma", gamma, "must be 'theorem', 'proof' or a number from 0 to 1")
        spread = (math.e - 1) * b + extra[gamma] * n_arms
        gamma = min(1.0, math.sqrt(c_min * n_arms * math.log(n_arms) / spread))
    return number("gamma", gamma, low=0, high=1)


def init(params: Exp3BwKParams, problem: Problem) -> Exp3BwKState:
    return Exp3BwKState(np.zeros(params.n_arms), sumtree.ones(params.n_arms), np.zeros(1))


@kernel
def probability(params: Exp3BwKParams, state: Exp3BwKState, arm: int) -> float:
    share = state.tree[U(params.leaf + arm)] / state.tree[1]
    return (1 - params.gamma) * share + params.gamma / params.n_arms


@kernel
def choose(params: Exp3BwKParams, state: Exp3BwKState, scratch: Any, now: Now, play: Play) -> None:
    if now.masked:
        choose_allowed(params, state, now, play)
        return
    u = uniform(now.key, 0)
    if u < params.gamma:
        arm = int(u * (params.n_arms / params.gamma))
    else:
        mass = (u - params.gamma) * (1 / (1 - params.gamma)) * state.tree[1]
        arm = sumtree.find(state.tree, params.leaf, mass)
    play.arms[0] = min(arm, params.n_arms - 1)
    play.probs[0] = probability(params, state, play.arms[0])


@cold
def choose_allowed(params: Exp3BwKParams, state: Exp3BwKState, now: Now, play: Play) -> None:
    """Draw among the allowed arms; without room for all probabilities, which a GPU would miss."""
    whole = 0.0
    for i in range(params.n_arms):
        whole += probability(params, state, i) if now.allowed[i] else 0.0
    if whole == 0.0:
        take_any(now, play)
        return
    mass = uniform(now.key, 0) * whole
    for i in range(params.n_arms):
        if now.allowed[i]:
            play.arms[0] = i
            play.probs[0] = probability(params, state, i) / whole
            mass -= probability(params, state, i)
            if mass < 0:
                return


@kernel
def update(params: Exp3BwKParams, state: Exp3BwKState, scratch: Any, now: Now, play: Play) -> None:
    learn(params, state, play.arms[0], play.probs[0], play.rewards[0], play.costs[0, 0])


@kernel
def learn(
    params: Exp3BwKParams, state: Exp3BwKState, arm: int, prob: float, reward: float, cost: float
) -> None:
    """Add a report to the weights."""
    if reward == 0.0:
        return
    i = U(arm)
    state.log_weights[i] += params.rate * reward / (prob * cost)
    x = state.log_weights[i] - state.shift[0]
    if x < HIGHEST:
        sumtree.put(state.tree, params.leaf, arm, exp(x))
    else:
        move_shift(params, state)


@cold
def move_shift(params: Exp3BwKParams, state: Exp3BwKState) -> None:
    top = state.log_weights[0]
    for i in range(1, params.n_arms):
        top = max(top, state.log_weights[i])
    state.shift[0] = top
    for i in range(params.n_arms):
        state.tree[params.leaf + i] = exp(state.log_weights[i] - top)
    sumtree.rebuild(state.tree, params.leaf)


@kernel
def probabilities(
    params: Exp3BwKParams, state: Exp3BwKState, scratch: Any, now: Now, out: Floats
) -> None:
    for i in range(params.n_arms):
        out[i] = probability(params, state, i)
    if now.masked:
        restrict(now, out)
