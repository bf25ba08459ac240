r"""EXP3++.BwK: exponential weights on efficiency, with exploration that fades where the gaps are
clear.

The rule (Rangi, Franceschetti and Tran-Thanh, Algorithm 2), with costs c in [c_min, 1]. Each arm
once, in order; then

    gamma_t   = (c_min / 2) sqrt(ln K / (t K))
    p_t(i)    = exp(-gamma_t L_{t-1}(i)) / sum_j exp(-gamma_t L_{t-1}(j))
    eps_t(i)  = min{1/(2K), (1/2) sqrt(ln K / (t K)), beta ln t / (t gap_t(i)^2)}        gap_t: see
              `purse.kernels.confidence`
    p~_t(i)   = (1 - sum_j eps_t(j)) p_t(i) + eps_t(i)
    L_t(i)    = L_{t-1}(i) + 1{i = i_t} (1/c_min - r_t(i) / c_t(i)) / p~_t(i)

| symbol | code |
|---|---|
| L_t(i), less the smallest when the anchor was set | `state.losses[i]` |
| N, sum r, sum c of an arm | `state.pulls`, `state.rewards`, `state.costs` |
| eps_t(i) | `state.rates[i]`, from the round `params.quiet` on; before it, all are `cap` |
| p_t(i), not normalised | `state.weights[i]` |

Options: alpha=3; beta="theory" (256 / c_min^2) or a number; lam=None (c_min) or a number up to
c_min; width="printed" or "direct" (see `purse.kernels.confidence`); epsilon="lemma" (above),
"printed" (without the K under the root, which costs a factor sqrt K) or "cmin" (times c_min);
mixing="all" (above) or "printed" (the sum over j != i, normalised, because as printed the
probabilities sum to more than one).

Guarantee: over the player's own rounds the expected efficiency falls short of any fixed arm's by at
most 4 sqrt((B + c_min) K ln K / c_min^3) + (K + 1) / c_min (`bounds.proposition_a`). Theorem 4
(`bounds.theorem4`) claims that order for reward against the best fixed arm, which is false in
general (`two_worlds`), and Theorem 3 (`bounds.theorem3`) an order of log^2 B for i.i.d. worlds,
which is false for random costs (`misleading_ratio`); with the paper's beta the third term of eps
does not bind before some 10^9 rounds, so that what one sees is a transient plus growth like sqrt B.

Departures from the paper: where its versions of eps, of the sum and of the width contradict each
other we take the reading that its proofs need, and offer the others as options; arms that reports
are still missing for have the widest bounds; the initial pulls enter N, the means, and not L.

Needs c_min, not B. O(K) a round without a single exp for K arms: an anchor holds the weights of a
recent gamma, and since w_t(i) = anchor(i) exp((gamma_anchor - gamma_t) L(i)) has a small exponent,
a short series is exact to rounding; the losses are kept relative to the one that was the smallest
when the anchor was set. Only the pulled arm's anchor changes in a round. Reports that come so late
that no anchor is fresh cost K exps.

>>> import purse
>>> policy = purse.Policy("exp3++.bwk", n_arms=3, budget=100, cost_min=0.1, seed=0)
>>> for reward, cost in [(0.9, 0.3), (0.2, 0.3), (0.2, 0.3)]:
...     paid = policy.tell(policy.ask(), reward, cost)
>>> policy.probabilities().round(3)
array([0.333, 0.333, 0.333])

Reference: A. Rangi, M. Franceschetti, L. Tran-Thanh. Unifying the stochastic and the adversarial
bandits with knapsack, 2019.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import cold, kernel
from purse.kernels.confidence import GapBounds, gap_bounds, gap_rates, quiet_until
from purse.kernels.fastmath import exp, times_exp
from purse.kernels.random import U, uniform
from purse.kernels.weights import mixed_arm, mixed_probability, smallest, total
from purse.types import Floats, Ints, Problem

NAME = "exp3++.bwk"
INITIAL_PULLS = True
# state.memo: the anchor's gamma, the last round and how many more reports it is good for
GAMMA, LAST, REPORTS = range(3)


class Exp3PlusPlusBwKParams(NamedTuple):
    n_arms: int
    c_min: float
    log_ratio: float  # ln K / K
    spread: float  # eps_t is at most spread sqrt(ln K / (t K))
    printed_mixing: bool
    quiet: int  # the first round in which a gap could matter
    bounds: GapBounds


class Exp3PlusPlusBwKState(NamedTuple):
    losses: Floats  # (P, K)
    pulls: Floats  # (P, K)
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)
    anchor: Floats  # (P, K)
    memo: Floats  # (P, 3)
    weights: Floats  # (P, K) scratch
    rates: Floats  # (P, K) scratch


def params(
    problem: Problem,
    *,
    alpha: float = 3.0,
    beta: float | str = "theory",
    lam: float | None = None,
    epsilon: str = "lemma",
    mixing: str = "all",
    width: str = "printed",
) -> Exp3PlusPlusBwKParams:
    """Options: alpha, beta ("theory" or a number), lam, epsilon (lemma | printed | cmin), mixing
    (all | printed), width (printed | direct).
    """
    problem.require(NAME, plays=1, n_resources=1)
    n_arms, c_min = problem.n_arms, problem.c_min
    spreads = {"lemma": 0.5, "printed": 0.5 * math.sqrt(n_arms), "cmin": 0.5 * c_min}
    spread = spreads[validation.choice("epsilon", epsilon, tuple(spreads))]
    bounds = gap_bounds(c_min, alpha=alpha, beta=beta, lam=lam, width=width)
    printed = validation.choice("mixing", mixing, ("all", "printed")) == "printed"
    return Exp3PlusPlusBwKParams(
        n_arms,
        c_min,
        math.log(n_arms) / n_arms,
        spread,
        printed,
        quiet_until(n_arms, bounds, spread),
        bounds,
    )


def init(params: Exp3PlusPlusBwKParams, problem: Problem, n_paths: int) -> Exp3PlusPlusBwKState:
    def per_arm() -> Floats:
        return np.zeros((n_paths, params.n_arms))

    return Exp3PlusPlusBwKState(
        per_arm(),
        per_arm(),
        per_arm(),
        per_arm(),
        per_arm(),
        np.zeros((n_paths, 3)),
        per_arm(),
        per_arm(),
    )


@kernel
def row(state: Exp3PlusPlusBwKState, path: int) -> Exp3PlusPlusBwKState:
    return Exp3PlusPlusBwKState(
        state.losses[path],
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.anchor[path],
        state.memo[path],
        state.weights[path],
        state.rates[path],
    )


@kernel
def weigh(
    params: Exp3PlusPlusBwKParams, state: Exp3PlusPlusBwKState, t: int
) -> tuple[float, float, float]:
    """Writes weights and, from the quiet round on, rates; returns the cap, the sum of the rates and
    the sum of the weights.
    """
    root = math.sqrt(params.log_ratio / t)
    cap = min(0.5 / params.n_arms, params.spread * root)
    gamma = 0.5 * params.c_min * root
    if t <= state.memo[LAST]:
        fall = state.memo[GAMMA] - gamma
        for i in range(params.n_arms):
            state.weights[i] = times_exp(state.anchor[i], fall * state.losses[i])
    else:
        weigh_afresh(gamma, state.losses, state.weights)
    explore = cap * params.n_arms
    if t >= params.quiet:
        explore = gap_rates(
            params.bounds, t, cap, state.pulls, state.rewards, state.costs, state.rates
        )
    if params.printed_mixing:
        whole = mix_as_printed(cap, explore, t < params.quiet, state.rates, state.weights)
        cap /= whole
        explore /= whole
    return cap, explore, total(state.weights)


@cold
def weigh_afresh(gamma: float, losses: Floats, weights: Floats) -> None:
    """p_t(i), not normalised, where no anchor is fresh."""
    low = smallest(losses)
    for i in range(losses.shape[0]):
        weights[i] = exp(-gamma * (losses[i] - low))


@cold
def mix_as_printed(
    cap: float, explore: float, equal: bool, rates: Floats, weights: Floats
) -> float:
    """Weighs each arm by (1 - sum_{j != i} eps_j) p_i = (1 - explore + eps_i) p_i; returns what
    that and the rates sum to.
    """
    sum_weights = total(weights)
    for i in range(weights.shape[0]):
        weights[i] *= (1 - explore + (cap if equal else rates[i])) / sum_weights
    whole = explore + total(weights)
    for i in range(weights.shape[0]):
        rates[i] /= whole
    return whole


@kernel
def choose(
    key: U,
    params: Exp3PlusPlusBwKParams,
    state: Exp3PlusPlusBwKState,
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
    params: Exp3PlusPlusBwKParams,
    state: Exp3PlusPlusBwKState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    i = U(arms[0])
    state.pulls[i] += 1
    state.rewards[i] += rewards[0]
    state.costs[i] += costs[0, 0]
    if t <= params.n_arms:
        return
    state.losses[i] += (1 / params.c_min - rewards[0] * (1 / costs[0, 0])) * (1 / probs[0])
    if state.memo[REPORTS] > 0:
        state.memo[REPORTS] -= 1
        state.anchor[i] = exp(-state.memo[GAMMA] * state.losses[i])
    else:
        set_anchor(params, state, t + 1)


@cold
def set_anchor(params: Exp3PlusPlusBwKParams, state: Exp3PlusPlusBwKState, t: int) -> None:
    gamma = 0.5 * params.c_min * math.sqrt(params.log_ratio / t)
    low = smallest(state.losses)
    for i in range(params.n_arms):
        state.losses[i] -= low
        state.anchor[i] = exp(-gamma * state.losses[i])
    state.memo[GAMMA] = gamma
    state.memo[REPORTS] = min(t >> 6, 16384)
    state.memo[LAST] = t + state.memo[REPORTS]


@kernel
def probabilities(
    params: Exp3PlusPlusBwKParams, state: Exp3PlusPlusBwKState, t: int, left: Floats, out: Floats
) -> None:
    cap, explore, sum_weights = weigh(params, state, t)
    for i in range(params.n_arms):
        out[i] = mixed_probability(
            i, cap, explore, t < params.quiet, state.rates, state.weights, sum_weights
        )
