"""A policy file: `replan` with the exploration of a campaign before it, for simulations.

It draws the arms that `explore` draws, by the same rule: of n allowed arms, arm i with chance
share / n * min(1, c / m(i)), m(i) its largest cost and c the least of these; with even=1
with chance share / n. Otherwise `replan` chooses.
"""

import math
from typing import Any, NamedTuple

from purse.kernels import kernel, uniform
from purse.policies import replan
from purse.policies.replan import ReplanParams, ReplanState
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, PENDING = "explored-replan", 1, True
choose_planned, learn = replan.choose, replan.update


class ExploredParams(NamedTuple):
    """What exploration knows, and what `replan` does."""

    share: float
    even: bool
    cost_max: Floats  # (K,)
    planned: ReplanParams


def params(problem: Problem, *, share: float = 0.05, even: int = 0) -> ExploredParams:
    largest = problem.cost_max[:, 0] / problem.cost_max.max()
    return ExploredParams(share, bool(even), largest, replan.params(problem))


def init(params: ExploredParams, problem: Problem) -> ReplanState:
    return replan.init(params.planned, problem)


def scratch(params: ExploredParams, problem: Problem) -> Any:
    return replan.scratch(params.planned, problem)


@kernel
def choose(params: ExploredParams, state: ReplanState, scratch: Any, now: Now, play: Play) -> None:
    count, smallest = 0, math.inf
    for i in range(params.cost_max.shape[0]):
        if not now.masked or now.allowed[i]:
            count += 1
            smallest = min(smallest, params.cost_max[i])
    number = uniform(now.key, 1)  # `replan` takes number 0
    for i in range(params.cost_max.shape[0]):
        if not now.masked or now.allowed[i]:
            chance = params.share / count
            if not params.even:
                chance *= min(1.0, smallest / params.cost_max[i])
            if number < chance:
                play.arms[0] = i
                play.probs[0] = chance  # `replan` does not look at it
                return
            number -= chance
    choose_planned(params.planned, state, scratch, now, play)


@kernel
def update(params: ExploredParams, state: ReplanState, scratch: Any, now: Now, play: Play) -> None:
    learn(params.planned, state, scratch, now, play)
