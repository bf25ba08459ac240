r"""Budgeted Thompson sampling: efficiencies drawn from what is believed of each arm, and the arm
with the largest of them.

The rule (Xia, Li, Qin, Yu and Liu, 2015), with costs in (0, 1]. What is believed of an arm's mean
reward and mean cost are two Beta distributions, uniform at first. In every round, for every arm,

    theta_r(i) ~ Beta(1 + S_r(i), 1 + F_r(i)),    theta_c(i) ~ Beta(1 + S_c(i), 1 + F_c(i))

and the arm with the largest theta_r(i) / theta_c(i) is pulled. A reward r counts as a success, S_r
+= 1, with probability r, and as a failure, F_r += 1, otherwise; a cost likewise. So 0 and 1 count
as they are, and what lies between is made 0 or 1 by a toss.

| symbol | code |
|---|---|
| 1 + S_r(i), 1 + F_r(i), 1 + S_c(i), 1 + F_c(i) | `state.shapes[i]` |
| theta_r(i), theta_c(i) | `paid / (paid + unpaid)`, `dear / (dear + cheap)` |

`paid`, `unpaid`, `dear` and `cheap` are gammas.

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

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from purse.compiler.jit import cold, kernel
from purse.kernels.distributions import gamma, gamma_setup, prepare_gamma
from purse.kernels.random import SIDE, U, uniform
from purse.types import Floats, Ints, Problem

NAME = "budgeted-thompson"
REWARD, COST = 0, 2  # where the shapes of an arm's two distributions begin
TOSSES = 2  # the first numbers of a round, which `update` uses


class BudgetedThompsonParams(NamedTuple):
    n_arms: int


class BudgetedThompsonState(NamedTuple):
    shapes: Floats  # (P, K, 4)
    moulds: Floats  # (P, K, 4, 3) of each shape, see `purse.kernels.distributions`


def params(problem: Problem) -> BudgetedThompsonParams:
    """No options."""
    problem.require(NAME, plays=1, n_resources=1)
    return BudgetedThompsonParams(problem.n_arms)


def init(params: BudgetedThompsonParams, problem: Problem, n_paths: int) -> BudgetedThompsonState:
    sizes = (n_paths, params.n_arms, 4)
    return BudgetedThompsonState(np.ones(sizes), np.tile(gamma_setup(1.0), (*sizes, 1)))


@kernel
def row(state: BudgetedThompsonState, path: int) -> BudgetedThompsonState:
    return BudgetedThompsonState(state.shapes[path], state.moulds[path])


@kernel
def choose(
    key: U,
    params: BudgetedThompsonParams,
    state: BudgetedThompsonState,
    t: int,
    left: Floats,
    arms: Ints,
    probs: Floats,
) -> None:
    arms[0] = best_draw(key + U(TOSSES) * SIDE, state.moulds)
    probs[0] = 1.0


@cold
def best_draw(key: U, moulds: Floats) -> int:
    """The arm with the largest theta_r / theta_c. A call of its own, so that its constants stay in
    registers.
    """
    arm = 0
    # the best ratio so far is best / price: multiplying is quicker than dividing
    best, price = -1.0, 1.0
    for i in range(moulds.shape[0]):
        paid, key = gamma(key, moulds[i, 0])
        unpaid, key = gamma(key, moulds[i, 1])
        dear, key = gamma(key, moulds[i, 2])
        cheap, key = gamma(key, moulds[i, 3])
        over, under = paid * (dear + cheap), (paid + unpaid) * dear
        if over * price > best * under:
            best, price = over, under
            arm = i
    return arm


@kernel
def count(state: BudgetedThompsonState, arm: int, first: int, success: bool) -> None:
    k = first if success else first + 1
    state.shapes[arm, k] += 1
    prepare_gamma(state.shapes[arm, k], state.moulds[arm, k])


@kernel
def update(
    key: U,
    params: BudgetedThompsonParams,
    state: BudgetedThompsonState,
    t: int,
    arms: Ints,
    probs: Floats,
    rewards: Floats,
    costs: Floats,
) -> None:
    count(state, arms[0], REWARD, uniform(key, 0) < rewards[0])
    count(state, arms[0], COST, uniform(key, 1) < costs[0, 0])
