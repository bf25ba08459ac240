r"""Sliding-window UCB for knapsacks: UCB-BwK that forgets, for means that change.

The rule (Liu, Jiang and Li, 2022), for one resource, budget B and T rounds. In every round arm i is
drawn with probability x(i), and with the rest nothing is done, where x solves

    max  sum_i u(i) x(i)    subject to    sum_i l(i) x(i) <= B / T,   sum_i x(i) <= 1,   x >= 0
    u(i) = min{1, r(i) + sqrt(C / (N(i) + 1))},     1 without a pull
    l(i) = max{0, c(i) - sqrt(C / (N(i) + 1))},     0 without a pull

with N, r, c the arm's pulls, mean reward and mean cost over the last w rounds, skipped ones
included. `purse.kernels.concave_hull` solves it. Without a horizon T = ceil(B / c_min), and where
nothing was to be done it is drawn again, as in UCB-BwK.

| symbol | code |
|---|---|
| N(i), N(i) r(i), N(i) c(i) | `state.pulls[i]`, `state.rewards[i]`, `state.costs[i]` |
| arm of round s | `state.ring_arms[s % w]` (-1: no report) |
| reward and cost of round s | `state.ring_rewards[s % w]`, `state.ring_costs[s % w]` |
| the last round of the window | `state.head[0]` |
| u(i), l(i), x(i) | `state.upper[i]`, `state.lower[i]`, `state.shares[i]` |

`state.rewards` and `state.costs` are in units of 2^-40.

Options: window=None (w = K^(1/3) T^(2/3), rounded up, for means that change by 1 in all) or a
number of rounds, at most T and 2^22; c_rad="theory" (C = 2 ln(12 K T^3)) or a positive number.

Guarantee: with w = min{K^(1/3) V^(-2/3) T^(2/3), T}, where V is how much the means change from
round to round, summed over rounds, the gain falls short of the best that can be had in expectation
by O~((T/B) sqrt(K T) + (T/B) (K V)^(1/3) T^(2/3) + W), where W is how far the means are from their
average, summed over rounds: so changes that the budget would have to be saved for are not covered.
C is so large that for T < 10^5 hardly anything is learnt within a window; smaller C is better
there.

Departures from the paper: one window for rewards and costs, where the paper has two; C, w and the +
1 are quoted from memory; the paper takes several resources. Sums over the window are whole numbers
of 2^-40, so that a report takes away exactly what it had brought. A report that comes when its
round has left the window is not learnt from. What is done without a horizon is ours.

Needs B and T, or c_min, and an idea of how fast means change. One linear program a report, O(K) for
each edge of a hull; O(w + K) numbers a path.

>>> import purse
>>> world = "switching:segments=[1500],rewards=[[.9,.1],[.1,.9]],costs=[.5,.5]"
>>> game = {"budget": 3000, "n_paths": 10, "seed": 0}
>>> window = purse.simulate("sw-ucb-bwk:window=300,c_rad=0.5", world, **game)
>>> plain = purse.simulate("ucb-bwk:c_rad=0.5", world, **game)
>>> bool(window.gain.mean() > plain.gain.mean())
True

Reference: S. Liu, J. Jiang, X. Li. Non-stationary bandits with knapsacks. NeurIPS 2022.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import kernel
from purse.errors import invalid
from purse.kernels.concave_hull import best_mixture, draw_shares, show_shares
from purse.kernels.horizon import rounds_of
from purse.kernels.random import U
from purse.types import Floats, Ints, Problem

NAME = "sw-ucb-bwk"
LONGEST = 2**22  # rounds in a window, so that sums stay below 2^62
GRAIN = 2.0**40


class SwUcbBwKParams(NamedTuple):
    c_rad: float
    pace: float  # B / T
    skips: bool  # whether a round may pass without a pull
    window: int


class SwUcbBwKState(NamedTuple):
    pulls: Ints  # (P, K)
    rewards: Ints  # (P, K)
    costs: Ints  # (P, K)
    upper: Floats  # (P, K)
    lower: Floats  # (P, K)
    shares: Floats  # (P, K) the x that follow from the bounds
    head: Ints  # (P, 1)
    ring_arms: Ints  # (P, w)
    ring_rewards: Ints  # (P, w)
    ring_costs: Ints  # (P, w)


def params(
    problem: Problem, *, window: int | None = None, c_rad: float | str = "theory"
) -> SwUcbBwKParams:
    """Options: window, a number of rounds; c_rad, "theory" or a positive number."""
    problem.require(NAME, plays=1, n_resources=1)
    rounds = rounds_of(problem, NAME)
    longest = min(rounds, LONGEST)
    if window is None:
        window = min(longest, math.ceil(problem.n_arms ** (1 / 3) * rounds ** (2 / 3)))
    if isinstance(c_rad, str) and c_rad != "theory":
        raise invalid("c_rad", c_rad, "must be 'theory' or a positive number")
    radius = (
        2 * math.log(12 * problem.n_arms * rounds**3)
        if isinstance(c_rad, str)
        else validation.number("c_rad", c_rad, above=0)
    )
    return SwUcbBwKParams(
        radius,
        problem.b / rounds,
        problem.horizon is not None,
        validation.integer("window", window, low=1, high=longest),
    )


def init(params: SwUcbBwKParams, problem: Problem, n_paths: int) -> SwUcbBwKState:
    shape, ring = (n_paths, problem.n_arms), (n_paths, params.window)
    return SwUcbBwKState(
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.zeros(shape, np.int64),
        np.ones(shape),
        np.zeros(shape),
        np.full(shape, 1 / problem.n_arms),
        np.zeros((n_paths, 1), np.int64),
        np.full(ring, -1),
        np.zeros(ring, np.int64),
        np.zeros(ring, np.int64),
    )


@kernel
def row(state: SwUcbBwKState, path: int) -> SwUcbBwKState:
    return SwUcbBwKState(
        state.pulls[path],
        state.rewards[path],
        state.costs[path],
        state.upper[path],
        state.lower[path],
        state.shares[path],
        state.head[path],
        state.ring_arms[path],
        state.ring_rewards[path],
        state.ring_costs[path],
    )


@kernel
def add(
    params: SwUcbBwKParams, state: SwUcbBwKState, arm: int, pulls: int, reward: int, cost: int
) -> None:
    state.pulls[arm] += pulls
    state.rewards[arm] += reward
    state.costs[arm] += cost
    n = state.pulls[arm]
    width = math.sqrt(params.c_rad / (n + 1))
    state.upper[arm] = min(1.0, state.rewards[arm] / (GRAIN * n) + width) if n > 0 else 1.0
    state.lower[arm] = max(0.0, state.costs[arm] / (GRAIN * n) - width) if n > 0 else 0.0


@kernel
def advance(params: SwUcbBwKParams, state: SwUcbBwKState, head: int) -> bool:
    """Let the window end with round `head`; returns whether reports have left it."""
    left = False
    for s in range(
        max(1, state.head[0] - params.window + 1), min(head - params.window, state.head[0]) + 1
    ):
        slot = s % params.window
        arm = state.ring_arms[slot]
        if arm >= 0:
            add(params, state, arm, -1, -state.ring_rewards[slot], -state.ring_costs[slot])
            state.ring_arms[slot] = -1
            left = True
    state.head[0] = max(state.head[0], head)
    return left


@kernel
def choose(
    key: U,
    params: SwUcbBwKParams,
    state: SwUcbBwKState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    # what has left by round t has left for every later round: asking twice, or more, changes
    # nothing
    if advance(params, state, t - 1):
        best_mixture(params.pace, state.lower, state.upper, state.shares)
    draw_shares(key, params.skips, state.shares, arms, probs)


@kernel
def update(
    key: U,
    params: SwUcbBwKParams,
    state: SwUcbBwKState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    advance(params, state, t)
    if t <= state.head[0] - params.window:
        return
    slot = t % params.window
    state.ring_arms[slot] = arms[0]
    state.ring_rewards[slot] = int(rewards[0] * GRAIN + 0.5)
    state.ring_costs[slot] = int(costs[0, 0] * GRAIN + 0.5)
    add(params, state, arms[0], 1, state.ring_rewards[slot], state.ring_costs[slot])
    best_mixture(params.pace, state.lower, state.upper, state.shares)


@kernel
def probabilities(
    params: SwUcbBwKParams, state: SwUcbBwKState, t: int, left: Floats, out: Floats
) -> None:
    if advance(params, state, t - 1):
        best_mixture(params.pace, state.lower, state.upper, state.shares)
    show_shares(params.skips, state.shares, out)
