r"""Epsilon-greedy: with probability epsilon any arm, else the one with the best reward per cost.

A policy of your own, as one file. Run it beside the shipped ones, or live:

    purse compare examples/epsilon_greedy.py:epsilon=0.05 exp3++.price -w misleading_ratio
    purse.Policy("examples/epsilon_greedy.py", n_arms=3, budget=100, cost_min=0.1)

    p(i) = epsilon / K + (1 - epsilon) 1{i is best},   best = argmax rewards(i) / costs(i)

with the sums of arm i's rewards and costs so far. Under a mask the best allowed arm counts, and the
probabilities are renormalised over the allowed arms.

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(K) a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.kernels import draw_allowed, kernel, number, restrict, uniform
from purse.types import Floats, Now, Play, Problem

NAME = "epsilon-greedy"
INITIAL_PULLS = True  # each arm once, in order, before the first choice
PLAYS, RESOURCES = 1, 1  # the most that it can play


class EpsilonGreedyParams(NamedTuple):
    n_arms: int
    epsilon: float


class EpsilonGreedyState(NamedTuple):
    rewards: Floats  # (K,)
    costs: Floats  # (K,)


class EpsilonGreedyScratch(NamedTuple):
    chances: Floats  # (K,)


def params(problem: Problem, *, epsilon: float = 0.1) -> EpsilonGreedyParams:
    """Options: epsilon, from 0 to 1."""
    return EpsilonGreedyParams(problem.n_arms, number("epsilon", epsilon, low=0, high=1))


def init(params: EpsilonGreedyParams, problem: Problem) -> EpsilonGreedyState:
    return EpsilonGreedyState(np.zeros(params.n_arms), np.zeros(params.n_arms))


def scratch(params: EpsilonGreedyParams, problem: Problem) -> EpsilonGreedyScratch:
    return EpsilonGreedyScratch(np.zeros(params.n_arms))


@kernel
def best_arm(state: EpsilonGreedyState, now: Now) -> int:
    best = -1
    for i in range(state.rewards.shape[0]):
        if now.masked and not now.allowed[i]:
            continue
        # ratios without dividing by zero
        if best < 0 or state.rewards[i] * state.costs[best] > state.rewards[best] * state.costs[i]:
            best = i
    return best


@kernel
def probabilities(
    params: EpsilonGreedyParams,
    state: EpsilonGreedyState,
    scratch: EpsilonGreedyScratch,
    now: Now,
    out: Floats,
) -> None:
    for i in range(params.n_arms):
        out[i] = params.epsilon / params.n_arms
    out[best_arm(state, now)] += 1 - params.epsilon
    if now.masked:
        restrict(now, out)


@kernel
def choose(
    params: EpsilonGreedyParams,
    state: EpsilonGreedyState,
    scratch: EpsilonGreedyScratch,
    now: Now,
    play: Play,
) -> None:
    if now.masked:
        probabilities(params, state, scratch, now, scratch.chances)
        draw_allowed(now, scratch.chances, play)
        return
    best = best_arm(state, now)
    explore = uniform(now.key, 0) < params.epsilon
    arm = int(uniform(now.key, 1) * params.n_arms) if explore else best
    play.arms[0] = arm
    play.probs[0] = params.epsilon / params.n_arms + (1 - params.epsilon) * (arm == best)


@kernel
def update(
    params: EpsilonGreedyParams,
    state: EpsilonGreedyState,
    scratch: EpsilonGreedyScratch,
    now: Now,
    play: Play,
) -> None:
    state.rewards[play.arms[0]] += play.rewards[0]
    state.costs[play.arms[0]] += play.costs[0, 0]
