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
context to an arm.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.theory.fluid import solve_means
from purse.theory.rows import best_ratio, hindsight, solve_rows
from purse.types import Floats, World

STEPS = 100  # of a bisection: then no float lies between its ends


class ContextTable(NamedTuple):
    """Mean rewards and costs given the context, in N rows that are equally likely."""

    rewards: Floats  # (N, K)
    costs: Floats  # (N, K, d) in the user's unit
    features: Floats  # (N, A, n) the constant last; A = 1: all arms see the same, else A = K
    rounds: int | None = None  # T; None: only the budget ends the game

    @classmethod
    def of(cls, world: World) -> ContextTable:
        """Return the table of a world with contexts.

        Raise `InvalidInput` when the world has none, or is not a table of equally likely rows.
        """
        if world.n_features == 0:
            raise InvalidInput(f"{world.name} has no features, so there are no contexts")
        if world.draw is not None or world.view is not None or world.outages is not None:
            raise InvalidInput(
                f"{world.name}: optima with contexts are for worlds that are tables of rows, "
                "without outages"
            )
        tables = world.tables
        if not tables.sample and (np.diff(tables.last, prepend=0) != 1).any():
            raise InvalidInput(f"{world.name}: optima with contexts need rows of one round each")
        chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
        return cls(
            (chances * tables.rewards).sum(axis=2),
            (chances[..., None] * tables.costs).sum(axis=2) / amounts.UNIT,
            tables.features,
            world.n_rounds if world.horizon is None else world.horizon,
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
    table, budgets = read(source, budget, horizon)
    if len(budgets) > 1:
        raise InvalidInput(
            f"the best linear policy is for one resource, and here are {len(budgets)}"
        )
    rewards, costs = table.rewards, table.costs[:, :, 0]
    near = validation.number("ridge", ridge, above=0)
    r, c = fit(table.features, rewards, near), fit(table.features, costs, near)
    if table.rounds is None:
        check_positive(table.costs)
        arms = best_ratio(r, c)[1][:, None]
        gain, spent = (np.take_along_axis(each, arms, 1).sum() for each in (rewards, costs))
        return float(budgets[0] * gain / spent)
    times = table.rounds / len(rewards)
    most = float(budgets[0]) / times

    def outcome(price: float) -> tuple[float, float]:
        score = r - price * c
        arms, played = score.argmax(axis=1)[:, None], score.max(axis=1) > 0
        gain, spent = (np.take_along_axis(each, arms, 1)[played].sum() for each in (rewards, costs))
        return float(gain), float(spent)

    gain, spent = outcome(0.0)
    if spent <= most:
        return times * gain
    low, high = 0.0, float(np.divide(r, c, out=np.zeros_like(r), where=c > 0).max())
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if outcome(middle)[1] <= most else (middle, high)
    (fewer, below), (more, above) = outcome(high), outcome(low)
    share = (most - below) / (above - below) if above > below else 0.0
    return times * (fewer + min(1.0, max(0.0, share)) * (more - fewer))


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
    gains = []
    for path in range(validation.integer("n_paths", n_paths, low=1)):
        rewards, units = draws(place, length, seed=seed, path=path)
        if len(budgets) == 1:
            gains.append(hindsight(rewards, units[:, :, 0], float(budgets[0]))[0])
        else:
            gains.append(solve_rows(rewards, units / amounts.UNIT, budgets))
    return float(np.mean(gains))


def read(
    source: str | World | ContextTable, budget: Any, horizon: int | None
) -> tuple[ContextTable, Floats]:
    """Return the table and the budgets (d,), checked."""
    if not isinstance(source, ContextTable):
        source = ContextTable.of(worlds.make(source, budget))
    rewards, costs, features, rounds = source
    if (
        rewards.ndim != 2
        or costs.shape[:2] != rewards.shape
        or costs.ndim != 3
        or features.ndim != 3
        or len(features) != len(rewards)
        or features.shape[1] not in (1, rewards.shape[1])
    ):
        raise InvalidInput(
            f"rewards {rewards.shape}, costs {costs.shape} and features {features.shape} do not "
            "match: they must be (N, K), (N, K, d), and (N, 1 or K, n)"
        )
    if horizon is not None:
        rounds = validation.integer("horizon", horizon, low=1)
    budgets = amounts.budget_array(budget, costs.shape[2]) / amounts.UNIT
    return source._replace(rounds=rounds), budgets


def fit(features: Floats, means: Floats, ridge: float) -> Floats:
    """Return the ridge regression of each arm's means on its contexts, both (N, K).

    What is fitted stays between the least and the most of each arm.
    """
    found = np.empty_like(means)
    for i in range(means.shape[1]):
        x = features[:, min(i, features.shape[1] - 1)]
        found[:, i] = x @ np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ means[:, i])
    return np.clip(found, means.min(axis=0), means.max(axis=0))


def check_positive(costs: Floats) -> None:
    """Raise `InvalidInput` when a pull costs nothing, where only the budget ends the game."""
    if not (costs > 0).all():
        raise InvalidInput("without a horizon every pull must cost something; pass horizon=...")
