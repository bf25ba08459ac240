r"""Sliding-window UCB for knapsacks: UCB-BwK that forgets, for means that change.

The rule (Liu, Jiang and Li, 2022), for one resource, budget B and T rounds. In every round arm i is
drawn with probability x(i), and with the rest nothing is done, where x solves

    max  sum_i u(i) x(i)    subject to    sum_i l(i) x(i) <= B / T,   sum_i x(i) <= 1,   x >= 0
    u(i) = min{1, r(i) + sqrt(C / (N(i) + 1))},     1 without a pull
    l(i) = max{0, c(i) - sqrt(C / (N(i) + 1))},     0 without a pull

with N, r, c the arm's pulls, mean reward and mean cost over the last w rounds, skipped ones
included. `purse.kernels.concave_hull` solves it. Without a horizon T = ceil(B / c_min), and no
round passes, as in UCB-BwK.

Options: window=None (w = K^(1/3) T^(2/3), rounded up, for means that change by 1 in all) or a
number of rounds, at most T and 2^22; c_rad="theory" (C = 2 ln(12 K T^3)) or a positive number.

Guarantee: with w = min{K^(1/3) V^(-2/3) T^(2/3), T}, where V is how much the means change from
round to round, summed over rounds, the gain falls short of the best that can be had in expectation
by O~((T/B) sqrt(K T) + (T/B) (K V)^(1/3) T^(2/3) + W_r + (T/B) W_c), where W_r and W_c are how far
mean rewards and mean costs are from their averages, summed over rounds: so changes that the budget
would have to be saved for are not covered. C is so large that for T < 10^5 hardly anything is
learnt within a window; smaller C is better there.

Departures from the paper: one window for rewards and costs, where the paper has two; C, w and the +
1 are from memory; the paper takes several resources. A report that comes when its round has left
the window is not learnt from. What is done without a horizon is ours.

Scale: loses 92% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm.

Needs B and T, or c_min, and an idea of how fast means change. O(K) a round for each edge of a hull;
O(w + K) numbers a path.

>>> import purse
>>> world = "switching:segments=[1500],rewards=[[.9,.1],[.1,.9]],costs=[.5,.5]"
>>> game = {"budget": 3000, "n_paths": 10, "seed": 0}
>>> window = purse.simulate("sw-ucb-bwk:window=300,c_rad=0.5", world, **game)
>>> plain = purse.simulate("ucb-bwk:c_rad=0.5", world, **game)
>>> bool(window.gain.mean() > plain.gain.mean())
True

Reference: S. Liu, J. Jiang, X. Li. Non-stationary bandits with knapsacks. NeurIPS 2022.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from purse.kernels import cold, integer, kernel, rounds_of, theory_or
from purse.kernels.concave_hull import best_mixture, mask_points, shares_rule
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, RESOURCES, SOURCE = "sw-ucb-bwk", 1, 1, "from memory: C and w"
LONGEST = 2**22  # rounds in a window, so that sums stay below 2^62
GRAIN = 2.0**40


class SwUcbBwKParams(NamedTuple):
    c_rad: float
    pace: float  # B / T
    skips: bool  # whether a round may pass without a pull
    window: int


class SwUcbBwKState(NamedTuple):
    pulls: Ints  # (K,) N
    rewards: Ints  # (K,) in units of 2^-40, so that a report takes away what it had brought
    costs: Ints  # (K,) likewise
    upper: Floats  # (K,) u
    lower: Floats  # (K,) l
    shares: Floats  # (K,) the x that follow from the bounds
    head: Ints  # (1,) the last round with a report
    ring_arms: Ints  # (w,) of round s at s % w; -1: no report
    ring_rewards: Ints  # (w,)
    ring_costs: Ints  # (w,)


class SwUcbBwKScratch(NamedTuple):
    """The window of a later round, or of one under a mask."""

    pulls: Ints  # (K,)
    rewards: Ints  # (K,)
    costs: Ints  # (K,)
    upper: Floats  # (K,)
    lower: Floats  # (K,)
    shares: Floats  # (K,)


def params(
    problem: Problem, *, window: int | None = None, c_rad: float | str = "theory"
) -> SwUcbBwKParams:
    rounds = rounds_of(problem, NAME)
    longest = min(rounds, LONGEST)
    if window is None:
        window = min(longest, math.ceil(problem.n_arms ** (1 / 3) * rounds ** (2 / 3)))
    odds = 12 * problem.n_arms * rounds**3
    return SwUcbBwKParams(
        theory_or("c_rad", c_rad, "a positive number", lambda: 2 * math.log(odds), above=0),
        problem.b / rounds,
        problem.horizon is not None,
        integer("window", window, low=1, high=longest),
    )


def init(params: SwUcbBwKParams, problem: Problem) -> SwUcbBwKState:
    k, w = problem.n_arms, params.window
    pulls, rewards, costs = np.zeros((3, k), np.int64)
    bounds = np.ones(k), np.zeros(k), np.full(k, 1 / k)
    ring = np.full(w, -1), np.zeros(w, np.int64), np.zeros(w, np.int64)
    return SwUcbBwKState(pulls, rewards, costs, *bounds, np.zeros(1, np.int64), *ring)


def scratch(params: SwUcbBwKParams, problem: Problem) -> SwUcbBwKScratch:
    k = problem.n_arms
    return SwUcbBwKScratch(*np.zeros((3, k), np.int64), *np.zeros((3, k)))


@kernel
def add(params: SwUcbBwKParams, sums: Any, arm: int, pulls: int, reward: int, cost: int) -> None:
    """Add to an arm's sums, of the state or of the scratch, and renew its bounds."""
    sums.pulls[arm] += pulls
    sums.rewards[arm] += reward
    sums.costs[arm] += cost
    n = sums.pulls[arm]
    width = math.sqrt(params.c_rad / (n + 1))
    sums.upper[arm] = min(1.0, sums.rewards[arm] / (GRAIN * n) + width) if n > 0 else 1.0
    sums.lower[arm] = max(0.0, sums.costs[arm] / (GRAIN * n) - width) if n > 0 else 0.0


