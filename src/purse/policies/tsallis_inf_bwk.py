r"""Tsallis-INF.BwK: Tsallis-INF on efficiency, for costs and rewards that an adversary may choose.

The rule of `tsallis-inf` (Zimmert and Seldin, 2021) with costs c in [c_min, 1] and

    l_t(i) = 1 - c_min r_t(i) / c_t(i)          in [0, 1]

Options: estimator="iw", importance-weighted, or "rv", with reduced variance. On the five Bernoulli
arms of `purse.compare`, B = 10^4, the regret is about 420 with "iw" and 190 with "rv" (EXP3++.BwK:
980).

Guarantee: over n rounds the expected efficiency falls short of any fixed arm's, in the same rounds,
by at most (4 sqrt(K n) + 1) / c_min ("iw"): the bound of Tsallis-INF over c_min, without the ln K
of EXP3.BwK. It is a statement about the sum of r / c. With random costs that is not what a budget
buys (`misleading_ratio`), and for the reward that a fixed arm would have earned in rounds of its
own no such bound holds (`two_worlds`).

Departures from the paper: Tsallis-INF has no costs; the losses are ours.

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

from typing import NamedTuple

from purse.kernels import kernel
from purse.kernels.tsallis import scale_of, tsallis_rule
from purse.types import Play, Problem

NAME, PLAYS, RESOURCES, SOURCE = "tsallis-inf.bwk", 1, 1, "ours"


class TsallisInfBwKParams(NamedTuple):
    c_min: float
    scale: float
    reduced: bool


def params(problem: Problem, *, estimator: str = "iw") -> TsallisInfBwKParams:
    return TsallisInfBwKParams(problem.c_min, scale_of(estimator), estimator == "rv")


@kernel
def loss(params: TsallisInfBwKParams, play: Play) -> float:
    return 1 - params.c_min * play.rewards[0] / play.costs[0, 0]


init, scratch, choose, update, probabilities = tsallis_rule(loss)
