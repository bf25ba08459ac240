r"""Elimination race: layers that eliminate arms at different speeds, the slow ones safe from much
corruption. Blind to costs.

The rule (Lykouris, Mirrokni and Paes Leme, 2018), for T rounds and L = max(1, ceil(log2 T)) layers,
each with its own active arms (at first all), pulls N_l(i) and mean rewards r_l(i). In each round

    layer l comes with probability 2^-l, and layer 1 with the 2^-L that is left over
    layer l draws one of its active arms, all equally likely
    width_l(i) = a + sqrt a,   a = ln(4 K T L / delta) / N_l(i)
    r_l(i) + width_l(i) < r_l(j) - width_l(j) for an active j:   i leaves the layers 1 .. l

If layer l has no active arm, the next layer that has any draws, and nothing is learnt.

Options: delta=0.05, the probability with which the guarantee may fail.

Guarantee: with probability 1 - delta, for i.i.d. rewards of which an adversary changes C in total,
C unknown, the regret over T rounds is O(sum_i (K C ln(K T / delta) + ln T) ln(K T / delta) /
Delta_i). Of a budget that says something only if all costs are one constant.

Departures from the paper: it has rounds and no budget; T is the horizon if there is one, else
ceil(B / c_min). Which active arm a layer pulls is reconstructed: any, where others take the one
pulled least. So is that a round whose layer is empty teaches nothing.

Under a mask each layer draws among its active arms that are allowed; if no layer has any, all
allowed arms are equally likely. Nothing is learnt from an arm that is not active in the layer that
came.

Needs the horizon, or B and c_min; plays any number of resources. O(K + L) a round, O(K L) if an
arm is eliminated.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.1], costs=[0.5, 0.5])
>>> run = purse.simulate("elimination-race", world, budget=3000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 5 * run.pulls[:, 1].mean())
True

Reference: T. Lykouris, V. Mirrokni, R. Paes Leme. Stochastic bandits robust to adversarial
corruptions. STOC 2018.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import FIRST, OUT, cold, exp3_p, kernel, number, rounds_of, uniform
from purse.kernels.masks import count_allowed, nth_allowed
from purse.types import Bools, Floats, Ints, Now, Play, Problem

NAME, PLAYS = "elimination-race", 1
SOURCE = "Lykouris et al., STOC 2018, as in public code of a page on it"
scratch = exp3_p.scratch
LAYER, ARM = range(2)  # what is drawn with which number of a round


class RaceParams(NamedTuple):
    n_arms: int
    n_layers: int
    log_term: float  # ln(4 K T L / delta)


class RaceState(NamedTuple):
    pulls: Floats  # (L, K) N
    rewards: Floats  # (L, K)
    upper: Floats  # (L, K) r + width
    lower: Floats  # (L, K) r - width
    active: Ints  # (L, K)
    sizes: Ints  # (L,) how many are active
    chances: Floats  # (K,) over all layers; only an elimination changes them


def params(problem: Problem, *, delta: float = 0.05) -> RaceParams:
    n_arms, rounds = problem.n_arms, rounds_of(problem, NAME)
    delta = number("delta", delta, above=0, high=1)
    n_layers = max(1, (rounds - 1).bit_length())
    return RaceParams(n_arms, n_layers, math.log(4 * n_arms * rounds * n_layers / delta))


def init(params: RaceParams, problem: Problem) -> RaceState:
    shape = params.n_layers, params.n_arms
    pulls, rewards = np.zeros((2, *shape))
    upper, lower, active = np.full(shape, FIRST), np.full(shape, OUT), np.ones(shape, np.int64)
    sizes, chances = active.sum(axis=1), np.full(params.n_arms, 1 / params.n_arms)
    return RaceState(pulls, rewards, upper, lower, active, sizes, chances)


@kernel
def layer_of(u: float, n_layers: int) -> int:
    """Return the layer, counted from 0, that a number in [0, 1) stands for: how often it can be
    doubled below 1, from the exponent in its bits.
    """
    layer = 1022 - int(np.float64(u).view(np.int64) >> 52)
    return layer if layer < n_layers else 0


@kernel
def choose(params: RaceParams, state: RaceState, scratch: Any, now: Now, play: Play) -> None:
    layer = layer_of(uniform(now.key, LAYER), params.n_layers)
    if now.masked:
        share_layers(params, state, True, now.allowed, scratch.chances)
        play.arms[0] = draw_active(params, state, now, layer)
        play.probs[0] = scratch.chances[play.arms[0]]
        return
    while state.sizes[layer] == 0:  # the last layer never is
        layer += 1
    skip = int(uniform(now.key, ARM) * state.sizes[layer])
    arm = 0
    for i in range(params.n_arms):  # the arm with that number of active ones before it
        skip -= state.active[layer, i]
        arm += skip >= 0
    play.arms[0] = arm
    play.probs[0] = state.chances[arm]


@cold
def draw_active(params: RaceParams, state: RaceState, now: Now, layer: int) -> int:
    """Draw an allowed arm that is active in this layer or, if it has none, in a later one."""
    u = uniform(now.key, ARM)
    for later in range(layer, params.n_layers):
        skip = int(u * count_active(state.active[later], True, now.allowed))
        for i in range(params.n_arms):
            skip -= now.allowed[i] and state.active[later, i] == 1
            if skip < 0:
                return i
    return nth_allowed(now, int(u * count_allowed(now, params.n_arms)))


@kernel
def count_active(active: Ints, masked: bool, allowed: Bools) -> int:
    """Count the allowed arms that are active in a layer."""
    count = 0
    for i in range(active.shape[0]):
        count += active[i] == 1 and (not masked or allowed[i])
    return count


@cold
def share_layers(
    params: RaceParams, state: RaceState, masked: bool, allowed: Bools, chances: Floats
) -> None:
    """Write the probability of each arm, over all layers."""
    share = 0.5
    mass = 1.0  # the 2^-L that is left over
    for _ in range(params.n_layers):
        mass *= 0.5
    n_allowed = 0
    for i in range(params.n_arms):
        chances[i] = 0.0
        n_allowed += masked and allowed[i]
    for layer in range(params.n_layers):
        mass += share
        share *= 0.5
        count = count_active(state.active[layer], masked, allowed)
        for i in range(params.n_arms):
            if state.active[layer, i] == 1 and (not masked or allowed[i]):
                chances[i] += mass / count
        mass = mass if count == 0 else 0.0
    for i in range(params.n_arms):  # if no allowed arm is active, all are equally likely
        if masked and mass > 0 and allowed[i]:
            chances[i] = 1 / n_allowed


@kernel
def update(params: RaceParams, state: RaceState, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    layer = layer_of(uniform(now.key, LAYER), params.n_layers)  # the draw of this round again
    if state.active[layer, i] == 0:
        return
    state.pulls[layer, i] += 1
    state.rewards[layer, i] += play.rewards[0]
    mean = state.rewards[layer, i] / state.pulls[layer, i]
    ratio = params.log_term / state.pulls[layer, i]
    width = ratio + math.sqrt(ratio)
    state.upper[layer, i] = mean + width
    state.lower[layer, i] = mean - width
    bar = OUT
    lowest = FIRST
    for j in range(params.n_arms):
        active = state.active[layer, j] == 1
        bar = max(bar, state.lower[layer, j] if active else OUT)
        lowest = min(lowest, state.upper[layer, j] if active else FIRST)
    if lowest < bar:
        eliminate(params, state, layer, bar)
        share_layers(params, state, False, now.allowed, state.chances)


@cold
def eliminate(params: RaceParams, state: RaceState, layer: int, bar: float) -> None:
    for i in range(params.n_arms):
        if state.active[layer, i] == 1 and state.upper[layer, i] < bar:
            for below in range(layer + 1):
                state.sizes[below] -= state.active[below, i]
                state.active[below, i] = 0


@kernel
def probabilities(
    params: RaceParams, state: RaceState, scratch: Any, now: Now, out: Floats
) -> None:
    for i in range(params.n_arms):
        out[i] = state.chances[i]
    if now.masked:
        share_layers(params, state, True, now.allowed, out)
