r"""Epsilon-greedy: with probability epsilon any arm, else the one with the best reward per cost so
far.

A policy of your own, as one file. Run it beside the shipped ones, or live:

    purse compare examples/epsilon_greedy.py:epsilon=0.05 exp3++.price -w misleading_ratio
    purse.Policy("examples/epsilon_greedy.py", n_arms=3, budget=100, cost_min=0.1)

    p(i) = epsilon / K + (1 - epsilon) 1{i is best},   best = argmax (sum of rewards) / (sum of
    costs)

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(K) a round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.base import validation
from purse.compiler.jit import kernel
from purse.kernels.random import U, uniform
from purse.types import Floats, Ints, Problem

NAME = "epsilon-greedy"
INITIAL_PULLS = True  # each arm once, in order, before the first choice


class EpsilonGreedyParams(NamedTuple):
    n_arms: int
    epsilon: float


class EpsilonGreedyState(NamedTuple):
    rewards: Floats  # (P, K)
    costs: Floats  # (P, K)


def params(problem: Problem, *, epsilon: float = 0.1) -> EpsilonGreedyParams:
    """Options: epsilon, from 0 to 1."""
    problem.require(NAME, plays=1, n_resources=1)
    return EpsilonGreedyParams(problem.n_arms, validation.number("epsilon", epsilon, low=0, high=1))


def init(params: EpsilonGreedyParams, problem: Problem, n_paths: int) -> EpsilonGreedyState:
    return EpsilonGreedyState(
        np.zeros((n_paths, params.n_arms)), np.zeros((n_paths, params.n_arms))
    )


@kernel
def row(state: EpsilonGreedyState, path: int) -> EpsilonGreedyState:
    return EpsilonGreedyState(state.rewards[path], state.costs[path])


@kernel
def best_arm(state: EpsilonGreedyState) -> int:
    best = 0
    for i in range(1, state.rewards.shape[0]):
        # ratios without dividing by zero
        if state.rewards[i] * state.costs[best] > state.rewards[best] * state.costs[i]:
            best = i
    return best


@kernel
def choose(
    key: U,
    params: EpsilonGreedyParams,
    state: EpsilonGreedyState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    best = best_arm(state)
    arms[0] = int(uniform(key, 1) * params.n_arms) if uniform(key, 0) < params.epsilon else best
    probs[0] = params.epsilon / params.n_arms + (1 - params.epsilon) * (arms[0] == best)


@kernel
def update(
    key: U,
    params: EpsilonGreedyParams,
    state: EpsilonGreedyState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    state.rewards[arms[0]] += rewards[0]
    state.costs[arms[0]] += costs[0, 0]


@kernel
def probabilities(
    params: EpsilonGreedyParams, state: EpsilonGreedyState, t: int, left: Floats, out: Floats
) -> None:
    out[:] = params.epsilon / params.n_arms
    out[best_arm(state)] += 1 - params.epsilon