@kernel
def take_out(params: SwUcbBwKParams, state: SwUcbBwKState, sums: Any, slot: int) -> None:
    """Take the report in this slot of the ring, if there is one, from the sums."""
    arm = state.ring_arms[slot]
    if arm >= 0:
        add(params, sums, arm, -1, -state.ring_rewards[slot], -state.ring_costs[slot])


@kernel
def first_kept(params: SwUcbBwKParams, state: SwUcbBwKState) -> int:
    """Return the first round of the state's window."""
    return max(1, state.head[0] - params.window + 1)


@kernel
def last_out(params: SwUcbBwKParams, state: SwUcbBwKState, head: int) -> int:
    """Return the last round of the state's window that is not in the one which ends with `head`."""
    return min(head - params.window, state.head[0])


@kernel
def has_old(params: SwUcbBwKParams, state: SwUcbBwKState, head: int) -> bool:
    """Return whether the state has reports from before the window that ends with round `head`."""
    for s in range(first_kept(params, state), last_out(params, state, head) + 1):
        if state.ring_arms[s % params.window] >= 0:
            return True
    return False


@cold
def copy_window(
    params: SwUcbBwKParams, state: SwUcbBwKState, scratch: SwUcbBwKScratch, head: int
) -> None:
    """Write the sums and bounds of the window that ends with round `head`."""
    for i in range(state.pulls.shape[0]):
        scratch.pulls[i] = state.pulls[i]
        scratch.rewards[i] = state.rewards[i]
        scratch.costs[i] = state.costs[i]
        scratch.upper[i] = state.upper[i]
        scratch.lower[i] = state.lower[i]
    for s in range(first_kept(params, state), last_out(params, state, head) + 1):
        take_out(params, state, scratch, s % params.window)


@kernel
def mix(params: SwUcbBwKParams, state: SwUcbBwKState, scratch: SwUcbBwKScratch, now: Now) -> bool:
    """Write this round's x to the scratch if they are not the state's; return whether it did."""
    if not (now.masked or has_old(params, state, now.t - 1)):
        return False
    copy_window(params, state, scratch, now.t - 1)
    if now.masked:
        mask_points(now, scratch.lower, scratch.upper)
    best_mixture(params.pace, scratch.lower, scratch.upper, scratch.shares)
    return True


choose, probabilities = shares_rule(mix)


@kernel
def update(
    params: SwUcbBwKParams, state: SwUcbBwKState, scratch: SwUcbBwKScratch, now: Now, play: Play
) -> None:
    for s in range(first_kept(params, state), last_out(params, state, now.t) + 1):
        take_out(params, state, state, s % params.window)
        state.ring_arms[s % params.window] = -1
    state.head[0] = max(state.head[0], now.t)
    if now.t <= state.head[0] - params.window:
        return
    slot = now.t % params.window
    state.ring_arms[slot] = play.arms[0]
    state.ring_rewards[slot] = int(play.rewards[0] * GRAIN + 0.5)
    state.ring_costs[slot] = int(play.costs[0, 0] * GRAIN + 0.5)
    add(params, state, play.arms[0], 1, state.ring_rewards[slot], state.ring_costs[slot])
    best_mixture(params.pace, state.lower, state.upper, state.shares)
