"""What a user says of periods, checked for the terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from purse.base import amounts
from purse.campaign.by_name import by_name
from purse.campaign.defaults import CARRY, TIME_ZONE
from purse.campaign.periods.calendar import Calendar
from purse.campaign.periods.period import CARRIES, Carry
from purse.errors import InvalidInput, invalid


class PeriodTerms(NamedTuple):
    """What the terms of a budget say of its periods; all empty where it has none."""

    every: str = ""
    time_zone: str = TIME_ZONE
    carry: Carry = CARRY
    starts: str = ""


def read_periods(
    every: str | None, time_zone: str, carry: Any, starts: str | None, resources: Sequence[str]
) -> PeriodTerms:
    """Terms of periods from what a user gives."""
    if every is None or every == "":
        for field, value, default in (
            ("time_zone", time_zone, TIME_ZONE),
            ("carry", carry, CARRY),
            ("starts", starts or "", ""),
        ):
            if value != default:
                raise invalid(field, value, "needs every: 'day', 'week', 'month' or such as '6h'")
        return PeriodTerms()
    calendar = Calendar.of(every, time_zone, starts or None)
    return PeriodTerms(every, time_zone, read_carry(carry, resources), calendar.starts)


def read_carry(carry: Any, resources: Sequence[str]) -> Carry:
    """Return how much is carried over: all, none, or (d,) units at most."""
    if isinstance(carry, str) and carry in CARRIES:
        return carry
    allowed = f"must be 'all', 'none' or an amount of each resource: {', '.join(resources)}"
    try:
        units = amounts.unit_array("carry", by_name("carry", carry, resources, "resource"))
    except InvalidInput:
        raise invalid("carry", carry, allowed) from None
    if units.ndim > 1 or units.size != len(resources) or units.min() < 0:
        raise invalid("carry", carry, allowed)
    return tuple(units.ravel().tolist())


def carry_words(carry: Carry) -> str | list[str]:
    """How much is carried over, in the user's unit."""
    return carry if isinstance(carry, str) else [amounts.text(units) for units in carry]
