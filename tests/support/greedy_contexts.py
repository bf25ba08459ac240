"""A small policy that sees contexts: greedy on the regression of reward per cost, with exploration.

    p(i) = (1 - epsilon) 1{i has the largest predicted reward - price * cost} + epsilon / K

Options: epsilon; price; slope: arm i begins to expect slope * i more for each unit of the first
feature; learn=0: it stays with that; prior, the file of a warm start, and most, the reports
of an arm that it may count.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import kernel, uniform
from purse.kernels.prior import _read_prior
from purse.kernels.regression import Regression, add_report, new_regression, predict
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, CONTEXT = "greedy-contexts", 1, True


class GreedyParams(NamedTuple):
    n_arms: int
    epsilon: float
    price: float
    learn: bool
    start: Regression


class GreedyScratch(NamedTuple):
    z: Floats  # (n,)


def params(
    problem: Problem,
    *,
    epsilon: float = 0.1,
    price: float = 0.5,
    slope: float = 0.0,
    learn: int = 1,
    prior: str | None = None,
    most: float | None = None,
) -> GreedyParams:
    n_signals, n_numbers = 1 + problem.n_resources, problem.context_shape[1]
    start = new_regression(problem.n_arms, n_signals, n_numbers, 1.0)
    if prior is not None:
        start = _read_prior(prior).start(problem, ridge=1.0, most=most)
    elif n_numbers > 1:
        start.coefficients[:, 0, 0] = slope * np.arange(problem.n_arms)
    return GreedyParams(problem.n_arms, float(epsilon), float(price), bool(learn), start)


def init(params: GreedyParams, problem: Problem) -> Regression:
    return Regression(*(array.copy() for array in params.start))


def scratch(params: GreedyParams, problem: Problem) -> GreedyScratch:
    return GreedyScratch(np.zeros(problem.context_shape[1]))


@kernel
def best(params: GreedyParams, state: Regression, now: Now) -> int:
    arm = -1
    top = 0.0
    for i in range(params.n_arms):
        if not now.masked or now.allowed[i]:
            x = now.context[min(i, now.context.shape[0] - 1)]
            score = predict(state, i, 0, x) - params.price * predict(state, i, 1, x)
            if arm < 0 or score > top:
                arm = i
                top = score
    return arm


@kernel
def choose(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    arm = best(params, state, now)
    u = uniform(now.key, 0)
    play.arms[0] = arm
    play.probs[0] = 1.0
    if now.masked:
        return
    if u < params.epsilon:
        play.arms[0] = int(u * (params.n_arms / params.epsilon))
    rest = params.epsilon / params.n_arms
    play.probs[0] = rest + (1 - params.epsilon) * (play.arms[0] == arm)


@kernel
def update(params: Any, state: Any, scratch: Any, now: Now, play: Play) -> None:
    if not params.learn:
        return
    i = play.arms[0]
    x = now.context[min(i, now.context.shape[0] - 1)]
    add_report(state, i, x, scratch.z, play.rewards[0], play.costs[0])


@kernel
def probabilities(params: Any, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    arm = best(params, state, now)
    for i in range(params.n_arms):
        out[i] = params.epsilon / params.n_arms * (not now.masked)
    out[arm] += 1.0 if now.masked else 1 - params.epsilon
