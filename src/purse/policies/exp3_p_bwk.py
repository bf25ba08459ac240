r"""EXP3.P.BwK: EXP3.P on efficiency, for a guarantee with high probability where EXP3.BwK has one
in expectation.

The rule, with costs c in [c_min, 1], is that of EXP3.P with

    x_t(i) = c_min r_t(i) / c_t(i)                         in [0, 1]
    T      = ceil(B / c_min), or the horizon if that is less

Options: delta=0.05, the probability with which the guarantee may fail.

Guarantee: with probability 1 - delta, over the rounds that it paid for, its sum of efficiencies
falls short of any fixed arm's, in the same rounds, by at most 5.15 sqrt(T K ln(K / delta)) / c_min
+ 1 / c_min, about 5.15 sqrt(B K ln(K / delta) / c_min^3), whatever rewards and costs. About reward
it says what EXP3.BwK's says: nothing in general, and the same if all costs are one constant.

Departures from the paper: the paper leaves high probability open; feeding efficiencies to EXP3.P is
ours.

Needs B and c_min. O(K) a round with one exp, see EXP3.P.

>>> import purse
>>> policy = purse.Policy("exp3.p.bwk", n_arms=2, budget=100, cost_min=0.25, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=1, cost=0.25)
True
>>> bool(policy.probabilities()[ticket.arm] > 0.5)
True

Reference: as EXP3.P and EXP3.BwK.
"""

from typing import Any

from purse.kernels import kernel, most_paid, rounds_of
from purse.kernels.exp3_p import Exp3PParams, Exp3PState, learn_action, tuned
from purse.policies import exp3_p
from purse.types import Now, Play, Problem

NAME, PLAYS, RESOURCES, SOURCE = "exp3.p.bwk", 1, 1, "ours"
init, scratch = exp3_p.init, exp3_p.scratch
choose, probabilities = exp3_p.choose, exp3_p.probabilities


def params(problem: Problem, *, delta: float = 0.05) -> Exp3PParams:
    rounds = min(rounds_of(problem, NAME), most_paid(problem))
    return tuned(problem.n_arms, problem.c_min, rounds, delta)


@kernel
def update(params: Exp3PParams, state: Exp3PState, scratch: Any, now: Now, play: Play) -> None:
    gain = params.c_min * play.rewards[0] / play.costs[0, 0]
    learn_action(params, state, play.arms[0], play.probs[0], gain)
