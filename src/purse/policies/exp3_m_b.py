r"""EXP3.M.B: exponential weights on reward less cost, for several plays a round, chosen by an
adversary.

The rule (Zhou and Tomlin, 2018), with K arms, m plays a round and costs in [c_min, 1]. In every
round, with

    cap    = (1/m - gamma/K) / (1 - gamma)    the largest share of the weights that an arm can use
    w'(i)  = min(w_t(i), v)                   v such that v = cap sum_j w'(j), where some share
                                              exceeds the cap; else w' = w_t
    p_t(i) = m ((1 - gamma) w'(i) / sum_j w'(j) + gamma / K)

m distinct arms are drawn, arm i with probability p_t(i) (`purse.kernels.dependent_rounding`); those
at the cap come for sure. Then

    w_{t+1}(i) = w_t(i) exp((m gamma / K) (r_t(i) - c_t(i)) / p_t(i))

for the arms that were drawn and are not at the cap, with

    gamma = min(1, sqrt(K ln(K/m) / ((e - 1) g))),    g = B (1 - c_min) / c_min

or a number in [0, 1]; g is the most that reward less cost can sum to before B is spent.

Options: gamma=None (the one above) or a number in [0, 1]. If c_min = 1, g is 0 and gamma 1,
which never learns: give a number.

Guarantee: expected regret O(sqrt(K B ln(K/m))) against the best fixed set of m arms if every
reward is at least its cost, whatever the rewards and costs are else; no algorithm is better than
Omega((1 - m/K)^2 sqrt(K B / m)). If rewards may be below costs nothing is promised: what is
learnt is which arms have the largest reward less cost, and these may not be the most efficient.

Departures from the paper: gamma is reconstructed, and the paper's may differ in a term under the
root; it is 0, and all arms come for sure, if m = K. Under a mask the rule runs on the allowed arms
alone, K of them, with min(m, K) plays; if all of them come for sure, it learns nothing.

Needs B and c_min (for gamma). O(m K) a round, with m exps.

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

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import cold, exp, kernel, largest, number, total
from purse.kernels.dependent_rounding import dependent_round
from purse.types import SKIP, Floats, Now, Play, Problem

NAME, RESOURCES, SOURCE = "exp3.m.b", 1, "from memory: gamma"
FAR = 300.0  # a log-weight this far from the shift moves the shift
# if all weights below the cap are smaller they lose digits, and are taken again relative to the
# largest of their own
TINY = 1e-150
OPEN, SURE, MASKED = 0.0, 1.0, -1.0  # marginals while arms are being put at the cap


class Exp3MBParams(NamedTuple):
    n_arms: int
    plays: int
    gamma: float
    cap: float
    rate: float  # m gamma / K


class Exp3MBState(NamedTuple):
    log_weights: Floats  # (K,) ln w
    weights: Floats  # (K,) w, relative to exp(shift)
    shift: Floats  # (1,)


class Exp3MBScratch(NamedTuple):
    relative: Floats  # (K,) w, relative to exp(shift) or to the largest below the cap
    marginals: Floats  # (K,) p


def params(problem: Problem, *, gamma: float | None = None) -> Exp3MBParams:
    n_arms, plays = problem.n_arms, problem.plays
    gamma = (
        default_gamma(n_arms, plays, problem.b, problem.c_min)
        if gamma is None
        else number("gamma", gamma, low=0, high=1)
    )
    cap = (1 / plays - gamma / n_arms) / (1 - gamma) if gamma < 1 else math.inf
    return Exp3MBParams(n_arms, plays, gamma, cap, plays * gamma / n_arms)


def default_gamma(n_arms: int, plays: int, b: float, c_min: float) -> float:
    if plays == n_arms:
        return 0.0
    limit = b * (1 - c_min) / c_min
    return (
        min(1.0, math.sqrt(n_arms * math.log(n_arms / plays) / ((math.e - 1) * limit)))
        if limit > 0
        else 1.0
    )


def init(params: Exp3MBParams, problem: Problem) -> Exp3MBState:
    return Exp3MBState(np.zeros(params.n_arms), np.ones(params.n_arms), np.zeros(1))


def scratch(params: Exp3MBParams, problem: Problem) -> Exp3MBScratch:
    return Exp3MBScratch(np.zeros(params.n_arms), np.zeros(params.n_arms))


@kernel
def weigh(params: Exp3MBParams, state: Exp3MBState, scratch: Exp3MBScratch) -> None:
    """Write the marginals."""
    for i in range(params.n_arms):
        scratch.relative[i] = state.weights[i]
        scratch.marginals[i] = SURE if params.plays == params.n_arms else OPEN
    if params.plays == params.n_arms:
        return
    room, others = 1.0, 0.0
    if params.plays > 1:
        room, others = cap_heaviest(params, state, scratch)
    else:
        others = total(state.weights)
    share_room(params, scratch, room, others)


@cold
def weigh_allowed(
    params: Exp3MBParams, state: Exp3MBState, scratch: Exp3MBScratch, now: Now
) -> int:
    """Write the marginals under a mask; return the number of plays."""
    count = 0
    for i in range(params.n_arms):
        count += now.allowed[i]
    plays = min(params.plays, count)
    for i in range(params.n_arms):
        scratch.relative[i] = state.weights[i]
        scratch.marginals[i] = SURE if plays == count else OPEN
        if not now.allowed[i]:
            scratch.marginals[i] = MASKED
    if plays < count:
        cap = math.inf
        if params.gamma < 1:
            cap = (1 / plays - params.gamma / count) / (1 - params.gamma)
        fewer = Exp3MBParams(count, plays, params.gamma, cap, plays * params.gamma / count)
        room, others = cap_heaviest(fewer, state, scratch)
        share_room(fewer, scratch, room, others)
    for i in range(params.n_arms):
        if not now.allowed[i]:
            scratch.marginals[i] = 0.0
    return plays


@kernel
def share_room(params: Exp3MBParams, scratch: Exp3MBScratch, room: float, others: float) -> None:
    """Write the marginals of the arms below the cap, by their share of the rest."""
    scale = params.plays * (1 - params.gamma) * room / others
    for i in range(scratch.marginals.shape[0]):
        scratch.marginals[i] = (
            1.0
            if scratch.marginals[i] == SURE
            else min(1.0, scale * scratch.relative[i] + params.rate)
        )


@kernel
def cap_heaviest(
    params: Exp3MBParams, state: Exp3MBState, scratch: Exp3MBScratch
) -> tuple[float, float]:
    """Put arms at the cap; return the share of the others and the sum of their weights.

    Arms reach the cap from the heaviest on, and at most m - 1 can: the last play is never sure.
    """
    room = 1.0
    others = 0.0
    for capped in range(params.plays):
        heaviest, others = below_cap(state, scratch)
        if scratch.relative[heaviest] < TINY:
            others = rescale(state, scratch, heaviest)
        if capped == params.plays - 1 or scratch.relative[heaviest] * room < params.cap * others:
            break
        scratch.marginals[heaviest] = SURE
        room -= params.cap
    return room, others


@kernel
def below_cap(state: Exp3MBState, scratch: Exp3MBScratch) -> tuple[int, float]:
    """Return the heaviest arm below the cap, and the sum of the weights of all of them."""
    heaviest = -1
    others = 0.0
    for i in range(scratch.relative.shape[0]):
        if scratch.marginals[i] == OPEN:
            others += scratch.relative[i]
            if heaviest < 0 or state.log_weights[i] > state.log_weights[heaviest]:
                heaviest = i
    return heaviest, others


@cold
def rescale(state: Exp3MBState, scratch: Exp3MBScratch, heaviest: int) -> float:
    """Take the weights relative to this arm's; return the sum of those below the cap."""
    others = 0.0
    for i in range(scratch.relative.shape[0]):
        if scratch.marginals[i] == OPEN:
            scratch.relative[i] = exp(state.log_weights[i] - state.log_weights[heaviest])
            others += scratch.relative[i]
    return others


