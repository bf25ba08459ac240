r"""Budgeted Thompson sampling: efficiencies drawn from what is believed of each arm, and the arm
with the largest of them.

The rule (Xia, Li, Qin, Yu and Liu, 2015), with costs in (0, 1]. What is believed of an arm's mean
reward and mean cost are two Beta distributions, uniform at first. In every round, for every arm,

    theta_r(i) ~ Beta(1 + S_r(i), 1 + F_r(i)),    theta_c(i) ~ Beta(1 + S_c(i), 1 + F_c(i))

and the arm with the largest theta_r(i) / theta_c(i) is pulled. A reward r counts as a success, S_r
+= 1, with probability r, and as a failure, F_r += 1, otherwise; a cost likewise. So 0 and 1 count
as they are, and what lies between is made 0 or 1 by a toss.

Guarantee: regret O(log B) for i.i.d. rewards and costs, with a constant that depends on the gaps
between the efficiencies.

Departures from the paper: none known.

Needs nothing: neither B nor c_min. O(K) a round, with four gammas an arm, so slower than an index.
It draws its arm without computing probabilities, and each arm comes with probability 1 on its
ticket.

>>> import purse
>>> world = purse.worlds.two_point(rewards=[0.9, 0.3], costs=[0.75, 0.75], cost_min=0.5)
>>> run = purse.simulate("budgeted-thompson", world, budget=1000, n_paths=10, seed=0)
>>> bool(run.pulls[:, 0].mean() > 20 * run.pulls[:, 1].mean())
True

Reference: Y. Xia, H. Li, T. Qin, N. Yu, T.-Y. Liu. Thompson sampling for budgeted multi-armed
bandits. IJCAI 2015.
"""

from typing import Any, NamedTuple

import numpy as np

from purse.kernels import SIDE, U, cold, kernel, uniform
from purse.kernels.distributions import gamma, gamma_setup, prepare_gamma
from purse.types import Floats, Now, Play, Problem

NAME, PLAYS, RESOURCES = "budgeted-thompson", 1, 1
SOURCE = "Xia et al., IJCAI 2015, as in code of Heyden et al. (OmegaUCB)"
REWARD, COST = 0, 2  # where the shapes of an arm's two distributions begin
TOSSES = 2  # the first numbers of a round, which `update` uses


class ThompsonParams(NamedTuple):
    n_arms: int


class ThompsonState(NamedTuple):
    shapes: Floats  # (K, 4) 1 + S_r, 1 + F_r, 1 + S_c, 1 + F_c
    moulds: Floats  # (K, 4, 3) of each shape, see `purse.kernels.distributions`


def params(problem: Problem) -> ThompsonParams:
    return ThompsonParams(problem.n_arms)


def init(params: ThompsonParams, problem: Problem) -> ThompsonState:
    sizes = params.n_arms, 4
    return ThompsonState(np.ones(sizes), np.tile(gamma_setup(1.0), (*sizes, 1)))


@kernel
def choose(params: Any, state: ThompsonState, scratch: Any, now: Now, play: Play) -> None:
    if now.masked:
        play.arms[0] = best_allowed_draw(now, state.moulds)
    else:
        play.arms[0] = best_draw(now.key + U(TOSSES) * SIDE, state.moulds)
    play.probs[0] = 1.0


@kernel
def draw_ratio(key: U, mould: Floats) -> tuple[float, float, U]:
    """Draw theta_r / theta_c of an arm, as two numbers to be divided, and the next key."""
    paid, key = gamma(key, mould[0])
    unpaid, key = gamma(key, mould[1])
    dear, key = gamma(key, mould[2])
    cheap, key = gamma(key, mould[3])
    return paid * (dear + cheap), (paid + unpaid) * dear, key


@cold
def best_draw(key: U, moulds: Floats) -> int:
    """Return the arm with the largest theta_r / theta_c.

    A call of its own, so that its constants stay in registers.
    """
    arm = 0
    # the best ratio so far is best / price: multiplying is quicker than dividing
    best, price = -1.0, 1.0
    for i in range(moulds.shape[0]):
        over, under, key = draw_ratio(key, moulds[i])
        if over * price > best * under:
            best, price = over, under
            arm = i
    return arm


@cold
def best_allowed_draw(now: Now, moulds: Floats) -> int:
    """Do the same under a mask."""
    arm = -1
    best, price = -1.0, 1.0
    key = now.key + U(TOSSES) * SIDE
    for i in range(moulds.shape[0]):
        if now.allowed[i]:
            over, under, key = draw_ratio(key, moulds[i])
            if over * price > best * under:
                best, price = over, under
                arm = i
    return arm


@kernel
def count(state: ThompsonState, arm: int, first: int, success: bool) -> None:
    k = first if success else first + 1
    state.shapes[arm, k] += 1
    prepare_gamma(state.shapes[arm, k], state.moulds[arm, k])


@kernel
def update(params: Any, state: ThompsonState, scratch: Any, now: Now, play: Play) -> None:
    count(state, play.arms[0], REWARD, uniform(now.key, 0) < play.rewards[0])
    count(state, play.arms[0], COST, uniform(now.key, 1) < play.costs[0, 0])
