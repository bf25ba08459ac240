r"""Tsallis-INF.BwK: Tsallis-INF on efficiency, for costs and rewards that an adversary may choose.

The rule of `tsallis-inf` (Zimmert and Seldin, 2021) with costs c in [c_min, 1] and

    l_t(i) = 1 - c_min r_t(i) / c_t(i)          in [0, 1]

| symbol | code |
|---|---|
| L_t(i), the sum of estimated losses | `state.losses[i]` |
| w_t(i) | `state.weights[i]`, from `purse.kernels.tsallis.tsallis_weights` |
| eta_t | `params.scale` / sqrt t |

Options: estimator="iw", importance-weighted, or "rv", with reduced variance. On the five Bernoulli
arms of `purse.compare`, B = 10^4, the regret is about 420 with "iw" and 190 with "rv" (EXP3++.BwK:
980).

Guarantee: over n rounds the expected efficiency falls short of any fixed arm's, in the same rounds,
by at most (4 sqrt(K n) + 1) / c_min ("iw"): the bound of Tsallis-INF over c_min, without the ln K
of EXP3.BwK. It is a statement about the sum of r / c. With random costs that is not what a budget
buys (`misleading_ratio`), and for the reward that a fixed arm would have earned in rounds of its
own no such bound holds (`two_worlds`).

Departures from the paper: Tsallis-INF has no costs; the losses are ours. See `tsallis-inf` for late
reports.

Needs c_min, not B. O(K) a round and some four passes over the arms; twice that for "rv".

>>> import purse
>>> policy = purse.Policy("tsallis-inf.bwk", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=1, cost=1)
True
>>> round(float(policy.probabilities()[ticket.arm]), 3)
0.281

Reference: J. Zimmert, Y. Seldin. Tsallis-INF: an optimal algorithm for stochastic and adversarial
bandits. Journal of Machine Learning Research 22, 2021.
"""

from __future__ import annotations

from typing import NamedTuple

from purse.compiler.jit import kernel
from purse.kernels.random import U
from purse.kernels.tsallis import TsallisState, choose, init, learn, probabilities, row, scale_of
from purse.types import Floats, Ints, Problem

__all__ = ["NAME", "choose", "init", "params", "probabilities", "row", "update"]

NAME = "tsallis-inf.bwk"


class TsallisInfBwKParams(NamedTuple):
    c_min: float
    scale: float
    reduced: bool


def params(problem: Problem, *, estimator: str = "iw") -> TsallisInfBwKParams:
    """Options: estimator (iw | rv)."""
    problem.require(NAME, plays=1, n_resources=1)
    return TsallisInfBwKParams(problem.c_min, scale_of(estimator), estimator == "rv")


@kernel
def update(
    key: U,
    params: TsallisInfBwKParams,
    state: TsallisState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    learn(params, state, t, arms[0], probs[0], 1 - params.c_min * rewards[0] / costs[0, 0])