@kernel
def choose(
    params: Exp3MBParams, state: Exp3MBState, scratch: Exp3MBScratch, now: Now, play: Play
) -> None:
    if now.masked:
        choose_allowed(params, state, scratch, now, play)
        return
    weigh(params, state, scratch)
    dependent_round(now.key, scratch.marginals, play.arms)
    for k in range(params.plays):
        play.probs[k] = scratch.marginals[play.arms[k]]


@cold
def choose_allowed(
    params: Exp3MBParams, state: Exp3MBState, scratch: Exp3MBScratch, now: Now, play: Play
) -> None:
    """Choose under a mask; if no more arms are allowed than there are plays, take them all."""
    plays = weigh_allowed(params, state, scratch, now)
    if plays == params.plays:
        dependent_round(now.key, scratch.marginals, play.arms)
    else:
        count = 0
        for i in range(params.n_arms):
            if now.allowed[i]:
                play.arms[count] = i
                count += 1
    for k in range(params.plays):
        if k >= plays:
            play.arms[k] = SKIP
        play.probs[k] = scratch.marginals[play.arms[k]] if k < plays else 1.0


@kernel
def update(params: Exp3MBParams, state: Exp3MBState, scratch: Any, now: Now, play: Play) -> None:
    for k in range(params.plays):
        i = play.arms[k]
        if i >= 0 and play.probs[k] < 1.0:  # 1: the arm was at the cap when it was drawn
            gain = params.rate * (play.rewards[k] - play.costs[k, 0]) / play.probs[k]
            state.log_weights[i] += gain
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
    params: Exp3MBParams, state: Exp3MBState, scratch: Exp3MBScratch, now: Now, out: Floats
) -> None:
    if now.masked:
        weigh_allowed(params, state, scratch, now)
    else:
        weigh(params, state, scratch)
    for i in range(params.n_arms):
        out[i] = scratch.marginals[i]
