"""What a gain is compared with where rounds have contexts; each optimum has a name of its own.

    lp_without_contexts  the LP optimum of the means: one mixture of arms for all contexts. No blind
                         policy expects more, up to one reward
    best_linear_policy   ridge regression on the true means; in each context the arm with the
                         largest r^ - price c^, or nothing, at the price at which the true costs
                         fit: what a linear policy can get that knows all but the noise
    lp_with_contexts     a mixture of arms for each context:
                         max T E[sum_i y(i|X) r(i, X)]  subject to  T E[sum_i y(i|X) c_j(i, X)] <=
                         B_j,  sum_i y(i|x) <= 1,  y >= 0. No policy expects more, up to one reward
    hindsight_optimum    the same program on the draws of each path: it knows the noise, too

The first two are at most the third. A contextual world is a table of rows that are equally likely,
so the third is exact: T/N times the optimum of the N rows with a budget of B N/T. Without a horizon
no round may be skipped, and the third is B times the largest E[r]/E[c] over policies that map a
context to an arm. Gains are in the user's unit.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.lab.theory.context_table import ContextTable as ContextTable
from purse.lab.theory.context_table import check_positive, read
from purse.lab.theory.fluid import lp_optimum, solve_means
from purse.lab.theory.linear_policy import play_linear
from purse.lab.theory.rows import best_ratio, hindsight, solve_rows
from purse.types import World

# as people read them
BLIND, WITHOUT, LINEAR, WITH, HINDSIGHT = (
    "LP optimum",
    "LP without contexts",
    "best linear policy",
    "LP with contexts",
    "hindsight optimum",
)


def lp_without_contexts(
    source: str | World | ContextTable, budget: Any, *, horizon: int | None = None
) -> float:
    """Return the largest gain that a player can expect who knows the means and sees no contexts.

    source    a world with features, or a table
    budget    one amount, or one per resource, shape (d,)
    horizon   the number of rounds; None: the source's own

    >>> round(lp_without_contexts("linear_contexts", budget=1300))
    3600
    """
    table, budgets = read(source, budget, horizon)
    means = table.rewards.mean(axis=0), table.costs.mean(axis=0)
    return solve_means(*means, budgets, table.rounds).value


def lp_with_contexts(
    source: str | World | ContextTable, budget: Any, *, horizon: int | None = None
) -> float:
    """Return the largest gain that a player can expect who knows the means in each context.

    source, budget, horizon   as in `lp_without_contexts`

    >>> round(lp_with_contexts("linear_contexts", budget=1300))
    4927
    """
    table, budgets = read(source, budget, horizon)
    if table.rounds is None:
        if len(budgets) > 1:
            return solve_rows(table.rewards, table.costs, budgets, endless=True)
        check_positive(table.costs)
        return float(budgets[0]) * best_ratio(table.rewards, table.costs[:, :, 0])[0]
    times = table.rounds / len(table.rewards)
    if len(budgets) > 1:
        return times * solve_rows(table.rewards, table.costs, budgets / times)
    units = table.costs[:, :, 0] * amounts.UNIT
    return times * hindsight(table.rewards, units, float(budgets[0]) / times)[0]


def best_linear_policy(
    source: str | World | ContextTable,
    budget: Any,
    *,
    horizon: int | None = None,
    ridge: float = 1.0,
) -> float:
    """Return what the linear policy gains that was fitted to the true means of each context.

    source, budget, horizon   as in `lp_without_contexts`
    ridge                     added to the sum of squares of each feature over the rows

    The two choices around the price are mixed, so that the budget is used up.

    Raise `InvalidInput` when there are several resources.
    """
    return play_linear(source, budget, horizon=horizon, ridge=ridge)[0]


def hindsight_optimum(
    world: str | World,
    budget: Any,
    *,
    horizon: int | None = None,
    n_paths: int = 20,
    seed: int = 0,
) -> float:
    """Return the mean over paths of what could be gained by one who knows all draws.

    world, budget   as in `purse.simulate`
    horizon         the number of rounds; None: the world's own
    n_paths, seed   the draws, as `purse.simulate` makes them

    Raise `InvalidInput` when there is no limit on rounds.
    """
    place = worlds.make(world, budget)
    ends = (horizon, place.horizon, place.n_rounds)
    rounds = next((end for end in ends if end is not None), None)
    if rounds is None:
        raise InvalidInput(f"{place.name}: the hindsight optimum needs a horizon")
    length = validation.integer("horizon", rounds, low=1, high=place.n_rounds)
    budgets = amounts.budget_array(budget, place.n_resources) / amounts.UNIT
    low, high = place.reward_range
    gains = []
    for path in range(validation.integer("n_paths", n_paths, low=1)):
        inside, units = draws(place, length, seed=seed, path=path)
        rewards = low + (high - low) * inside
        if len(budgets) == 1:
            gains.append(hindsight(rewards, units[:, :, 0], float(budgets[0]))[0])
        else:
            gains.append(solve_rows(rewards, units / amounts.UNIT, budgets))
    return float(np.mean(gains))


def optima(world: World, budget: Any, *, horizon: int | None = None) -> dict[str, float]:
    """Return what can be expected at most, by name: the LP optimum of a world without contexts.

    With contexts it is the LP without contexts, the best linear policy and the LP with contexts.
    What a world does not have is left out.
    """
    found: dict[str, float] = {}
    if world.n_features == 0:
        with suppress(InvalidInput):  # its means do not stay the same
            found[BLIND] = lp_optimum(_in_users_unit(world), budget, horizon=horizon).value
        return found
    for name, optimum in (
        (WITHOUT, lp_without_contexts),
        (LINEAR, best_linear_policy),
        (WITH, lp_with_contexts),
    ):
        with suppress(InvalidInput):  # it is no table of rows, or has several resources
            found[name] = optimum(world, budget, horizon=horizon)
    return found


def _in_users_unit(world: World) -> World:
    """Return the world with mean rewards in the user's unit."""
    (low, high), means = world.reward_range, world.reward_means
    return world if means is None else replace(world, reward_means=low + (high - low) * means)
