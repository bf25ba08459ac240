r"""EXP3++.BwK: exponential weights on efficiency, with exploration that fades where the gaps are
clear.

The rule (Rangi, Franceschetti and Tran-Thanh, Algorithm 2), with costs c in [c_min, 1]. Each arm
once, in order; then

    gamma_t   = (c_min / 2) sqrt(ln K / (t K))
    p_t(i)    = exp(-gamma_t L_{t-1}(i)) / sum_j exp(-gamma_t L_{t-1}(j))
    eps_t(i)  = min{1/(2K), (1/2) sqrt(ln K / (t K)), beta ln t / (t gap_t(i)^2)}
    p~_t(i)   = (1 - sum_j eps_t(j)) p_t(i) + eps_t(i)
    L_t(i)    = L_{t-1}(i) + 1{i = i_t} (1/c_min - r_t(i) / c_t(i)) / p~_t(i)

with gap_t as in `purse.kernels.confidence`.

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

Departures from the paper: as its versions of eps, of the sum and of the width contradict each other
we take the reading that its proofs need, and offer the others as options. Reports on the first K
rounds, the initial pulls, enter N and the means, and not L; under a mask one may come later, and
enters L, too.

Needs c_min, not B. O(K) a round with one exp.

>>> import purse
>>> policy = purse.Policy("exp3++.bwk", n_arms=3, budget=100, cost_min=0.1, seed=0)
>>> for reward, cost in [(0.9, 0.3), (0.2, 0.3), (0.2, 0.3)]:
...     paid = policy.tell(policy.ask(), reward, cost)
>>> policy.probabilities().round(3)
array([0.333, 0.333, 0.333])

Reference: A. Rangi, M. Franceschetti, L. Tran-Thanh. Unifying the stochastic and the adversarial
bandits with knapsack, 2019.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import U, choice, cold, exp, kernel, times_exp
from purse.kernels.confidence import GapBounds, gap_bounds, gap_rates, quiet_until
from purse.kernels.weights import Mixture, mixed_rule, smallest, total
from purse.types import Floats, Now, Play, Problem

NAME, INITIAL_PULLS, PLAYS, RESOURCES = "exp3++.bwk", True, 1, 1
SOURCE = "Rangi et al., 2019, Algorithm 2"
# state.memo: the anchor's gamma, the last round and how many more reports it is good for
GAMMA, LAST, REPORTS = range(3)


class Exp3PPBwKParams(NamedTuple):
    n_arms: int
    c_min: float
    log_ratio: float  # ln K / K
    spread: float  # eps_t is at most spread sqrt(ln K / (t K))
    printed_mixing: bool
    quiet: int  # the first round in which a gap could matter
    bounds: GapBounds


class Exp3PPBwKState(NamedTuple):
    losses: Floats  # (K,) L, less the smallest when the anchor was set
    pulls: Floats  # (K,) N
    rewards: Floats  # (K,)
    costs: Floats  # (K,)
    anchor: Floats  # (K,) exp(-gamma L) for a recent gamma
    memo: Floats  # (3,)


class Exp3PPBwKScratch(NamedTuple):
    weights: Floats  # (K,) p, not normalised
    rates: Floats  # (K,) eps, from the round `quiet` on


def params(
    problem: Problem,
    *,
    alpha: float = 3.0,
    beta: float | str = "theory",
    lam: float | None = None,
    epsilon: str = "lemma",
    mixing: str = "all",
    width: str = "printed",
) -> Exp3PPBwKParams:
    n_arms, c_min = problem.n_arms, problem.c_min
    spreads = {"lemma": 0.5, "printed": 0.5 * math.sqrt(n_arms), "cmin": 0.5 * c_min}
    spread = spreads[choice("epsilon", epsilon, tuple(spreads))]
    bounds = gap_bounds(c_min, alpha=alpha, beta=beta, lam=lam, width=width)
    printed = choice("mixing", mixing, ("all", "printed")) == "printed"
    quiet = quiet_until(n_arms, bounds, spread)
    log_ratio = math.log(n_arms) / n_arms
    return Exp3PPBwKParams(n_arms, c_min, log_ratio, spread, printed, quiet, bounds)


def init(params: Exp3PPBwKParams, problem: Problem) -> Exp3PPBwKState:
    losses, pulls, rewards, costs, anchor = (np.zeros(params.n_arms) for _ in range(5))
    return Exp3PPBwKState(losses, pulls, rewards, costs, anchor, np.zeros(3))


def scratch(params: Exp3PPBwKParams, problem: Problem) -> Exp3PPBwKScratch:
    return Exp3PPBwKScratch(np.zeros(params.n_arms), np.zeros(params.n_arms))


@kernel
def weigh(
    params: Exp3PPBwKParams, state: Exp3PPBwKState, scratch: Exp3PPBwKScratch, t: int
) -> Mixture:
    """Write weights and, from the quiet round on, rates."""
    root = math.sqrt(params.log_ratio / t)
    cap = min(0.5 / params.n_arms, params.spread * root)
    gamma = 0.5 * params.c_min * root
    if t <= state.memo[LAST]:
        fall = state.memo[GAMMA] - gamma  # so small that a series is exact to rounding
        for i in range(params.n_arms):
            scratch.weights[i] = times_exp(state.anchor[i], fall * state.losses[i])
    else:
        weigh_afresh(gamma, state.losses, scratch.weights)
    explore = cap * params.n_arms
    if t >= params.quiet:
        explore = gap_rates(
            params.bounds, t, cap, state.pulls, state.rewards, state.costs, scratch.rates
        )
    if params.printed_mixing:
        whole = mix_as_printed(cap, explore, t < params.quiet, scratch.rates, scratch.weights)
        cap /= whole
        explore /= whole
    return Mixture(cap, explore, t < params.quiet, total(scratch.weights))


@cold
def weigh_afresh(gamma: float, losses: Floats, weights: Floats) -> None:
    """Write p_t(i), not normalised, if no anchor is fresh."""
    low = smallest(losses)
    for i in range(losses.shape[0]):
        weights[i] = exp(-gamma * (losses[i] - low))


@cold
def mix_as_printed(
    cap: float, explore: float, equal: bool, rates: Floats, weights: Floats
) -> float:
    """Weigh each arm by (1 - sum_{j != i} eps_j) p_i = (1 - explore + eps_i) p_i; return what that
    and the rates sum to.
    """
    sum_weights = total(weights)
    for i in range(weights.shape[0]):
        weights[i] *= (1 - explore + (cap if equal else rates[i])) / sum_weights
    whole = explore + total(weights)
    if not equal:
        for i in range(weights.shape[0]):
            rates[i] /= whole
    return whole


@kernel
def update(
    params: Exp3PPBwKParams, state: Exp3PPBwKState, scratch: Exp3PPBwKScratch, now: Now, play: Play
) -> None:
    arm, prob, reward, cost = play.arms[0], play.probs[0], play.rewards[0], play.costs[0, 0]
    learn(params, state, now.t, arm, prob, reward, cost)


@kernel
def learn(
    params: Exp3PPBwKParams,
    state: Exp3PPBwKState,
    t: int,
    arm: int,
    prob: float,
    reward: float,
    cost: float,
) -> None:
    """Add a report to the sums and, after the initial pulls, to the losses."""
    i = U(arm)
    state.pulls[i] += 1
    state.rewards[i] += reward
    state.costs[i] += cost
    if t <= params.n_arms:
        return
    state.losses[i] += (1 / params.c_min - reward * (1 / cost)) * (1 / prob)
    if state.memo[REPORTS] > 0:
        state.memo[REPORTS] -= 1
        state.anchor[i] = exp(-state.memo[GAMMA] * state.losses[i])
    else:
        set_anchor(params, state, t + 1)


@cold
def set_anchor(params: Exp3PPBwKParams, state: Exp3PPBwKState, t: int) -> None:
    gamma = 0.5 * params.c_min * math.sqrt(params.log_ratio / t)
    low = smallest(state.losses)
    for i in range(params.n_arms):
        state.losses[i] -= low
        state.anchor[i] = exp(-gamma * state.losses[i])
    state.memo[GAMMA] = gamma
    state.memo[REPORTS] = min(t >> 6, 16384)
    state.memo[LAST] = t + state.memo[REPORTS]


choose, probabilities = mixed_rule(weigh)
