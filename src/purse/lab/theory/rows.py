"""The linear optimum over the rows of a table: for each row a mixture of arms, or nothing.

    max sum_n sum_i y(n, i) r(n, i)   subject to   sum_n sum_i y(n, i) c_j(n, i) <= B_j,
    sum_i y(n, i) <= 1,  y >= 0

It is the linear relaxation of the multiple-choice knapsack. For one resource it is solved row by
row: the corners of each row's upper hull from (0, 0) are steps of (cost, reward), and the budget
buys steps in the order of reward per cost, the last one in part. For several resources HiGHS solves
it. Where the budget alone ends the game, rows come again without end and none may be skipped.
"""

from __future__ import annotations

import numpy as np

from purse.base import amounts
from purse.base.optional import scipy
from purse.lab.theory.fluid import SEVERAL
from purse.types import Floats, Ints


def hindsight(rewards: Floats, units: Ints | Floats, budget: float) -> tuple[float, float, float]:
    """Return the linear optimum of one who knows all rows (T, K): gain, what it spends, and how
    many rounds have a pull.
    """
    at_cost = np.zeros(len(rewards))
    at_reward = np.where(units == 0, rewards, 0).max(axis=1, initial=0.0)
    free, steps = at_reward.copy(), [np.zeros((4, 0))]
    while True:
        more_cost, more_reward = units - at_cost[:, None], rewards - at_reward[:, None]
        better = (more_cost > 0) & (more_reward > 0)
        slopes = np.divide(more_reward, more_cost, out=np.zeros_like(rewards), where=better)
        rows = np.flatnonzero(slopes.max(axis=1) > 0)
        if len(rows) == 0:
            break
        arms = slopes[rows].argmax(axis=1)
        first = (at_cost[rows] == 0) & (at_reward[rows] == 0)
        steps.append(
            np.stack([slopes[rows, arms], more_cost[rows, arms], more_reward[rows, arms], first])
        )
        at_cost[rows], at_reward[rows] = units[rows, arms], rewards[rows, arms]
    every = np.concatenate(steps, axis=1)
    _, costs, gains, firsts = every[:, np.argsort(-every[0], kind="stable")]
    # the budget buys the first steps, and one of them in part
    parts = np.clip((budget * amounts.UNIT - np.cumsum(costs) + costs) / costs, 0, 1)
    gain, pulls = float(free.sum() + parts @ gains), float((free > 0).sum() + parts @ firsts)
    return gain, float(parts @ costs) / amounts.UNIT, pulls


def solve_rows(rewards: Floats, costs: Floats, budgets: Floats, *, endless: bool = False) -> float:
    """Return the optimum for any number of resources, by HiGHS.

    rewards   of each row and arm, shape (N, K)
    costs     shape (N, K, d)
    budgets   shape (d,)
    endless   rows come equally often, as often as the budgets allow, and none may be skipped
    """
    linprog, sparse = scipy("optimize", SEVERAL).linprog, scipy("sparse", SEVERAL)
    n_rows, n_arms = rewards.shape
    choices = sparse.kron(sparse.eye(n_rows), np.ones((1, n_arms)), format="csr")
    limits = costs.reshape(n_rows * n_arms, -1).T
    if not endless:
        most = np.concatenate([np.ones(n_rows), budgets])
        found = linprog(-rewards.ravel(), sparse.vstack([choices, sparse.csr_matrix(limits)]), most)
        return -float(found.fun)
    # the last variable is how often each row comes
    times = sparse.csr_matrix(np.full((n_rows, 1), -1.0))
    found = linprog(
        np.append(-rewards.ravel(), 0.0),
        np.hstack([limits, np.zeros((len(limits), 1))]),
        budgets,
        sparse.hstack([choices, times]),
        np.zeros(n_rows),
    )
    return -float(found.fun)


def best_ratio(rewards: Floats, costs: Floats) -> tuple[float, Ints]:
    """Return the largest sum of rewards per sum of costs, and the arm of each row that gets it.

    rewards, costs   of each row and arm, shape (N, K); every cost is positive

    Dinkelbach: the arms that are best at a price have a ratio, which is the next price. Prices rise
    until the arms stay the same.
    """
    rows, price = np.arange(len(rewards)), -np.inf
    arms = (rewards / costs).argmax(axis=1)
    while True:
        ratio = float(rewards[rows, arms].sum() / costs[rows, arms].sum())
        if ratio <= price:
            return price, arms
        price, arms = ratio, (rewards - ratio * costs).argmax(axis=1)
