r"""EXP3-IX.BwK: EXP3-IX on efficiency, for a guarantee with high probability where EXP3.BwK has one
in expectation.

The rule, with costs c in [c_min, 1], is that of EXP3-IX with

    x_t(i) = c_min r_t(i) / c_t(i)                         in [0, 1]
    T      = ceil(B / c_min), or the horizon where that is less

| symbol | code |
|---|---|
| L_t(i) | `state.losses[i]` |
| exp(-eta L_t(i)), shifted | leaves of `state.tree`, relative to the loss `state.low[0]` |
| 1 - x_t(i_t) | `loss` in `learn` |

Options: eta="rounds" (from T), "anytime" or a number from 0 up; see EXP3-IX.

Guarantee: with probability 1 - delta, for every delta, over the rounds that it paid for, its sum of
efficiencies falls short of any fixed arm's, in the same rounds, by at most 1 / c_min times the
bound of EXP3-IX for T rounds plus 1, about 2 sqrt(2 B K ln K / c_min^3) + sqrt(2 B K / (c_min^3 ln
K)) ln(2 / delta), whatever rewards and costs. (After the round in which the game ends let all x be
0: the guarantee of EXP3-IX then covers T rounds, and the last, refused one adds at most 1 / c_min.)
About reward it says what EXP3.BwK's says: nothing in general, and the same where all costs are one
constant.

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

from __future__ import annotations

from purse.compiler.jit import kernel
from purse.kernels.horizon import most_paid, rounds_of
from purse.kernels.random import U
from purse.policies.exp3_ix import (
    Exp3IxParams,
    Exp3IxState,
    choose,
    init,
    learn,
    probabilities,
    row,
    tuned,
)
from purse.types import Floats, Ints, Problem

__all__ = ["NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "exp3-ix.bwk"


def params(problem: Problem, *, eta: float | str = "rounds") -> Exp3IxParams:
    """Options: eta, "rounds", "anytime" or a number from 0 up."""
    problem.require(NAME, plays=1, n_resources=1)
    return tuned(
        problem.n_arms, problem.c_min, min(rounds_of(problem, NAME), most_paid(problem)), eta
    )


@kernel
def update(
    key: U,
    params: Exp3IxParams,
    state: Exp3IxState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    learn(params, state, t, arms[0], probs[0], 1 - params.c_min * rewards[0] / costs[0, 0])
