r"""SAO: arms are deactivated as if rewards were i.i.d., until a test says that they are not; from
then on EXP3.P. Blind to costs.

The rule (Bubeck and Slivkins, 2012, Algorithm 1), for T rounds. All arms are active, p(i) = 1/K.
After n rounds, with H~(i) = (1/n) sum 1{i_t = i} r_t / p_t(i), H(i) the mean of the N(i) rewards
that arm i paid, M = max H~ over the active arms and

    w(x) = sqrt(4 K ln beta / x + 5 (K ln beta / x)^2),     beta = 10 K T^3 / delta,

    deactivate an active arm i if   M - H~(i) > 6 w(n):   tau(i) = n,   q(i) = p(i)
    switch to EXP3.P, for good, if for some arm (s = n while it is active, else tau(i))
        |H~(i) - H(i)| > sqrt(2 ln beta / N(i))
            + sqrt(4 (K s / n^2 + (n - s) / (q(i) tau(i) n)) ln beta + 5 (K ln beta / s)^2)
        i is not active and M - H~(i) > 10 w(tau(i) - 1)    or    M - H~(i) <= 2 w(tau(i))
    p(i) = q(i) tau(i) / (n + 1) if i is not active; the active arms share the rest equally

EXP3.P starts, with the constants of `exp3.p` for the T - n rounds that remain and delta =
min(1, K / beta).

Options: delta=0.05; beta="theory" (above) or a number above 1.

Guarantee: with probability 1 - delta, over T rounds, regret at most 260 K (1 + ln K) ln^2(beta) /
Delta for i.i.d. rewards, Delta the least gap, and 60 (1 + ln K) (1 + ln T) sqrt(T K ln beta + 5 K^2
ln^2 beta) + 200 K^2 ln^2 beta for any. Of a budget that says something only if all costs are one
constant. The constants are large: an arm behind by 0.3 is deactivated after some 1,600 K ln beta
rounds, close to a million for 10 arms, and until the first is, all arms are equally likely. A small
beta shows the mechanism.

Departures from the paper: it has rounds and no budget; T is the horizon if there is one, else
ceil(B / c_min), and n counts reports. The confidence that EXP3.P is given is implicit in the paper;
tests that would divide by 0 (N(i) = 0, tau(i) = 1) are taken as passed. The rule and its constants
are taken from accounts of the paper.

Needs the horizon, or B and c_min; plays any number of resources. O(K) a round, after the switch
with K exps.

>>> import purse
>>> world = purse.worlds.switching(
...     segments=[2000, 10**9], rewards=[[0.9, 0.1], [0.1, 0.9]], costs=[0.5, 0.5]
... )
>>> run = purse.simulate("sao:beta=1.5", world, budget=10_000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 1].mean() > 3 * run.pulls[:, 0].mean())
True

Reference: S. Bubeck, A. Slivkins. The best of both worlds: stochastic and adversarial bandits. COLT
2012.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import cold, exp3_p, kernel, largest, number, rounds_of, theory_or
from purse.kernels.exp3_p import Exp3PParams, Exp3PState, learn_action, new_learner, tuned
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, SOURCE = "sao", 1, "from memory"
scratch, choose, probabilities = exp3_p.scratch, exp3_p.choose, exp3_p.probabilities
REPORTS, STRETCH = range(2)  # places in `memo`


class SaoParams(NamedTuple):
    n_arms: int
    rounds: int
    log_beta: float
    later: Exp3PParams  # of EXP3.P for all T rounds: for fewer, all three rates grow alike


class SaoState(NamedTuple):
    gains: Floats  # (K,) n H~, after the switch EXP3.P's
    pulls: Floats  # (K,) N
    rewards: Floats  # (K,)
    means: Floats  # (K,) H
    stops: Floats  # (K,) tau, 0 while active
    floors: Floats  # (K,) q tau
    chances: Floats  # (K,) p
    weights: Floats  # (K,) of EXP3.P
    age: Ints  # (1,) likewise
    stopped: Ints  # (1,) how many arms are not active
    memo: Floats  # (2,) n; sqrt(T / (T - n)) at the switch, 0 before


def params(problem: Problem, *, delta: float = 0.05, beta: float | str = "theory") -> SaoParams:
    n_arms, rounds = problem.n_arms, rounds_of(problem, NAME)
    delta = number("delta", delta, above=0, high=1)
    largest_beta = 10 * n_arms * float(rounds) ** 3 / delta
    beta = theory_or("beta", beta, "a number above 1", lambda: largest_beta, above=1)
    later = tuned(n_arms, 1.0, rounds, min(1.0, n_arms / beta))
    return SaoParams(n_arms, rounds, math.log(beta), later)


def init(params: SaoParams, problem: Problem) -> SaoState:
    gains, chances, weights, age = new_learner(params.n_arms)
    pulls, rewards, means, stops, floors = (np.zeros(params.n_arms) for _ in range(5))
    stopped, memo = np.zeros(1, np.int64), np.zeros(2)
    return SaoState(
        gains, pulls, rewards, means, stops, floors, chances, weights, age, stopped, memo
    )


@kernel
def update(params: SaoParams, state: SaoState, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    if state.memo[STRETCH] > 0:
        learn_later(params, state, i, play.probs[0], play.rewards[0])
        return
    state.memo[REPORTS] += 1
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.means[i] = state.rewards[i] / state.pulls[i]
    state.gains[i] += play.rewards[0] / play.probs[0]
    if state.stopped[0] > 0 or not clearly_in_order(params, state, state.memo[REPORTS]):
        look_closely(params, state, state.memo[REPORTS])


@kernel
def width(params: SaoParams, x: float) -> float:
    ratio = params.n_arms * params.log_beta / x
    return math.sqrt(ratio * (4 + 5 * ratio))


@kernel
def clearly_in_order(params: SaoParams, state: SaoState, n: float) -> bool:
    """Whether, while all arms are active, none is to be deactivated and all tests are passed.

    Then the chances stay as they are. No branches.
    """
    per_round = 1 / n
    wide = width(params, n)  # for an active arm the second root of the first test is the same
    best = largest(state.gains)
    failed = 0
    for i in range(params.n_arms):
        beyond = abs(state.gains[i] * per_round - state.means[i]) - wide
        failed += ((best - state.gains[i]) * per_round > 6 * wide) | (
            (beyond > 0) & (beyond * beyond * state.pulls[i] > 2 * params.log_beta)
        )
    return failed == 0


@cold
def look_closely(params: SaoParams, state: SaoState, n: float) -> None:
    if in_order(params, state, n):
        share(params, state, n + 1)
    else:
        switch(params, state)


@kernel
def in_order(params: SaoParams, state: SaoState, n: float) -> bool:
    """Deactivate arms; return whether all tests are passed."""
    best = 0.0
    for i in range(params.n_arms):
        if state.stops[i] == 0:
            best = max(best, state.gains[i])
    wide = 6 * width(params, n)
    for i in range(params.n_arms):
        estimate = state.gains[i] / n
        behind = best / n - estimate
        if state.stops[i] == 0 and behind > wide:
            state.stops[i] = n
            state.stopped[0] += 1
            state.floors[i] = state.chances[i] * n
        stop = state.stops[i]
        spread = params.n_arms / n
        if stop > 0:
            if behind <= 2 * width(params, stop) or (
                stop > 1 and behind > 10 * width(params, stop - 1)
            ):
                return False
            spread = params.n_arms * stop / (n * n) + (n - stop) / (state.floors[i] * n)
        off = abs(estimate - state.means[i]) if state.pulls[i] > 0 else 0.0
        ratio = params.n_arms * params.log_beta / (stop if stop > 0 else n)
        beyond = off - math.sqrt(4 * spread * params.log_beta + 5 * ratio * ratio)
        if beyond > 0 and beyond * beyond * state.pulls[i] > 2 * params.log_beta:
            return False
    return True


@kernel
def share(params: SaoParams, state: SaoState, t: float) -> None:
    """Write the chances of the t-th round."""
    remaining = 1.0
    active = 0
    for i in range(params.n_arms):
        state.chances[i] = state.floors[i] / t
        remaining -= state.chances[i]
        active += state.stops[i] == 0
    for i in range(params.n_arms):
        if state.stops[i] == 0:
            state.chances[i] = remaining / active


@kernel
def switch(params: Any, state: Any) -> None:
    state.memo[STRETCH] = math.sqrt(params.rounds / max(1.0, params.rounds - state.memo[REPORTS]))
    for i in range(params.n_arms):
        state.gains[i] = 0.0
        state.chances[i] = 1 / params.n_arms


@cold
def learn_later(params: Any, state: Any, arm: int, prob: float, reward: float) -> None:
    rate = state.memo[STRETCH]
    gamma = rate * params.later.gamma
    later = Exp3PParams(
        params.n_arms,
        1.0,
        rate * params.later.eta,
        gamma if gamma <= 0.5 else 1.0,
        rate * params.later.beta,
    )
    learner = Exp3PState(state.gains, state.chances, state.weights, state.age)
    learn_action(later, learner, arm, prob, reward)
