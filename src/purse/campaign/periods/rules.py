"""The rules of periods, of campaigns and of accounts: when one ends, and what is left of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from purse.base import amounts
from purse.campaign.periods.calendar import Calendar
from purse.campaign.periods.period import DROPPED, Period, not_carried
from purse.campaign.periods.read import PeriodTerms
from purse.campaign.periods.time_zones import data_version
from purse.campaign.records import Balance
from purse.campaign.states import RUNNING, CampaignState


class RenewedTerms(Protocol):
    """The terms of a budget that may be renewed."""

    @property
    def budget(self) -> tuple[int, ...]:
        """(d,) units of each period."""

    @property
    def periods(self) -> PeriodTerms:
        """When it is renewed, and what is kept then."""


class RenewedHead(Protocol):
    """Whether a budget is in use."""

    status: CampaignState


class RenewedLedger(Protocol):
    """The state of a budget that may be renewed."""

    balances: list[Balance]

    @property
    def terms(self) -> RenewedTerms:
        """Its terms."""

    @property
    def head(self) -> RenewedHead:
        """Its record."""

    @property
    def period(self) -> Period | None:
        """The period that it is in; None where it has none."""


class PeriodRules:
    """What ends with a period."""

    ledger: RenewedLedger
    now: int  # ms

    def add(self, kind: str, body: dict[str, Any]) -> Any:
        """Decide on the next entry."""
        raise NotImplementedError

    def renew(self) -> None:
        """Begin the periods that are due, in order. Every transaction does so first."""
        while (period := self.ended()) is not None:
            self.add("renewed", self.renewal(period))

    def ended(self) -> Period | None:
        """The period, where it is over; that of a paused or closed budget goes on."""
        period = self.ledger.period
        if period is None or self.now < period.ends or self.ledger.head.status != RUNNING:
            return None
        return period

    def renewal(self, period: Period) -> dict[str, Any]:
        """What an entry says at the end of a period. All that was granted so far stays within what
        can be counted.
        """
        terms, balances = self.ledger.terms, self.ledger.balances
        left = [purse.left for purse in balances]
        dropped = not_carried(terms.periods.carry, left)
        allowance = [
            min(units, amounts.LARGEST - purse.budget + gone)
            for units, purse, gone in zip(terms.budget, balances, dropped, strict=True)
        ]
        return {
            "number": period.number + 1,
            "at": period.ends,
            **self.end_after(period.ends, period.ends),
            "allowance": allowance,
            DROPPED: dropped,
        }

    def end_after(self, known: int, instant: int) -> dict[str, Any]:
        """The first boundary after an instant, and the version of what told it.

        known   another boundary
        """
        every, time_zone, _ = self.ledger.terms.periods
        version = data_version(time_zone)
        end = Calendar(every, time_zone).next_end(known, instant)
        return {"next": end, **({"tz": version} if version else {})}

    def resumption(self) -> dict[str, Any]:
        """What is new after a pause: periods that would have ended in it have not."""
        period = self.ledger.period
        if period is None or period.ends > self.now:
            return {}
        return self.end_after(period.ends, self.now)

    def refund(self, asked_in: int, units: Sequence[int]) -> dict[str, list[int]]:
        """What an entry says of money that comes back from a hold; nothing where all of it is kept.

        asked_in   the number of the period in which it was asked for
        """
        period = self.ledger.period
        if period is None or asked_in >= period.number:
            return {}
        dropped = not_carried(self.ledger.terms.periods.carry, units)
        return {DROPPED: dropped} if any(dropped) else {}
