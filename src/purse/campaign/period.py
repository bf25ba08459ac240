"""The period that a budget is in, and what tickets of earlier periods have taken.

The counters of a balance are never reset. So a period records how much of them earlier periods have
taken; the rest is its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from purse.base import validation
from purse.base.amounts import LARGEST
from purse.campaign.calendar import Calendar, data_version
from purse.campaign.defaults import CARRY, TIME_ZONE
from purse.campaign.records import Balance, Move, Units
from purse.errors import invalid

NONE, ALL = CARRIES = ("none", "all")  # what is carried over of the money left


class Period(NamedTuple):
    """A period; amounts in units, (d,)."""

    number: int  # from 1
    begun: int  # ms
    ends: int  # ms
    rounds: int  # asked for before it
    carried: list[int]  # what earlier periods have left to it
    before: list[int]  # spent, held or presumed spent by tickets of earlier periods
    held: list[int]  # the part of it that is still held

    def spent(self, balances: Sequence[Balance]) -> list[int]:
        """(d,) What tickets of this period have spent, or are presumed to have."""
        return [
            balance.spent + balance.presumed - (before - held)
            for balance, before, held in zip(balances, self.before, self.held, strict=True)
        ]

    def budget(self, balances: Sequence[Balance]) -> list[int]:
        """(d,) What this period has or had: its allowance, what was carried over, top-ups."""
        return [
            balance.budget - before for balance, before in zip(balances, self.before, strict=True)
        ]

    def next(
        self, balances: Sequence[Balance], allowance: Units, carry: str, ends: int, rounds: int
    ) -> tuple[Period, list[Balance]]:
        """Return the period after this one, and the balances in it.

        A budget, which is the sum of all that was granted, never exceeds what can be counted.
        """
        taken = [balance.spent + balance.held + balance.presumed for balance in balances]
        carried = [balance.left if carry == ALL else 0 for balance in balances]
        renewed = [
            balance._replace(budget=min(gone + rest + units, LARGEST))
            for balance, gone, rest, units in zip(balances, taken, carried, allowance, strict=True)
        ]
        held = [balance.held for balance in balances]
        return Period(self.number + 1, self.ends, ends, rounds, carried, taken, held), renewed

    def after_hold(self, move: Move, carry: str) -> tuple[Period, list[int]]:
        """Return the period after a move of a ticket of an earlier one, and how much of the refund
        is dropped, (d,).
        """
        refund = [-(spent + held + presumed) for _, spent, held, presumed, _ in move]
        dropped = [0] * len(refund) if carry == ALL else refund
        carried = [
            had + more - gone for had, more, gone in zip(self.carried, refund, dropped, strict=True)
        ]
        before = [had - more for had, more in zip(self.before, refund, strict=True)]
        held = [had + part[2] for had, part in zip(self.held, move, strict=True)]
        return self._replace(carried=carried, before=before, held=held), dropped


class PeriodTerms(NamedTuple):
    """What the terms of a budget say of its periods; all empty where it has none."""

    every: str = ""
    time_zone: str = TIME_ZONE
    carry: str = CARRY

    def begun_at(self, now: int) -> dict[str, Any]:
        """Return what purse says of terms of a budget that begins at a time, in ms: the end of its
        first period, and the version of the time-zone data that told it.
        """
        if not self.every:
            return {}
        end = Calendar(self.every, self.time_zone).first_end(now)
        return {"first_end": end, "tz": data_version(self.time_zone)}


def read_periods(every: str | None, time_zone: str | None, carry: str) -> PeriodTerms:
    """Terms of periods from what a user gives."""
    zone = TIME_ZONE if time_zone is None else time_zone
    if every is None or every == "":
        for field, value, default in (("time_zone", zone, TIME_ZONE), ("carry", carry, CARRY)):
            if value != default:
                raise invalid(field, value, "needs every: 'day', 'week', 'month' or such as '6h'")
        return PeriodTerms()
    Calendar.of(every, zone)
    return PeriodTerms(every, zone, validation.choice("carry", carry, CARRIES))


def is_period_end(every: str, first_end: Any, tz: Any) -> bool:
    """Return whether these are the end of a first period and a version of time-zone data; 0 and ""
    where there are no periods.
    """
    if type(first_end) is not int or not isinstance(tz, str):
        return False
    return first_end > 0 if every else (first_end, tz) == (0, "")
