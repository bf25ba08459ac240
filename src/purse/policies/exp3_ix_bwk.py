r"""EXP3-IX.BwK: EXP3-IX on efficiency, for a guarantee with high probability where EXP3.BwK has one
in expectation.

The rule, with costs c in [c_min, 1], is that of EXP3-IX with

    x_t(i) = c_min r_t(i) / c_t(i)                         in [0, 1]
    T      = ceil(B / c_min), or the horizon if that is less

Options: eta="rounds" (from T), "anytime" or a number from 0 up; see EXP3-IX.

Guarantee: with probability 1 - delta, for every delta, over the rounds that it paid for, its sum of
efficiencies falls short of any fixed arm's, in the same rounds, by at most 1 / c_min times the
bound of EXP3-IX for T rounds plus 1, whatever rewards and costs. That is about 2 sqrt(2 B K ln K /
c_min^3) + sqrt(2 B K / (c_min^3 ln K)) ln(2 / delta). About reward it says what EXP3.BwK's says:
nothing in general, and the same if all costs are one constant.

Departures from the paper: the paper leaves high probability open; feeding efficiencies to EXP3-IX
is ours.

Needs B and c_min; anytime only c_min. O(log K) a round, anytime O(K) with K exps.

>>> import purse
>>> policy = purse.Policy("exp3-ix.bwk", n_arms=2, budget=100, cost_min=0.25, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=1, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] < 0.5)
True

Reference: as EXP3-IX and EXP3.BwK.
"""

from typing import Any

from purse.kernels import kernel, most_paid, rounds_of
from purse.policies import exp3_ix
from purse.policies.exp3_ix import Exp3IxParams, Exp3IxState, learn, tuned
from purse.types import Now, Play, Problem

NAME, PLAYS, RESOURCES, SOURCE = "exp3-ix.bwk", 1, 1, "ours"
init, scratch = exp3_ix.init, exp3_ix.scratch
choose, probabilities = exp3_ix.choose, exp3_ix.probabilities


def params(problem: Problem, *, eta: float | str = "rounds") -> Exp3IxParams:
    rounds = min(rounds_of(problem, NAME), most_paid(problem))
    return tuned(problem.n_arms, problem.c_min, rounds, eta)


@kernel
def update(params: Exp3IxParams, state: Exp3IxState, scratch: Any, now: Now, play: Play) -> None:
    loss = 1 - params.c_min * play.rewards[0] / play.costs[0, 0]
    learn(params, state, now.t, play.arms[0], play.probs[0], loss)
