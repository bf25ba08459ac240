r"""Uniform: every arm equally likely in every round; the yardstick for having learnt nothing.

With m plays a round, each set of m arms is equally likely (one pass of selection sampling), so
p(i) = m / K. Under a mask the same holds for the allowed arms; if they are fewer than m, all of
them are played, and the last plays are skipped.

Guarantee: none. Departures from the paper: not in the paper. Needs nothing. O(1) a round; O(K) with
several plays.

>>> import purse
>>> purse.Policy("uniform", n_arms=4, budget=10, cost_min=0.5).probabilities()
array([0.25, 0.25, 0.25, 0.25])
"""

from typing import Any, NamedTuple

from purse.kernels import kernel, show_any, take_any
from purse.kernels import uniform as draw_uniform
from purse.policies import fixed
from purse.types import Floats, Now, Play, Problem

NAME = "uniform"
init, update = fixed.init, fixed.update


class UniformParams(NamedTuple):
    n_arms: int
    plays: int


def params(problem: Problem) -> UniformParams:
    return UniformParams(problem.n_arms, problem.plays)


@kernel
def choose(params: UniformParams, state: Any, scratch: Any, now: Now, play: Play) -> None:
    if now.masked:
        take_any(now, play)
        return
    if params.plays == 1:
        play.arms[0] = int(draw_uniform(now.key, 0) * params.n_arms)
        play.probs[0] = 1 / params.n_arms
        return
    count = 0
    for i in range(params.n_arms):
        if draw_uniform(now.key, i) * (params.n_arms - i) < params.plays - count:
            play.arms[count] = i
            play.probs[count] = params.plays / params.n_arms
            count += 1


@kernel
def probabilities(params: UniformParams, state: Any, scratch: Any, now: Now, out: Floats) -> None:
    show_any(now, params.plays, out)
