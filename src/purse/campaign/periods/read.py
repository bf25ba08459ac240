"""What a user says of periods, checked for the terms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from purse.base import amounts
from purse.campaign.by_name import by_name
from purse.campaign.defaults import CARRY, TIME_ZONE
from purse.campaign.periods.calendar import Calendar
from purse.campaign.periods.period import CARRIES, Carry
from purse.campaign.periods.time_zones import data_version
from purse.errors import InvalidInput, invalid


class PeriodTerms(NamedTuple):
    """What the terms of a budget say of its periods; all empty where it has none."""

    every: str = ""
    time_zone: str = TIME_ZONE
    carry: Carry = CARRY
    starts: str = ""

    def begun_at(self, now: int) -> dict[str, Any]:
        """What purse says of terms of a budget that begins at a time, in ms: the end of its first
        period, and the version of the time-zone data that told it.
        """
        if not self.every:
            return {}
        end = Calendar(self.every, self.time_zone, self.starts).first_end(now)
        return {"first_end": end, "tz": data_version(self.time_zone)}


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


def is_period_end(every: str, first_end: Any, tz: Any) -> bool:
    """Whether these are the end of a first period and a version of time-zone data; 0 and "" where
    there are no periods.
    """
    if type(first_end) is not int or not isinstance(tz, str):
        return False
    return first_end > 0 if every else (first_end, tz) == (0, "")


def carry_words(carry: Carry) -> str | list[str]:
    """How much is carried over, in the user's unit."""
    return carry if isinstance(carry, str) else [amounts.text(units) for units in carry]
