"""What a user reports, checked and in units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from purse.base import amounts, validation
from purse.campaign.read_terms import by_name
from purse.campaign.terms import Terms
from purse.errors import invalid


def read_reward(terms: Terms, reward: Any) -> float:
    """Return a reward. Raise `InvalidInput` if it is no number, or outside [0, 1] while the terms
    declare no other range.
    """
    if isinstance(reward, (Sequence, Mapping)) or validation.is_truth(reward) or np.ndim(reward):
        raise invalid("reward", reward, "must be a number")
    (value,) = validation.rewards(reward)
    if terms.reward_range is None and not 0 <= value <= 1:
        raise invalid("reward", value, "must lie between 0 and 1")
    return value


def read_costs(terms: Terms, cost: Any, *, zero: bool = False) -> list[int]:
    """Return the units of each resource, from one amount, or a list or dict of them.

    zero   whether a single 0 stands for all resources

    Raise `InvalidInput` if an amount is not allowed. A cost has no upper limit here: a true report
    is never refused.
    """
    if isinstance(cost, (str, int, float)):
        units = [amounts.to_units("cost", cost)]
    else:
        given = amounts.unit_array("cost", by_name("cost", cost, terms.resources, "resource"))
        units = given.ravel().tolist() if given.ndim <= 1 else []
    if zero and units == [0]:
        return [0] * len(terms.resources)
    if len(units) != len(terms.resources):
        raise invalid(
            "cost",
            cost,
            f"must be one amount for each of the resources {', '.join(terms.resources)}",
        )
    if min(units) < 0:
        raise invalid("cost", cost, "must not be negative")
    return units
