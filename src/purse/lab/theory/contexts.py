"""Optima of worlds with contexts, each under a name of its own.

    lp_without_contexts  the LP optimum of the means: one mixture of arms for all contexts. No blind
                         policy expects more, up to one reward
    best_linear_policy   ridge regression on the true means; in each context the arm with the
                         largest r^ - price c^, or nothing, at the price at which the true costs
                         fit: the gain of a linear policy that knows all but the noise
    lp_with_contexts     a mixture of arms for each context:
                         max T E[sum_i y(i|X) r(i, X)]  subject to  T E[sum_i y(i|X) c_j(i, X)] <=
                         B_j,  sum_i y(i|x) <= 1,  y >= 0. No policy expects more, up to one reward
    hindsight_optimum    the same program on the draws of each path: it knows the noise, too

The first two are at most the third. A contextual world is a table of rows that are equally likely,
so the third is exact: T/N times the optimum of the N rows with a budget of B N/T. Without a horizon
no round may be skipped, and the third is B times the largest E[r]/E[c] over policies that map a
context to an arm. Gains are in the user's unit.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.engine.draws import draws
from purse.errors import InvalidInput
from purse.lab.theory.fluid import best_ratio, hindsight, lp_optimum, solve_means, solve_rows
from purse.types import Bools, Floats, Ints, World

__all__ = [
    "best_linear_policy",
    "hindsight_optimum",
    "lp_with_contexts",
    "lp_without_contexts",
    "optima",
]  # for users

# as people read them
BLIND, WITHOUT, LINEAR, WITH, HINDSIGHT = (
    "LP optimum",
    "LP without contexts",
    "best linear policy",
    "LP with contexts",
    "hindsight optimum",
)
_STEPS = 100  # of a bisection: then no float lies between its ends


class ContextTable(NamedTuple):
    """Mean rewards and costs given the context, in N rows that are equally likely."""

    rewards: Floats  # (N, K) in the user's unit
    costs: Floats  # (N, K, d) in the user's unit
    features: Floats  # (N, A, n) the constant last; A = 1: all arms see the same, else A = K
    rounds: int | None = None  # T; None: only the budget ends the game

    @classmethod
    def of(cls, world: World) -> "ContextTable":
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
        low, high = world.reward_range
        chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
        return cls(
            low + (high - low) * (chances * tables.rewards).sum(axis=2),
            (chances[..., None] * tables.costs).sum(axis=2) / amounts.UNIT,
            tables.features,
            world.n_rounds if world.horizon is None else world.horizon,
        )


def _read(
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


def _check_positive(costs: Floats) -> None:
    """Raise `InvalidInput` when a pull costs nothing although only the budget ends the game."""
    if not (costs > 0).all():
        raise InvalidInput("without a horizon every pull must cost something; pass horizon=...")


def lp_without_contexts(
    source: str | World | ContextTable, budget: Any, *, horizon: int | None = None
) -> float:
    """Return the largest expected gain of a player that knows the means and sees no contexts.

    source    a world with features, or a table
    budget    one amount, or one per resource, shape (d,)
    horizon   the number of rounds; None: the source's own

    >>> round(lp_without_contexts("linear_contexts", budget=1300))
    3600
    """
    table, budgets = _read(source, budget, horizon)
    means = table.rewards.mean(axis=0), table.costs.mean(axis=0)
    return solve_means(*means, budgets, table.rounds).value


def lp_with_contexts(
    source: str | World | ContextTable, budget: Any, *, horizon: int | None = None
) -> float:
    """Return the largest expected gain of a player that knows the means in each context.

    source, budget, horizon   as in `lp_without_contexts`

    >>> round(lp_with_contexts("linear_contexts", budget=1300))
    4927
    """
    table, budgets = _read(source, budget, horizon)
    if table.rounds is None:
        if len(budgets) > 1:
            return solve_rows(table.rewards, table.costs, budgets, endless=True)
        _check_positive(table.costs)
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
    """Return the gain of the linear policy that is fitted to the true means of each context.

    source, budget, horizon   as in `lp_without_contexts`
    ridge                     added to the sum of squares of each feature over the rows

    The two choices around the price are mixed, so that the budget is used up.

    Raise `InvalidInput` when there are several resources.
    """
    return play_linear(source, budget, horizon=horizon, ridge=ridge)[0]


def play_linear(
    source: str | World | ContextTable, budget: Any, *, horizon: int | None, ridge: float = 1.0
) -> tuple[float, float, float]:
    """Return the gain of the best linear policy, its spending, and its number of pulls."""
    table, budgets = _read(source, budget, horizon)
    if len(budgets) > 1:
        raise InvalidInput(
            f"the best linear policy is for one resource, and here are {len(budgets)}"
        )
    rewards, costs = table.rewards, table.costs[:, :, 0]
    near, total = validation.number("ridge", ridge, above=0), float(budgets[0])
    r, c = _fit(table.features, rewards, near), _fit(table.features, costs, near)

    def outcome(arms: Ints, played: Bools) -> Floats:
        """Return gain, costs and pulls over the rows."""
        rows = np.flatnonzero(played)
        sums = rewards[rows, arms[rows]].sum(), costs[rows, arms[rows]].sum(), len(rows)
        return np.array(sums, np.float64)

    if table.rounds is None:
        _check_positive(table.costs)
        sums = outcome(best_ratio(r, c)[1], np.ones(len(r), np.bool_))
        return _read_sums(sums * total / sums[1])
    times = table.rounds / len(rewards)

    def at_price(price: float) -> Floats:
        score = r - price * c
        return outcome(score.argmax(axis=1), score.max(axis=1) > 0)

    sums = at_price(0.0)
    if sums[1] > total / times:
        low, high = 0.0, float(np.divide(r, c, out=np.zeros_like(r), where=c > 0).max())
        for _ in range(_STEPS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if at_price(middle)[1] <= total / times else (middle, high)
        sums, more = at_price(high), at_price(low)
        if more[1] > sums[1]:
            share = (total / times - sums[1]) / (more[1] - sums[1])
            sums = sums + min(1.0, max(0.0, share)) * (more - sums)
    return _read_sums(times * sums)


def _read_sums(sums: Floats) -> tuple[float, float, float]:
    """Return an array of gain, costs and pulls as numbers."""
    gain, spent, pulls = sums.tolist()
    return gain, spent, pulls


def _fit(features: Floats, means: Floats, ridge: float) -> Floats:
    """Return the ridge regression of each arm's means on its contexts, both (N, K).

    Fitted values stay between the least and the largest mean of each arm.
    """
    fitted = np.empty_like(means)
    for i in range(means.shape[1]):
        x = features[:, min(i, features.shape[1] - 1)]
        fitted[:, i] = x @ np.linalg.solve(x.T @ x + ridge * np.eye(x.shape[1]), x.T @ means[:, i])
    return np.clip(fitted, means.min(axis=0), means.max(axis=0))


def hindsight_optimum(
    world: str | World, budget: Any, *, horizon: int | None = None, n_paths: int = 20, seed: int = 0
) -> float:
    """Return the largest gain of a player that knows all draws, as a mean over paths.

    world, budget   as in `purse.simulate`
    horizon         the number of rounds; None: the world's own
    n_paths, seed   the draws, as `purse.simulate` makes them

    Raise `InvalidInput` when there is no limit on rounds.
    """
    world = worlds.make(world, budget)
    ends = (horizon, world.horizon, world.n_rounds)
    rounds = next((end for end in ends if end is not None), None)
    if rounds is None:
        raise InvalidInput(f"{world.name}: the hindsight optimum needs a horizon")
    length = validation.integer("horizon", rounds, low=1, high=world.n_rounds)
    budgets = amounts.budget_array(budget, world.n_resources) / amounts.UNIT
    low, high = world.reward_range
    gains = []
    for path in range(validation.integer("n_paths", n_paths, low=1)):
        inside, units = draws(world, length, seed=seed, path=path)
        rewards = low + (high - low) * inside
        if len(budgets) == 1:
            gains.append(hindsight(rewards, units[:, :, 0], float(budgets[0]))[0])
        else:
            gains.append(solve_rows(rewards, units / amounts.UNIT, budgets))
    return float(np.mean(gains))


def optima(world: World, budget: Any, *, horizon: int | None = None) -> dict[str, float]:
    """Return the optima that the world has, by name.

    Without contexts there is the LP optimum; with contexts there are the LP without contexts, the
    best linear policy and the LP with contexts.
    """
    values: dict[str, float] = {}
    if world.n_features == 0:
        (low, high), means = world.reward_range, world.reward_means
        in_users_unit = None if means is None else low + (high - low) * means
        with suppress(InvalidInput):  # its means do not stay the same
            rescaled = replace(world, reward_means=in_users_unit)
            values[BLIND] = lp_optimum(rescaled, budget, horizon=horizon).value
        return values
    for name, optimum in (
        (WITHOUT, lp_without_contexts),
        (LINEAR, best_linear_policy),
        (WITH, lp_with_contexts),
    ):
        with suppress(InvalidInput):  # it is no table of rows, or has several resources
            values[name] = optimum(world, budget, horizon=horizon)
    return values
