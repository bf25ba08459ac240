r"""SemiBwK-RRS: up to m arms a round, or one of each group, by a linear program on bounds that
favour each arm, at the pace at which the budget lasts to the horizon.

The rule (Sankararaman and Slivkins, 2018), for one resource, budget B and T rounds. In every round

    max  sum_i u(i) x(i)
    subject to    sum_i l(i) x(i) <= (1 - eps) B / T,   0 <= x <= 1,   sum_i x(i) <= m
    u(i)     = min{1, r(i) + rad(r(i), N(i))},     1 without a pull
    l(i)     = max{0, c(i) - rad(c(i), N(i))},     0 without a pull
    rad(x,N) = sqrt(C x / N) + C / N

and a set of at most m arms is drawn that holds arm i with probability x(i); fewer are drawn if
fewer are worth it, or none. With groups, sum_i x(i) <= 1 holds in each group in place of the last
condition, and at most one arm of a group is drawn.

For a price p of cost the best x has the m largest of the u(i) - p l(i) that are positive, or the
largest of each group; arms with equal numbers share.

Options: groups=None or the group of each arm, whole numbers from 0 up, as in groups=[0,0,1]; there
may be as many groups as plays. eps=0, a number in [0, 1), or "theory" (sqrt(C K / B) + C K / B +
sqrt(C K T) / B); c_rad=1 (C), or "theory" (C = ln(K T)).

Guarantee: in i.i.d. worlds, with eps and C of theory, the gain falls short of the optimum OPT of
the linear program on the true means by at most O(sqrt(K)) (OPT / sqrt(B) + sqrt(T + OPT)) up to
logarithms, for B above 3 (C K + sqrt(C K T)), Theorem 3.1.

Departures from the paper: eps = 0 and C = 1 unless asked for; the paper's experiments have eps = 0
and C = 5.

Needs B and T. O(50 m K) a report, O(K) a round.

>>> import purse
>>> live = purse.Policy("semi-bwk", n_arms=4, plays=2, budget=100, cost_min=0.1, horizon=400)
>>> live.probabilities()
array([0.5, 0.5, 0.5, 0.5])
>>> live.tell(live.ask(), reward=[1, 0], cost=[0.5, 0.5])
True

Reference: K. A. Sankararaman, A. Slivkins. Combinatorial semi-bandits with knapsacks. AISTATS 2018.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.errors import invalid
from purse.kernels import add_report, cold, integer, kernel, pace_of, total, uniform
from purse.kernels.dependent_rounding import dependent_round
from purse.kernels.radius import c_rad_of, lower_radius, upper_radius
from purse.policies import ucb_bwk
from purse.policies.ucb_bwk import UcbBwKState
from purse.types import SKIP, Floats, Ints, Now, Play, Problem

NAME, RESOURCES = "semi-bwk", 1
SOURCE = "Sankararaman and Slivkins, AISTATS 2018, Algorithm 1 and Theorem 3.1"
HALVINGS = 50


class SemiBwKParams(NamedTuple):
    plays: int
    c_rad: float
    pace: float
    n_groups: int  # 0: no groups
    groups: Ints  # (K,)


class SemiBwKScratch(NamedTuple):
    rewards: Floats  # (K,) this and the next two: under a mask
    costs: Floats  # (K,)
    shares: Floats  # (K,)
    values: Floats  # (K,) u(i) - p l(i)
    dearer: Floats  # (K,) the x of a price that is too low
    marginals: Floats  # (K + 1,) the atom for nothing is last
    drawn: Ints  # (m,)


def params(
    problem: Problem,
    *,
    groups: list[int] | tuple[int, ...] | None = None,
    eps: float | str = 0.0,
    c_rad: float | str = 1.0,
) -> SemiBwKParams:
    rounds = problem.known_horizon(NAME)
    radius = c_rad_of(c_rad, problem, 1, NAME)
    of_arms = groups_of(groups, problem)
    return SemiBwKParams(
        problem.plays,
        radius,
        pace_of(eps, problem, rounds, radius),
        0 if groups is None else int(of_arms.max()) + 1,
        of_arms,
    )


def groups_of(groups: list[int] | tuple[int, ...] | None, problem: Problem) -> Ints:
    if groups is None:
        return np.zeros(problem.n_arms, np.int64)
    if not isinstance(groups, (list, tuple)) or len(groups) != problem.n_arms:
        raise invalid("groups", groups, f"must have a number for each of {problem.n_arms} arms")
    last = problem.plays - 1
    return np.array([integer("groups", group, low=0, high=last) for group in groups])


def init(params: SemiBwKParams, problem: Problem) -> UcbBwKState:
    state = ucb_bwk.init(params, problem)
    state.shares[:] = params.plays / problem.n_arms
    if params.n_groups:
        state.shares[:] = 1.0 / np.bincount(params.groups)[params.groups]
    return state


def scratch(params: SemiBwKParams, problem: Problem) -> SemiBwKScratch:
    rewards, costs, shares, values, dearer = np.zeros((5, problem.n_arms))
    marginals, drawn = np.zeros(problem.n_arms + 1), np.zeros(params.plays, np.int64)
    return SemiBwKScratch(rewards, costs, shares, values, dearer, marginals, drawn)


@cold
def solve(
    params: SemiBwKParams, scratch: SemiBwKScratch, rewards: Floats, costs: Floats, shares: Floats
) -> None:
    """Write the x of the linear program."""
    if take_best(params, scratch.values, 0.0, rewards, costs, shares) <= params.pace:
        return
    low, high = 0.0, params.plays / params.pace  # an arm worth this price costs less than a play
    for _ in range(HALVINGS):
        price = 0.5 * (low + high)
        if take_best(params, scratch.values, price, rewards, costs, shares) > params.pace:
            low = price
        else:
            high = price
    over = take_best(params, scratch.values, low, rewards, costs, scratch.dearer)
    spent = take_best(params, scratch.values, high, rewards, costs, shares)
    weight = (params.pace - spent) / (over - spent)
    for i in range(shares.shape[0]):
        shares[i] += weight * (scratch.dearer[i] - shares[i])


@kernel
def take_best(
    params: SemiBwKParams,
    values: Floats,
    price: float,
    rewards: Floats,
    costs: Floats,
    shares: Floats,
) -> float:
    """Write the best x at a price of cost; return what it costs."""
    for i in range(values.shape[0]):
        values[i] = rewards[i] - price * costs[i]
        shares[i] = 0.0
    if params.n_groups == 0:
        take_largest_values(params.plays, values, params.groups, 0, shares)
    for group in range(params.n_groups):
        take_largest_values(1, values, params.groups, group, shares)
    spent = 0.0
    for i in range(values.shape[0]):
        spent += costs[i] * shares[i]
    return spent


@kernel
def take_largest_values(
    count: int, values: Floats, groups: Ints, group: int, shares: Floats
) -> None:
    """Give a share of 1 to the `count` arms of a group with the largest positive values; equal
    ones share what is left for them.
    """
    below = math.inf
    room = float(count)
    while room > 0:
        top = 0.0
        equal = 0
        for i in range(values.shape[0]):
            if groups[i] == group and values[i] < below and values[i] >= top and values[i] > 0:
                equal = equal + 1 if values[i] == top else 1
                top = values[i]
        if equal == 0:
            break
        share = min(1.0, room / equal)
        for i in range(values.shape[0]):
            if groups[i] == group and values[i] == top:
                shares[i] = share
        room -= equal
        below = top


@cold
def solve_allowed(
    params: SemiBwKParams, state: UcbBwKState, scratch: SemiBwKScratch, now: Now
) -> None:
    """Write the x of the program without the masked arms: they are worth nothing."""
    for i in range(state.upper.shape[0]):
        scratch.rewards[i] = state.upper[i] if now.allowed[i] else 0.0
        scratch.costs[i] = state.lower[i]
    solve(params, scratch, scratch.rewards, scratch.costs, scratch.shares)


@kernel
def choose(
    params: SemiBwKParams, state: UcbBwKState, scratch: SemiBwKScratch, now: Now, play: Play
) -> None:
    shares = state.shares
    if now.masked:
        solve_allowed(params, state, scratch, now)
        shares = scratch.shares
    drawn = 0
    if params.n_groups > 0:
        drawn = draw_of_groups(params, now, shares, play)
    else:
        drawn = draw_set(now, shares, scratch, play)
    for k in range(drawn):
        play.probs[k] = shares[play.arms[k]]
    for k in range(drawn, params.plays):
        play.arms[k] = SKIP
        play.probs[k] = 1.0
    if drawn == 0:
        play.probs[0] = chance_of_nothing(params, shares)


@kernel
def draw_set(now: Now, shares: Floats, scratch: SemiBwKScratch, play: Play) -> int:
    """Draw a set, and return its size; one more atom, for nothing, makes the sum whole."""
    n_arms = shares.shape[0]
    every = total(shares)
    size = min(play.arms.shape[0], math.ceil(every))
    for i in range(n_arms):
        scratch.marginals[i] = shares[i]
    scratch.marginals[n_arms] = max(0.0, size - every)
    drawn = 0
    if size > 0:
        dependent_round(now.key, scratch.marginals, scratch.drawn[:size])
        for k in range(size):
            if scratch.drawn[k] < n_arms:
                play.arms[drawn] = scratch.drawn[k]
                drawn += 1
    return drawn


@kernel
def draw_of_groups(params: SemiBwKParams, now: Now, shares: Floats, play: Play) -> int:
    """Draw at most one arm of each group, with a number of its own; return how many."""
    drawn = 0
    for group in range(params.n_groups):
        u = uniform(now.key, group)
        upto = 0.0
        arm = -1
        for i in range(shares.shape[0]):
            if params.groups[i] == group and upto <= u:
                upto += shares[i]
                if u < upto:
                    arm = i
        if arm >= 0:
            play.arms[drawn] = arm
            drawn += 1
    return drawn


@cold
def chance_of_nothing(params: SemiBwKParams, shares: Floats) -> float:
    """Return the probability that no arm is drawn."""
    if params.n_groups == 0:
        return 1 - total(shares)
    chance = 1.0
    for group in range(params.n_groups):
        chance_of_none = 1.0
        for i in range(shares.shape[0]):
            if params.groups[i] == group:
                chance_of_none -= shares[i]
        chance *= chance_of_none
    return chance


@kernel
def update(
    params: SemiBwKParams, state: UcbBwKState, scratch: SemiBwKScratch, now: Now, play: Play
) -> None:
    for k in range(params.plays):
        i = play.arms[k]
        if i >= 0:
            add_report(state, i, play.rewards[k], play.costs[k, 0])
            state.upper[i] = upper_radius(state.rewards[i], state.pulls[i], params.c_rad)
            state.lower[i] = lower_radius(state.costs[i], state.pulls[i], params.c_rad)
    solve(params, scratch, state.upper, state.lower, state.shares)


@kernel
def probabilities(
    params: SemiBwKParams, state: UcbBwKState, scratch: SemiBwKScratch, now: Now, out: Floats
) -> None:
    shares = state.shares
    if now.masked:
        solve_allowed(params, state, scratch, now)
        shares = scratch.shares
    for i in range(out.shape[0]):
        out[i] = shares[i]
