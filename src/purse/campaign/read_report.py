"""What a user reports, checked and in units."""

from __future__ import annotations

from typing import Any

from purse.base import amounts, validation
from purse.campaign.by_name import by_name
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, invalid, shorten


def read_report(terms: Terms, reward: Any, cost: Any) -> tuple[list[float], list[int]]:
    """Return a reward for each play, and the units of each play and resource.

    Raise `InvalidInput` where one is not allowed. A cost has no upper limit here: a true report is
    never refused.
    """
    plays, resources = terms.plays, len(terms.resources)
    rewards, costs = validation.rewards(reward), units_of(terms, cost)
    if not is_number_of_plays(terms, len(rewards)) or len(costs) != len(rewards) * resources:
        given = f"reward={shorten(repr(reward))}, cost={shorten(repr(cost))}"
        raise InvalidInput(
            f"{given}: must be {plays} rewards and {plays * resources} costs, not "
            f"{len(rewards)} and {len(costs)}"
        )
    check_rewards(terms, rewards)
    check_costs(cost, costs)
    return rewards, costs


def read_rewards(terms: Terms, reward: Any) -> list[float]:
    """Return a reward for each play. Raise `InvalidInput` where one is not allowed."""
    rewards = validation.rewards(reward)
    if not is_number_of_plays(terms, len(rewards)):
        raise invalid("reward", reward, f"must be {terms.plays} rewards, not {len(rewards)}")
    check_rewards(terms, rewards)
    return rewards


def read_costs(terms: Terms, cost: Any) -> list[int]:
    """Return the units of each play and resource, or [0], which stands for all of them. Raise
    `InvalidInput` where one is not allowed.
    """
    costs, resources = units_of(terms, cost), len(terms.resources)
    if costs == [0]:
        return costs
    if len(costs) % resources or not is_number_of_plays(terms, len(costs) // resources):
        wanted = terms.plays * resources
        raise invalid("cost", cost, f"must be {wanted} costs, not {len(costs)}")
    check_costs(cost, costs)
    return costs


def units_of(terms: Terms, cost: Any) -> list[int]:
    """Return amounts in units, from one amount, or lists and dicts of them."""
    if isinstance(cost, (str, int, float)):
        return [amounts.to_units("cost", cost)]
    rows = cost if isinstance(cost, (list, tuple)) else [cost]
    named = [by_name("cost", row, terms.resources, "resource") for row in rows]
    return amounts.unit_array("cost", named).ravel().tolist()


def is_number_of_plays(terms: Terms, plays: int) -> bool:
    """Whether a ticket may have so many plays: some may not fit, and some arms may cool down."""
    return 1 <= plays <= terms.plays


def check_rewards(terms: Terms, rewards: list[float]) -> None:
    """Refuse rewards outside [0, 1], unless the terms declare another range."""
    for value in rewards:
        if terms.reward_range is None and not 0 <= value <= 1:
            raise invalid("reward", value, "must lie between 0 and 1")


def check_costs(cost: Any, units: list[int]) -> None:
    """Refuse negative costs."""
    if min(units) < 0:
        raise invalid("cost", cost, "must not be negative")
