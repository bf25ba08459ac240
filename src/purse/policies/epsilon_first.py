r"""Epsilon-first: the first part of the budget goes to all arms alike, the rest to the arm that
then pays most per unit.

The rule (Tran-Thanh, Chapman, Munoz de Cote, Rogers and Jennings, 2010), with constant costs c(i)
that are known, C = sum_i c(i), and x = max(epsilon B, C) to explore with (B, if B is less).
In round t

    explore   while E > 0 arms fit into what is left of x:    number (t - 1) mod E of these arms
    exploit   then, among the arms that can be paid for:      the largest r(i) / c(i)

with r the arm's mean reward over the exploration; ties are broken at random. So exploration takes
the arms in order, sweep after sweep. When no arm can be paid for, the game ends.

    epsilon  "theory": min(1, (C ln(K B / min c) / (2 B))^(1/3))             (the default)
             or a number in [0, 1]

Options: epsilon; learn="first" (exploration only) or "always" (r goes on learning).

Guarantee: for i.i.d. rewards and epsilon="theory", regret against B max_i e(i) of at most (3
epsilon B + 1) / min c + 1, up to the rounding of epsilon B to whole sweeps: O(B^(2/3)), with a
third root of log B.

Departures from the paper: its bound leaves epsilon to be tuned; "theory" is the choice that
Hoeffding's inequality asks for. That r stays as it is after the exploration is recalled, not
checked: "always" is the other reading. Exploration gets at least one sweep. If reports are late or
tickets voided (live), r learns from the first reports that cost x together, and from the first
report of each arm.

Needs the costs and B. O(K) a round.

>>> import purse
>>> world = purse.worlds.bernoulli(rewards=[0.9, 0.6], costs=[0.8, 0.3])
>>> run = purse.simulate("epsilon-first:epsilon=0.1", world, budget=1100, n_paths=2, seed=0)
>>> run.pulls
array([[ 100, 3400],
       [ 100, 3400]])

Reference: L. Tran-Thanh, A. Chapman, E. Munoz de Cote, A. Rogers, N. R. Jennings. Epsilon-first
policies for budget-limited multi-armed bandits. AAAI 2010.
"""

import math
from typing import NamedTuple

import numpy as np

from purse.kernels import choice, is_allowed, kernel, theory_or
from purse.kernels.index_rules import FIRST, OUT, Scores, largest_rule, room_for_scores
from purse.kernels.known_costs import KnownCosts, fits, known_costs, units_left
from purse.types import Floats, Ints, Now, Play, Problem

NAME, PLAYS, RESOURCES = "epsilon-first", 1, 1
SOURCE = "Tran-Thanh et al., AAAI 2010, as in public code (obriareus)"
scratch = room_for_scores
LEARN = ("first", "always")


class EpsilonFirstParams(NamedTuple):
    prices: KnownCosts
    budget: int  # units
    explore: int  # x, in units
    frozen: bool  # whether nothing is learnt after the exploration


class EpsilonFirstState(NamedTuple):
    pulls: Floats  # (K,) N, of the exploration
    rewards: Floats  # (K,)
    taken: Floats  # (K,) pulls in all
    learnt: Ints  # (1,) units of x that have been reported
    ratios: Floats  # (K,) r / c, `FIRST` before the first report


def params(
    problem: Problem, *, epsilon: float | str = "theory", learn: str = "first"
) -> EpsilonFirstParams:
    return params_for(NAME, problem, epsilon, learn)


def params_for(
    policy: str, problem: Problem, epsilon: float | str, learn: str
) -> EpsilonFirstParams:
    priced, budget = known_costs(problem, policy), int(problem.budget[0])
    part = epsilon_of(epsilon, priced.costs, problem.b)
    explore = min(budget, max(round(part * budget), int(priced.units[priced.caps > 0].sum())))
    return EpsilonFirstParams(priced, budget, explore, choice("learn", learn, LEARN) == "first")


def epsilon_of(epsilon: float | str, costs: Floats, b: float) -> float:
    log = math.log(max(1.0, len(costs) * b / float(costs.min())))
    theory = min(1.0, (float(costs.sum()) * log / (2 * b)) ** (1 / 3))
    return theory_or("epsilon", epsilon, "a number from 0 to 1", lambda: theory, low=0, high=1)


def init(params: EpsilonFirstParams, problem: Problem) -> EpsilonFirstState:
    k = problem.n_arms
    pulls, rewards, taken = np.zeros((3, k))
    return EpsilonFirstState(pulls, rewards, taken, np.zeros(1, np.int64), np.full(k, FIRST))


@kernel
def score_all(
    params: EpsilonFirstParams, state: EpsilonFirstState, scratch: Scores, now: Now
) -> None:
    purse = units_left(params.prices, now.left)
    remaining = params.explore - (params.budget - purse)
    exploring = 0
    for i in range(scratch.scores.shape[0]):
        exploring += fits(params.prices, state.taken, i, remaining) and is_allowed(now, i)
    if exploring > 0:
        turn = (now.t - 1) % exploring
        for i in range(scratch.scores.shape[0]):
            here = fits(params.prices, state.taken, i, remaining) and is_allowed(now, i)
            scratch.scores[i] = FIRST if here and turn == 0 else OUT
            turn -= here
    else:
        for i in range(scratch.scores.shape[0]):
            fit = fits(params.prices, state.taken, i, purse)
            scratch.scores[i] = state.ratios[i] if fit else OUT


choose, probabilities = largest_rule(score_all)


@kernel
def update(
    params: EpsilonFirstParams, state: EpsilonFirstState, scratch: Scores, now: Now, play: Play
) -> None:
    i = play.arms[0]
    state.taken[i] += 1
    learnt = state.learnt[0] + params.prices.units[i]
    if params.frozen and state.pulls[i] > 0 and learnt > params.explore:
        return
    state.learnt[0] = learnt
    state.pulls[i] += 1
    state.rewards[i] += play.rewards[0]
    state.ratios[i] = state.rewards[i] / state.pulls[i] / params.prices.costs[i]
