"""A world with contexts as a table of means, which optima and fitted policies are computed from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from purse import worlds
from purse.base import amounts, validation
from purse.errors import InvalidInput
from purse.types import Floats, World


class ContextTable(NamedTuple):
    """Mean rewards and costs given the context, in N rows that are equally likely."""

    rewards: Floats  # (N, K) in the user's unit
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
        low, high = world.reward_range
        chances = np.diff(tables.below / 2.0**53, axis=2, prepend=0.0, append=1.0)
        return cls(
            low + (high - low) * (chances * tables.rewards).sum(axis=2),
            (chances[..., None] * tables.costs).sum(axis=2) / amounts.UNIT,
            tables.features,
            world.n_rounds if world.horizon is None else world.horizon,
        )


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


def check_positive(costs: Floats) -> None:
    """Raise `InvalidInput` when a pull costs nothing, where only the budget ends the game."""
    if not (costs > 0).all():
        raise InvalidInput("without a horizon every pull must cost something; pass horizon=...")
