"""The rules of periods: when one ends, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from purse.base import amounts
from purse.campaign.periods.calendar import Calendar
from purse.campaign.periods.period import DROPPED, PERIOD, Carry, Period, too_much
from purse.campaign.periods.time_zones import data_version
from purse.campaign.records import Balance, TicketRecord
from purse.campaign.states import RUNNING
from purse.campaign.transaction import BaseTransaction


class PeriodRules(BaseTransaction):
    """What ends with a period."""

    def renew(self) -> None:
        """Begin the periods that are due, in order. Every transaction does so first."""
        while self.is_over():
            period = Period(*self.ledger.head.period)
            end = self.end_after(period.ends, period.ends)
            body = renewal(self.terms.carry, self.terms.budget, period, self.ledger.balances, end)
            self.add("renewed", body)

    def is_over(self) -> bool:
        """Whether the period has ended; that of a paused or closed campaign goes on."""
        period = self.ledger.period
        return period is not None and self.ledger.head.status == RUNNING and self.now >= period.ends

    def end_after(self, known: int, instant: int) -> dict[str, Any]:
        """The first boundary after an instant, and the version of what told it."""
        terms = self.terms
        return end_after(Calendar(terms.every, terms.time_zone, terms.starts), known, instant)

    def resumption(self) -> dict[str, Any]:
        """What is new after a pause: periods that would have ended in it have not."""
        period = self.ledger.period
        if period is None or period.ends > self.now:
            return {}
        return self.end_after(period.ends, self.now)

    def refund(self, record: TicketRecord, units: Sequence[int]) -> dict[str, list[int]]:
        """What an entry says of money that comes back from the hold of an ended period; nothing
        where all of it is kept.
        """
        period = self.ledger.period
        if period is None or record.body[PERIOD] == period.number:
            return {}
        dropped = too_much(self.terms.carry, period.carried, units)
        return {DROPPED: dropped} if any(dropped) else {}


def renewal(
    carry: Carry,
    budget: Sequence[int],
    period: Period,
    balances: Sequence[Balance],
    end: dict[str, Any],
) -> dict[str, Any]:
    """What an entry says at the end of a period. All that was granted so far stays within what can
    be counted.

    budget   (d,) units of each period
    end      what `end_after` says of the next period
    """
    left = [purse.left for purse in balances]
    dropped = too_much(carry, [0] * len(left), left)
    allowance = [
        min(units, amounts.LARGEST - purse.budget + gone)
        for units, purse, gone in zip(budget, balances, dropped, strict=True)
    ]
    return {
        "number": period.number + 1,
        "at": period.ends,
        **end,
        "allowance": allowance,
        DROPPED: dropped,
    }


def end_after(calendar: Calendar, known: int, instant: int) -> dict[str, Any]:
    """The first boundary after an instant, and the version of what told it.

    known   another boundary
    """
    version = data_version(calendar.time_zone)
    return {"next": calendar.next_end(known, instant), **({"tz": version} if version else {})}
