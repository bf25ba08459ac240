r"""Tsallis-INF: weights that fall with the square of the losses; best of both worlds, without
knowing the number of rounds. Blind to costs.

The rule (Zimmert and Seldin, 2021, for the Tsallis entropy of power 1/2), with losses l = 1 - r:

    w_t(i) = 4 / (eta_t (L_{t-1}(i) - x_t))^2,     x_t < min L_{t-1} such that they sum to 1
    iw     L_t(i) = L_{t-1}(i) + 1{i = i_t} l_t(i) / w_t(i),     eta_t = 2 / sqrt t
    rv     L_t(i) = L_{t-1}(i) + 1{i = i_t} (l_t(i) - b_t(i)) / w_t(i) + b_t(i),
           eta_t = 4 / sqrt t,     b_t(i) = 1/2 if w_t(i) >= eta_t^2, else 0

Options: estimator="iw", importance-weighted, or "rv", with reduced variance.

Guarantee: over any T rounds the expected reward falls short of any fixed arm's, in the same rounds,
by at most 4 sqrt(K T) + 1 whatever the rewards, and by sum_i (4 ln T + O(1)) / Delta_i for i.i.d.
rewards with one best arm; for "rv" by half of either, and O(K ln T) more. For a game with a budget
this bound says something only if all costs are one constant.

Departures from the paper: it has rounds and no budget; here play goes on until the budget is gone.
The constants of "rv" are recalled.

Needs nothing; plays any number of resources. O(K) a round and some four passes over the arms to
find x_t; twice that for "rv".

>>> import purse
>>> policy = purse.Policy("tsallis-inf", n_arms=2, budget=100, cost_min=0.5, seed=1)
>>> ticket = policy.ask()
>>> policy.tell(ticket, reward=0, cost=0.5)
True
>>> bool(policy.probabilities()[ticket.arm] < 0.5)
True

Reference: J. Zimmert, Y. Seldin. Tsallis-INF: an optimal algorithm for stochastic and adversarial
bandits. Journal of Machine Learning Research 22, 2021.
"""

from typing import NamedTuple

from purse.kernels import kernel
from purse.kernels.tsallis import scale_of, tsallis_rule
from purse.types import Play, Problem

NAME, PLAYS = "tsallis-inf", 1
SOURCE = "Zimmert and Seldin, JMLR 2021, as in public code (FAMAB); rates as in its Theorem 1"


class TsallisInfParams(NamedTuple):
    scale: float
    reduced: bool


def params(problem: Problem, *, estimator: str = "iw") -> TsallisInfParams:
    return TsallisInfParams(scale_of(estimator), estimator == "rv")


@kernel
def loss(params: TsallisInfParams, play: Play) -> float:
    return 1 - play.rewards[0]


init, scratch, choose, update, probabilities = tsallis_rule(loss)
