r"""The best mixture of arms under one limit, in closed form: a linear program that is a walk along
an upper hull.

    max  sum_i rewards(i) x(i)
    subject to    sum_i costs(i) x(i) <= limit,   sum_i x(i) <= 1,   x >= 0

Doing nothing is the point (0, 0), arm i the point (costs(i), rewards(i)); an optimum lies on the
upper hull of these points at `limit`. The walk starts at the best point that costs nothing and
takes the steepest way up, edge by edge, until an edge ends beyond the limit or nothing is higher:
O(K) an edge, and no memory.

Arms that share a corner share its weight equally. Of several corners that are equally good the
cheapest is taken. Under a mask a masked arm becomes a point that no hull has.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from purse.compiler.kernel import attach, cold, kernel
from purse.kernels.random import uniform
from purse.kernels.weights import pick, total
from purse.types import SKIP, Floats, Now, Play

mix: Any = None  # bound by `shares_rule`


class HullScratch(NamedTuple):
    """Room for the best mixture under a mask."""

    costs: Floats  # (K,)
    rewards: Floats  # (K,)
    shares: Floats  # (K,)


@kernel
def best_mixture(limit: float, costs: Floats, rewards: Floats, shares: Floats) -> float:
    """Write the x of an optimum, for limit > 0 and costs and rewards >= 0; return their sum.

    What is missing to 1 is for doing nothing.
    """
    low_cost = 0.0
    low_reward = 0.0
    for i in range(costs.shape[0]):
        if costs[i] == 0.0:
            low_reward = max(low_reward, rewards[i])
    high_cost = low_cost
    high_reward = low_reward
    weight = 0.0  # of the high end
    while True:
        steepest = 0.0
        for i in range(costs.shape[0]):
            if costs[i] > low_cost and rewards[i] > low_reward:
                slope = (rewards[i] - low_reward) / (costs[i] - low_cost)
                if slope > steepest:
                    steepest = slope
                    high_cost = costs[i]
                    high_reward = rewards[i]
        if steepest == 0.0:
            break
        if high_cost > limit:
            weight = (limit - low_cost) / (high_cost - low_cost)
            break
        low_cost = high_cost
        low_reward = high_reward
    n_low = 0
    n_high = 0
    for i in range(costs.shape[0]):
        n_low += costs[i] == low_cost and rewards[i] == low_reward
        n_high += costs[i] == high_cost and rewards[i] == high_reward
    total = 0.0
    for i in range(costs.shape[0]):
        share = 0.0
        if costs[i] == low_cost and rewards[i] == low_reward:
            share = (1 - weight) / n_low
        elif weight > 0.0 and costs[i] == high_cost and rewards[i] == high_reward:
            share = weight / n_high
        shares[i] = share
        total += share
    return total


@cold
def mask_points(now: Now, costs: Floats, rewards: Floats) -> None:
    """Turn masked arms into points that no mixture takes."""
    for i in range(costs.shape[0]):
        if not now.allowed[i]:
            costs[i] = math.inf
            rewards[i] = 0.0


@cold
def best_allowed_mixture(
    now: Now, limit: float, costs: Floats, rewards: Floats, room: HullScratch
) -> None:
    """Write to `room.shares` the x of an optimum among the allowed arms."""
    for i in range(costs.shape[0]):
        room.costs[i] = costs[i]
        room.rewards[i] = rewards[i]
    mask_points(now, room.costs, room.rewards)
    best_mixture(limit, room.costs, room.rewards, room.shares)


@kernel
def draw_shares(now: Now, skips: bool, shares: Floats, play: Play) -> None:
    """Draw an arm by its share; with what is missing to 1 let the round pass or, if that may not
    be, draw again.
    """
    every = total(shares)
    u = uniform(now.key, 0) * (1.0 if skips else every)
    if skips and u >= every:
        play.arms[0] = SKIP
        play.probs[0] = 1 - every
    else:
        arm = pick(u, shares)
        play.arms[0] = arm
        play.probs[0] = shares[arm] / (1.0 if skips else every)


@kernel
def show_shares(skips: bool, shares: Floats, out: Floats) -> None:
    """Write the probabilities of `draw_shares`."""
    every = 1.0 if skips else total(shares)
    for i in range(shares.shape[0]):
        out[i] = shares[i] / every


def _choose(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    shares = scratch.shares if mix(params, state, scratch, now) else state.shares
    draw_shares(now, params.skips, shares, play)


def _share(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    shares = scratch.shares if mix(params, state, scratch, now) else state.shares
    show_shares(params.skips, shares, out)


def shares_rule(mix: Callable[..., bool]) -> Any:
    """Return choose and probabilities of a rule that draws by the shares of its state.

    mix   (params, state, scratch, now) writes others to the scratch, if the round needs others, and
          returns whether it did
    """
    return attach(_choose, mix=mix), attach(_share, mix=mix)
