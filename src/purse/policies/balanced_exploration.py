r"""Balanced exploration: each arm in turn gets the most that a mixture gives it which may still be
the best; successive elimination for knapsacks.

The rule (Badanidiyuru, Kleinberg and Slivkins, 2013; Algorithm 2 of the book), for one resource,
budget B and T rounds, rho = B / T. Arm i has bounds r-, r+ on its mean reward and c-, c+ on its
mean cost, mean -+ rad as in `purse.kernels.radius`, which only ever shrink. In every round an arm x
is drawn uniformly, and the round goes by the mixture D that may still be the best and gives most to
x; "may be the best" is relaxed to

    D costs at most rho at c-,   and   D pays at least V- at r+,
    V-  = the most that a mixture pays at r-, if it costs at most rho at c+

Let L_1, L_2, .. be the lines of the upper hull of (0, 0) and the points (c-, r+), the level one at
the top included. Then D plays x with probability

    q = min{1, rho / c-(x), min_k (L_k(rho) - V-) / (L_k(c-(x)) - r+(x))}

and with the rest the best mixture at c-, r+ that costs (rho - q c-(x)) / (1 - q): a mixture pays at
most min_k L_k of what it costs, so the program is the least of these lines, each linear in q.

Options: c_rad="theory" (C = ln(K T)) or a positive number.

Guarantee: of the form with phases and exact mixtures: O(ln(T / K)) (sqrt(C d K) (sqrt(OPT) + OPT /
sqrt(B)) + C d K (1 + OPT / B)) short of the optimum OPT of the linear program on the true means,
with d limits, time among them. Of the relaxed form it is a sketch: the proof needs only that the
sets shrink and hold the best, that their mixtures cost at most rho at c- and pay V- at r+, and that
they have few arms; at most 3 here.

Departures from the paper: relaxed, as said, because its authors leave open how to compute the rule
(Remark 4.2); no phases, as in the book; one resource besides time, where the paper takes several;
bounds that would cross stay as they are. Without a horizon T = ceil(B / c_min) and no round passes,
as in UCB-BwK; that is ours.

Scale: radii are in units of the largest cost of any arm. It goes on exploring all that may be best:
with ten arms or more it loses more than `ucb-bwk`, and on `routing`, where the best is a mixture,
less.

Needs B and T, or c_min. O(K) for each corner of the hull with every report, O(K) a round.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.55, 0.75, 0.9], prices=[0.02, 0.1, 0.6], prompts=4000
... )
>>> learnt = purse.simulate("balanced-exploration:c_rad=.1", world, 800, n_paths=10, seed=0)
>>> chance = purse.simulate("uniform", world, budget=800, n_paths=10, seed=0)
>>> bool(learnt.gain.mean() > 1.05 * chance.gain.mean())
True

References: A. Badanidiyuru, R. Kleinberg, A. Slivkins. Bandits with knapsacks. FOCS 2013; Journal
of the ACM 65, 2018; arXiv 1305.2545. A. Slivkins. Introduction to multi-armed bandits. arXiv
1904.07272.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import c_rad_of, cold, kernel, lower_radius, rounds_of, upper_radius
from purse.kernels.concave_hull import best_mixture, mask_points, shares_rule
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, RESOURCES, VERSION = "balanced-exploration", 1, 1, 1
SOURCE = "Badanidiyuru et al., FOCS 2013, sections 3 and 4, relaxed"


class BalancedParams(NamedTuple):
    c_rad: float
    pace: float  # rho
    skips: bool  # whether a round may pass without a pull


class BalancedState(NamedTuple):
    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    costs: Floats  # (K,)
    high_rewards: Floats  # (K,) r+
    low_rewards: Floats  # (K,) r-
    high_costs: Floats  # (K,) c+
    low_costs: Floats  # (K,) c-
    shares: Floats  # (K,) the mean of the D of all x


class BalancedScratch(NamedTuple):
    high_rewards: Floats  # (K,) this and the next four: under a mask
    low_rewards: Floats  # (K,)
    high_costs: Floats  # (K,)
    low_costs: Floats  # (K,)
    shares: Floats  # (K,)
    mixture: Floats  # (K,)


def params(problem: Problem, *, c_rad: float | str = "theory") -> BalancedParams:
    rounds = rounds_of(problem, NAME)
    radius = c_rad_of(c_rad, problem, 1, NAME)
    return BalancedParams(radius, problem.b / rounds, problem.horizon is not None)


def init(params: BalancedParams, problem: Problem) -> BalancedState:
    k = problem.n_arms
    pulls, rewards, costs, low_rewards, low_costs = np.zeros((5, k))
    high_rewards, high_costs, shares = np.ones(k), np.ones(k), np.full(k, 1 / k)
    return BalancedState(
        pulls, rewards, costs, high_rewards, low_rewards, high_costs, low_costs, shares
    )


def scratch(params: BalancedParams, problem: Problem) -> BalancedScratch:
    return BalancedScratch(*np.zeros((6, problem.n_arms)))


@kernel
def most_of(pace: float, value: float, costs: Floats, rewards: Floats, arm: int) -> float:
    """Return q: the most that a mixture may give to an arm, if it costs at most `pace` and pays at
    least `value`.
    """
    most = min(1.0, pace / costs[arm]) if costs[arm] > 0 else 1.0
    at_cost = 0.0
    at_reward = 0.0
    for i in range(costs.shape[0]):
        if costs[i] == 0.0:
            at_reward = max(at_reward, rewards[i])
    while True:  # edge by edge up the hull; the last edge is level
        slope = 0.0
        end = -1
        for i in range(costs.shape[0]):
            if costs[i] > at_cost and rewards[i] > at_reward:
                steep = (rewards[i] - at_reward) / (costs[i] - at_cost)
                if steep > slope:
                    slope = steep
                    end = i
        room = max(0.0, at_reward + slope * (pace - at_cost) - value)
        gap = at_reward + slope * (costs[arm] - at_cost) - rewards[arm]
        if room < most * gap:
            most = room / gap
        if end < 0:
            return most
        at_cost = costs[end]
        at_reward = rewards[end]


@kernel
def set_shares(pace: float, bounds: Any, mixture: Floats) -> None:
    """Write the mean of the mixtures that give most to one arm each, for the bounds of the state or
    of the scratch.
    """
    best_mixture(pace, bounds.high_costs, bounds.low_rewards, mixture)
    value = 0.0
    n_arms = 0
    for i in range(mixture.shape[0]):
        value += mixture[i] * bounds.low_rewards[i]
        bounds.shares[i] = 0.0
        n_arms += bounds.high_rewards[i] > 0  # a masked arm pays nothing
    for x in range(mixture.shape[0]):
        if bounds.high_rewards[x] > 0:
            q = most_of(pace, value, bounds.low_costs, bounds.high_rewards, x)
            bounds.shares[x] += q / n_arms
            if q < 1:
                rest = (pace - q * bounds.low_costs[x]) / (1 - q)
                best_mixture(rest, bounds.low_costs, bounds.high_rewards, mixture)
                for i in range(mixture.shape[0]):
                    bounds.shares[i] += (1 - q) * mixture[i] / n_arms


@cold
def mix_allowed(
    params: BalancedParams, state: BalancedState, scratch: BalancedScratch, now: Now
) -> None:
    """Write the shares of the allowed arms to the scratch."""
    for i in range(scratch.shares.shape[0]):
        scratch.high_rewards[i] = state.high_rewards[i]
        scratch.low_rewards[i] = state.low_rewards[i]
        scratch.high_costs[i] = state.high_costs[i]
        scratch.low_costs[i] = state.low_costs[i]
    mask_points(now, scratch.low_costs, scratch.high_rewards)
    mask_points(now, scratch.high_costs, scratch.low_rewards)
    set_shares(params.pace, scratch, scratch.mixture)


@kernel
def mix(params: BalancedParams, state: BalancedState, scratch: BalancedScratch, now: Now) -> bool:
    if now.masked:
        mix_allowed(params, state, scratch, now)
    return now.masked


choose, probabilities = shares_rule(mix)


@kernel
def shrink(lows: Floats, highs: Floats, i: int, low: float, high: float) -> None:
    """Narrow an arm's bounds, unless they would cross."""
    low = max(lows[i], low)
    high = min(highs[i], high)
    if low <= high:
        lows[i] = low
        highs[i] = high


@kernel
def update(
    params: BalancedParams, state: BalancedState, scratch: BalancedScratch, now: Now, play: Play
) -> None:
    i = play.arms[0]
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.costs[i] += play.costs[0, 0]
    n, c_rad = state.pulls[i], params.c_rad
    reward, cost = state.rewards[i], state.costs[i]
    low, high = lower_radius(reward, n, c_rad), upper_radius(reward, n, c_rad)
    shrink(state.low_rewards, state.high_rewards, i, low, high)
    low, high = lower_radius(cost, n, c_rad), upper_radius(cost, n, c_rad)
    shrink(state.low_costs, state.high_costs, i, low, high)
    set_shares(params.pace, state, scratch.mixture)
