"""What a user says of periods, checked for the terms."""

from __future__ import annotations

from typing import Any, NamedTuple

from purse.base import validation
from purse.campaign.defaults import CARRY, TIME_ZONE
from purse.campaign.periods.calendar import Calendar
from purse.campaign.periods.period import CARRIES
from purse.campaign.periods.time_zones import data_version
from purse.errors import invalid


class PeriodTerms(NamedTuple):
    """What the terms of a budget say of its periods; all empty where it has none."""

    every: str = ""
    time_zone: str = TIME_ZONE
    carry: str = CARRY

    def begun_at(self, now: int) -> dict[str, Any]:
        """What purse says of terms of a budget that begins at a time, in ms: the end of its first
        period, and the version of the time-zone data that told it.
        """
        if not self.every:
            return {}
        end = Calendar(self.every, self.time_zone).first_end(now)
        return {"first_end": end, "tz": data_version(self.time_zone)}


def read_periods(every: str | None, time_zone: str, carry: str) -> PeriodTerms:
    """Terms of periods from what a user gives."""
    if every is None or every == "":
        for field, value, default in (
            ("time_zone", time_zone, TIME_ZONE),
            ("carry", carry, CARRY),
        ):
            if value != default:
                raise invalid(field, value, "needs every: 'day', 'week', 'month' or such as '6h'")
        return PeriodTerms()
    Calendar.of(every, time_zone)
    return PeriodTerms(every, time_zone, validation.choice("carry", carry, CARRIES))


def is_period_end(every: str, first_end: Any, tz: Any) -> bool:
    """Whether these are the end of a first period and a version of time-zone data; 0 and "" where
    there are no periods.
    """
    if type(first_end) is not int or not isinstance(tz, str):
        return False
    return first_end > 0 if every else (first_end, tz) == (0, "")
