r"""UCB-BwK: in every round the best mixture of arms for bounds that favour each arm, at the pace at
which the budget lasts to the horizon.

The rule (Agrawal and Devanur, 2014), for one resource, budget B and T rounds. In every round arm i
is drawn with probability x(i), and with the rest nothing is done, where x solves

    max  sum_i u(i) x(i)
    subject to    sum_i l(i) x(i) <= (1 - eps) B / T,   sum_i x(i) <= 1,   x >= 0
    u(i)     = min{1, r(i) + rad(r(i), N(i))},     1 without a pull
    l(i)     = max{0, c(i) - rad(c(i), N(i))},     0 without a pull
    rad(x,N) = sqrt(C x / N) + C / N

with N, r, c the arm's pulls, mean reward and mean cost so far. `purse.kernels.concave_hull` solves
it: at most two different points are mixed.

Without a horizon T = ceil(B / c_min), which the budget cannot outlast, and no round passes: the
arms come with probability x(i) / sum_j x(j). Once every l(i) is at
least c_min, that is the arm with the largest u(i) / l(i).

Options: eps=0, "theory" (sqrt(C K / B) + C K / B + sqrt(C K T) / B) or a number in [0, 1);
c_rad="theory" (C = ln(K T)) or a positive number.

Guarantee: in i.i.d. worlds, with eps of that order, the gain falls short of the optimum OPT of the
linear program on the true means by at most O(sqrt(ln(K T))) (sqrt(K OPT) + OPT sqrt(K / B)) and
lower terms. With eps = 0 it may run out of budget some rounds early; with eps="theory" it leaves a
good part of a small budget unspent, and is refused if that would be all of it.

Departures from the paper: eps = 0 unless asked for; eps="theory" is that of SemiBwK-RRS (Theorem
3.1), which contains this rule; arms that stand at the same point share its probability; what is
done without a horizon is ours. Rule, bounds and rate are those of the book (Algorithm 3 of chapter
10, and formula 148); the paper itself was not read.

Scale: loses 92% of the optimum in suite 2, costs over three decades, where `replan` loses 4%: radii
are in units of the largest cost of any arm.

Needs B and T, or c_min. One linear program a report, O(K) for each edge of a hull; O(K) a round.

>>> import purse
>>> world = purse.worlds.routing(
...     quality=[0.55, 0.75, 0.9], prices=[0.02, 0.1, 0.6], prompts=4000
... )
>>> learnt = purse.simulate("ucb-bwk:c_rad=0.1", world, budget=800, n_paths=10, seed=0)
>>> chance = purse.simulate("uniform", world, budget=800, n_paths=10, seed=0)
>>> bool(learnt.gain.mean() > 1.05 * chance.gain.mean())
True

References: S. Agrawal, N. R. Devanur. Bandits with concave rewards and convex knapsacks. EC 2014.
A. Slivkins. Introduction to multi-armed bandits. arXiv 1904.07272.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import c_rad_of, kernel, lower_radius, pace_of, rounds_of, upper_radius
from purse.kernels.concave_hull import HullScratch, best_allowed_mixture, best_mixture, shares_rule
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, RESOURCES, VERSION = "ucb-bwk", 1, 1, 1
SOURCE = "Agrawal and Devanur, EC 2014, as in the book of Slivkins, chapter 10, Algorithm 3"


class UcbBwKParams(NamedTuple):
    c_rad: float
    pace: float
    skips: bool  # whether a round may pass without a pull


class UcbBwKState(NamedTuple):
    pulls: Floats  # (K,)
    rewards: Floats  # (K,)
    costs: Floats  # (K,)
    upper: Floats  # (K,) u
    lower: Floats  # (K,) l
    shares: Floats  # (K,) the x that follow from the bounds


def params(
    problem: Problem, *, eps: float | str = 0.0, c_rad: float | str = "theory"
) -> UcbBwKParams:
    rounds = rounds_of(problem, NAME)
    radius = c_rad_of(c_rad, problem, 1, NAME)
    return UcbBwKParams(radius, pace_of(eps, problem, rounds, radius), problem.horizon is not None)


def init(params: Any, problem: Problem) -> UcbBwKState:
    k = problem.n_arms
    pulls, rewards, costs, lower = np.zeros((4, k))
    return UcbBwKState(pulls, rewards, costs, np.ones(k), lower, np.full(k, 1 / k))


def scratch(params: UcbBwKParams, problem: Problem) -> HullScratch:
    return HullScratch(*np.zeros((3, problem.n_arms)))


@kernel
def mix(params: UcbBwKParams, state: UcbBwKState, scratch: HullScratch, now: Now) -> bool:
    if now.masked:
        best_allowed_mixture(now, params.pace, state.lower, state.upper, scratch)
    return now.masked


choose, probabilities = shares_rule(mix)


@kernel
def update(params: UcbBwKParams, state: UcbBwKState, scratch: Any, now: Now, play: Play) -> None:
    i = play.arms[0]
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.costs[i] += play.costs[0, 0]
    state.upper[i] = upper_radius(state.rewards[i], state.pulls[i], params.c_rad)
    state.lower[i] = lower_radius(state.costs[i], state.pulls[i], params.c_rad)
    best_mixture(params.pace, state.lower, state.upper, state.shares)
