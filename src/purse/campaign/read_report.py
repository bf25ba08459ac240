"""What a user reports, checked and in units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from purse.base import amounts, validation
from purse.campaign.by_name import by_name
from purse.campaign.terms import Terms
from purse.errors import invalid


def read_report(terms: Terms, reward: Any, cost: Any) -> tuple[list[float], list[int]]:
    """Return the reward, and the units of each resource.

    Raise `InvalidInput` where one is not allowed. A cost has no upper limit here: a true report is
    never refused.
    """
    costs = units_of(terms, cost)
    check_costs(terms, cost, costs)
    return read_rewards(terms, reward), costs


def read_rewards(terms: Terms, reward: Any) -> list[float]:
    """Return the reward. Raise `InvalidInput` where it is not allowed."""
    if isinstance(reward, (Sequence, Mapping)) or np.ndim(reward):
        raise invalid("reward", reward, "must be a number")
    rewards = validation.rewards(reward)
    check_rewards(terms, rewards)
    return rewards


def read_costs(terms: Terms, cost: Any) -> list[int]:
    """Return the units of each resource, or [0], which stands for all of them. Raise `InvalidInput`
    where one is not allowed.
    """
    costs = units_of(terms, cost)
    if costs != [0]:
        check_costs(terms, cost, costs)
    return costs


def units_of(terms: Terms, cost: Any) -> list[int]:
    """Return amounts in units, from one amount, or a list or dict of them."""
    if isinstance(cost, (str, int, float)):
        return [amounts.to_units("cost", cost)]
    units = amounts.unit_array("cost", by_name("cost", cost, terms.resources, "resource"))
    return units.ravel().tolist() if units.ndim <= 1 else []


def check_rewards(terms: Terms, rewards: list[float]) -> None:
    """Refuse rewards outside [0, 1], unless the terms declare another range."""
    for value in rewards:
        if terms.reward_range is None and not 0 <= value <= 1:
            raise invalid("reward", value, "must lie between 0 and 1")


def check_costs(terms: Terms, cost: Any, units: list[int]) -> None:
    """Refuse negative costs, and more or fewer than there are resources."""
    if len(units) != len(terms.resources):
        raise invalid(
            "cost",
            cost,
            f"must be one amount for each of the resources {', '.join(terms.resources)}",
        )
    if min(units) < 0:
        raise invalid("cost", cost, "must not be negative")
