r"""EXP3.P.BwK: EXP3.P on efficiency, for a guarantee with high probability where EXP3.BwK has one
in expectation.

The rule, with costs c in [c_min, 1], is that of EXP3.P with

    x_t(i) = c_min r_t(i) / c_t(i)                         in [0, 1]
    T      = ceil(B / c_min), or the horizon where that is less

| symbol | code |
|---|---|
| G_t(i) | `state.gains[i]` |
| p_t(i) | `state.chances[i]` |
| exp(eta G_t(i)), relative to some gain | `state.weights[i]` |
| x_t(i_t) | `gain` in `learn` |

Options: delta=0.05, the probability with which the guarantee may fail.

Guarantee: with probability 1 - delta, over the rounds that it paid for, its sum of efficiencies
falls short of any fixed arm's, in the same rounds, by at most 5.15 sqrt(T K ln(K / delta)) / c_min
+ 1 / c_min, about 5.15 sqrt(B K ln(K / delta) / c_min^3), whatever rewards and costs. (After the
round in which the game ends let all x be 0: the guarantee of EXP3.P then covers T rounds, and the
last, refused one adds at most 1 / c_min.) About reward it says what EXP3.BwK's says: nothing in
general, and the same where all costs are one constant.

Departures from the paper: the paper leaves high probability open; feeding efficiencies to EXP3.P is
ours. Late reports as in EXP3.P.

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

from __future__ import annotations

from purse.compiler.jit import kernel
from purse.kernels.horizon import most_paid, rounds_of
from purse.kernels.random import U
from purse.policies.exp3_p import (
    Exp3PParams,
    Exp3PState,
    choose,
    init,
    learn,
    probabilities,
    row,
    tuned,
)
from purse.types import Floats, Ints, Problem

__all__ = ["NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "exp3.p.bwk"


def params(problem: Problem, *, delta: float = 0.05) -> Exp3PParams:
    """Options: delta, the probability with which the guarantee may fail."""
    problem.require(NAME, plays=1, n_resources=1)
    return tuned(
        problem.n_arms, problem.c_min, min(rounds_of(problem, NAME), most_paid(problem)), delta
    )


@kernel
def update(
    key: U,
    params: Exp3PParams,
    state: Exp3PState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    learn(params, state, arms[0], probs[0], params.c_min * rewards[0] / costs[0, 0])
