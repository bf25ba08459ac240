"""The best mixture of arms with a budget and a horizon: what a player gains in expectation.

    lp_optimum   max sum_i mu(i) x(i)  subject to  sum_i rho_j(i) x(i) <= B_j,  sum_i x(i) <= T,
                 x >= 0

In an i.i.d. world `lp_optimum` bounds the gain of every policy from above, up to one reward. For
one resource it has a closed form: the optimum mixes at most two arms. For several HiGHS solves the
linear program.

The optimum over the rows of a table has, for each row, a mixture of arms or nothing:

    max sum_n sum_i y(n, i) r(n, i)   subject to   sum_n sum_i y(n, i) c_j(n, i) <= B_j,
    sum_i y(n, i) <= 1,  y >= 0

For one resource it is solved row by row: the corners of each row's upper hull from (0, 0) are steps
of (cost, reward), and the budget buys steps in the order of reward per cost, the last one in part.
"""

from typing import Any, NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.base.optional import scipy
from purse.errors import InvalidInput
from purse.types import Floats, Ints, World

__all__ = ["lp_optimum"]  # for users
_SEVERAL = "the optimum for several resources"


class FluidOptimum(NamedTuple):
    """The value of a linear program and how often each arm is pulled in its solution."""

    value: float
    plays: Floats  # (K,) expected pulls of each arm


def lp_optimum(world: str | World, budget: Any, *, horizon: int | None = None) -> FluidOptimum:
    """Return the largest gain of a player that knows the means and keeps to budgets on average.

    budget    one amount, or one per resource, shape (d,)
    horizon   the number of rounds; None: the world's own

    Raise `InvalidInput` when the means of the world change from round to round, and `MissingExtra`
    when there are several resources and the extra `lab` is not installed.

    >>> lp_optimum("bernoulli:rewards=[.9,.6],costs=[.8,.3]", budget=50, horizon=100).value
    72.0
    """
    world = worlds.make(world, budget)
    if world.reward_means is None or world.cost_means is None:
        raise InvalidInput(
            f"{world.name} has no means that stay the same, so that no mixture is best"
        )
    rounds = world.horizon if horizon is None else validation.integer("horizon", horizon, low=1)
    budgets = amounts.budget_array(budget, world.n_resources) / amounts.UNIT
    return solve_means(world.reward_means, world.cost_means, budgets, rounds)


def solve_means(
    rewards: Floats, costs: Floats, budgets: Floats, rounds: float | None
) -> FluidOptimum:
    """Return the optimum from mean rewards (K,), mean costs (K, d) and budgets (d,)."""
    if len(budgets) == 1:
        best = mix(costs[:, 0], rewards, float(budgets[0]), rounds)
        return FluidOptimum(float(rewards @ best), best)
    limits, bounds = costs.T, list(budgets)
    if rounds is not None:
        limits, bounds = np.vstack([limits, np.ones(len(rewards))]), [*bounds, rounds]
    solution = scipy("optimize", _SEVERAL).linprog(
        -rewards, A_ub=limits, b_ub=bounds, method="highs"
    )
    return FluidOptimum(float(-solution.fun), np.asarray(solution.x))


def mix(costs: Floats, rewards: Floats, budget: float, rounds: float | None) -> Floats:
    """Return how often to pull each arm, shape (K,): max rewards @ x, costs @ x <= budget.

    The sum of x is at most `rounds`. The optimum has at most two arms, so the function compares all
    pairs: one arm as often as budget and rounds allow, or two arms that exhaust both limits.
    """
    alone, best, value = np.eye(len(costs)), np.zeros(len(costs)), 0.0
    limit = np.inf if rounds is None else rounds
    for i in range(len(costs)):
        times = min(limit, budget / costs[i] if costs[i] > 0 else np.inf)
        if np.isfinite(times) and times * rewards[i] > value:
            value, best = times * rewards[i], alone[i] * times
    if rounds is None:
        return best
    per_round = budget / rounds
    for i in np.flatnonzero(costs < per_round).tolist():
        for j in np.flatnonzero(costs > per_round).tolist():
            share = (per_round - costs[i]) / (costs[j] - costs[i])
            gain = rounds * ((1 - share) * rewards[i] + share * rewards[j])
            if gain > value:
                value, best = gain, rounds * ((1 - share) * alone[i] + share * alone[j])
    return best


def hindsight(rewards: Floats, units: Ints | Floats, budget: float) -> tuple[float, float, float]:
    """Return the linear optimum over all rows (T, K): gain, spending, and number of pulls."""
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
    linprog, sparse = scipy("optimize", _SEVERAL).linprog, scipy("sparse", _SEVERAL)
    n_rows, n_arms = rewards.shape
    choices = sparse.kron(sparse.eye(n_rows), np.ones((1, n_arms)), format="csr")
    limits = costs.reshape(n_rows * n_arms, -1).T
    if not endless:
        totals = np.concatenate([np.ones(n_rows), budgets])
        solution = linprog(
            -rewards.ravel(), sparse.vstack([choices, sparse.csr_matrix(limits)]), totals
        )
        return -float(solution.fun)
    # the last variable is how often each row comes
    times = sparse.csr_matrix(np.full((n_rows, 1), -1.0))
    solution = linprog(
        np.append(-rewards.ravel(), 0.0),
        np.hstack([limits, np.zeros((len(limits), 1))]),
        budgets,
        sparse.hstack([choices, times]),
        np.zeros(n_rows),
    )
    return -float(solution.fun)


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
