r"""Delayed SAPO, the successor of SAPO: arms are eliminated as if rewards were i.i.d. and looked at
ever more rarely, until a test says that they are not; from there EXP3.P. Blind to costs.

The rule (Schlisselberg, Lancewicki, Auer and Mansour, 2025, Algorithm 5 with Procedures 6 and 7,
without the terms for delays), for T rounds and losses l = 1 - r, L = ln T. After n reports arm i
has N(i) pulls of mean m(i), and y(i) = (1/n) sum 1{i_t = i} l_t / p_t(i);

    w(i) = min{1, sqrt(2 L / N(i))},     v = min{1, sqrt(2 K L / n)}
    u*   = the least m(i) + w(i) that any active arm has had

    switch to EXP3.P, for good, if     |y(i) - y| > v for an active arm and all y of [lo(i), hi(i)],
                                       the points within v of y(i) so far
                          or           sum_t (l_t - u*) > regret sqrt(K T L)
    eliminate an active arm if         m(i) - 9 w(i) > u*:     m = m(i),  D = 8 w(i),
                                       p1 = 1/(2 K) + N(i)/(2 T),  M1 = phase / (p1 D^2)

An eliminated arm is played with probability p, p1 at first, in phases of M rounds, M1 at first; the
active arms share the rest equally. After s rounds of its phase in which its losses sum to S, each
over its p,

    s m - S >= D M / 4    is an error: p = min(p1, 2 p), M = max(M1, M / 2), and a new phase;
                          with 3 L errors of an arm switch to EXP3.P
    s >= floor(M)         p = p / 2, M = 2 M, and a new phase

Options: log="theory" (L = ln T) or a positive number; phase=1280; regret=272. With these constants
and 5 arms a phase takes more than 10,000 rounds, and the second test says nothing for T below five
million; smaller ones show the mechanism.

Guarantee: for T rounds, regret O(sum_i ln T / Delta(i)) for i.i.d. rewards with gaps Delta(i), and
O(sqrt(K T ln T)) and that of EXP3.P for any. Of a budget that says something only if all costs are
one constant.

Departures from the paper: the terms for delays are left out, so that n counts reports; T is the
horizon if there is one, else ceil(B / c_min); y is tested once v < 1, because with three arms one
loss would fail the first test; it switches, too, if no arm would stay active. The name is ours: of
SAPO itself (Auer and Chiang, 2016) only the abstract could be read, and p1 is not SAPO's. EXP3.P
starts as in `sao`, with delta = 1 / T.

Needs the horizon, or B and c_min; plays any number of resources. O(K) a round, after the switch
with K exps.

>>> import purse
>>> world = "bernoulli:rewards=[.9,.1],costs=[.5,.5]"
>>> run = purse.simulate("delayed-sapo:log=.1", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 3 * run.pulls[:, 1].mean())
True

Reference: O. Schlisselberg, T. Lancewicki, P. Auer, Y. Mansour. Improved best-of-both-worlds regret
for bandits with delayed feedback. NeurIPS 2025; arXiv 2505.24193.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import cold, kernel, number, rounds_of, theory_or
from purse.kernels.exp3_p import Exp3PParams, new_learner, tuned
from purse.policies import sao
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, VERSION = "delayed-sapo", 1, 1
SOURCE = "Schlisselberg et al., NeurIPS 2025, Algorithm 5 and Procedures 6 and 7"
scratch, choose, probabilities = sao.scratch, sao.choose, sao.probabilities
LOSSES, LEAST = 2, 3  # places in `memo`, after sao's


class SapoParams(NamedTuple):
    n_arms: int
    rounds: int
    log: float  # L
    phase: float
    most: float  # of sum_t (l_t - u*)
    later: Exp3PParams  # as in sao


class SapoState(NamedTuple):
    gains: Floats  # (K,) n y, after the switch EXP3.P's
    pulls: Floats  # (K,) N
    losses: Floats  # (K,) N m
    floors: Floats  # (K,) m - 9 w
    low: Floats  # (K,) lo
    high: Floats  # (K,) hi
    looks: Floats  # (K,) p of an eliminated arm
    first: Floats  # (K,) p1
    lengths: Floats  # (K,) M; 0 while active
    gaps: Floats  # (K,) D
    ages: Floats  # (K,) s
    sums: Floats  # (K,) S
    errors: Floats  # (K,)
    chances: Floats  # (K,)
    weights: Floats  # (K,) of EXP3.P
    age: Ints  # (1,) likewise
    memo: Floats  # (4,) n; sqrt(T / (T - n)) at the switch, 0 before; sum of losses; u*


def params(
    problem: Problem, *, log: float | str = "theory", phase: float = 1280, regret: float = 272
) -> SapoParams:
    n_arms, rounds = problem.n_arms, rounds_of(problem, NAME)
    terms = theory_or("log", log, "a positive number", lambda: math.log(max(2, rounds)), above=0)
    return SapoParams(
        n_arms,
        rounds,
        terms,
        number("phase", phase, above=0),
        number("regret", regret, above=0) * math.sqrt(n_arms * rounds * terms),
        tuned(n_arms, 1.0, rounds, 1 / rounds),
    )


def init(params: SapoParams, problem: Problem) -> SapoState:
    gains, chances, weights, age = new_learner(params.n_arms)
    pulls, losses, low, *of_eliminated = np.zeros((10, params.n_arms))
    looks, first, lengths, gaps, ages, sums, errors = of_eliminated
    floors, high = np.full(params.n_arms, -9.0), np.ones(params.n_arms)
    known = (gains, pulls, losses, floors, low, high)
    later = (chances, weights, age, np.array([0.0, 0.0, 0.0, 1.0]))
    return SapoState(*known, looks, first, lengths, gaps, ages, sums, errors, *later)


@kernel
def update(params: SapoParams, state: SapoState, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    if state.memo[sao.STRETCH] > 0:
        sao.learn_later(params, state, i, play.probs[0], play.rewards[0])
        return
    loss = 1 - play.rewards[0]
    state.memo[sao.REPORTS] += 1
    state.memo[LOSSES] += loss
    state.gains[i] += loss / play.probs[0]
    state.sums[i] += loss / play.probs[0]
    if state.lengths[i] == 0:
        state.pulls[i] += 1
        state.losses[i] += loss
        width = min(1.0, math.sqrt(2 * params.log / state.pulls[i]))
        mean = state.losses[i] / state.pulls[i]
        state.floors[i] = mean - 9 * width
        state.memo[LEAST] = min(state.memo[LEAST], mean + width)
    if not in_order(params, state):
        sao.switch(params, state)


@kernel
def in_order(params: SapoParams, state: SapoState) -> bool:
    """Eliminate arms and go on with the phases; return whether all tests are passed."""
    n, least = state.memo[sao.REPORTS], state.memo[LEAST]
    if state.memo[LOSSES] - n * least > params.most:
        return False
    width = min(1.0, math.sqrt(2 * params.n_arms * params.log / n))
    active = 0
    changed = False
    for i in range(params.n_arms):
        if state.lengths[i] == 0:
            if width < 1:
                mean = state.gains[i] / n
                if mean < state.low[i] - width or mean > state.high[i] + width:
                    return False
                state.low[i] = max(state.low[i], mean - width)
                state.high[i] = min(state.high[i], mean + width)
            if state.floors[i] > least:
                eliminate(params, state, i)
                changed = True
            else:
                active += 1
        else:
            state.ages[i] += 1
            mean = state.losses[i] / state.pulls[i]
            is_error = state.ages[i] * mean - state.sums[i] >= state.gaps[i] * state.lengths[i] / 4
            if is_error or state.ages[i] >= math.floor(state.lengths[i]):
                begin_phase(params, state, i, is_error)
                changed = True
                if state.errors[i] >= 3 * params.log:
                    return False
    if changed and active > 0:
        share(state, active)
    return active > 0


@cold
def eliminate(params: SapoParams, state: SapoState, i: int) -> None:
    gap = 8 * min(1.0, math.sqrt(2 * params.log / state.pulls[i]))
    chance = 0.5 / params.n_arms + 0.5 * state.pulls[i] / params.rounds
    state.gaps[i] = gap
    state.first[i] = chance
    state.looks[i] = chance
    state.lengths[i] = params.phase / (chance * gap * gap)
    state.sums[i] = 0.0


@cold
def begin_phase(params: SapoParams, state: SapoState, i: int, is_error: bool) -> None:
    factor = 2.0 if is_error else 0.5
    shortest = params.phase / (state.first[i] * state.gaps[i] * state.gaps[i])
    state.errors[i] += is_error
    state.looks[i] = min(state.first[i], factor * state.looks[i])
    state.lengths[i] = max(shortest, state.lengths[i] / factor)
    state.ages[i] = 0.0
    state.sums[i] = 0.0


@cold
def share(state: SapoState, active: int) -> None:
    """Write the chances of the arms: what eliminated ones leave, the active ones share."""
    remaining = 1.0
    for i in range(state.looks.shape[0]):
        remaining -= state.looks[i]
    for i in range(state.looks.shape[0]):
        state.chances[i] = state.looks[i] if state.lengths[i] > 0 else remaining / active
