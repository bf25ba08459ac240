"""A budget as it is at a time, whether anybody has begun the periods that are due or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from purse.base import amounts
from purse.campaign.journal import Entry
from purse.campaign.periods.period import Period
from purse.campaign.periods.rules import PeriodRules, RenewedLedger, RenewedTerms
from purse.campaign.records import Balance
from purse.campaign.results import PeriodStatus
from purse.campaign.states import RUNNING


class FoldedLedger(RenewedLedger, Protocol):
    """A ledger that knows what a renewal does."""

    def renewed(self, entry: Entry) -> None:
        """Begin the next period."""


class AsOf(PeriodRules):
    """Begins periods in a ledger that is not written."""

    ledger: FoldedLedger

    def __init__(self, ledger: FoldedLedger, now: int) -> None:
        self.ledger = ledger
        self.now = now

    def add(self, kind: str, body: dict[str, Any]) -> None:
        """Take in what would be the next entry."""
        self.ledger.renewed(Entry(0, self.now, kind, None, None, body))


def period_status(
    terms: RenewedTerms,
    period: Period,
    balances: Sequence[Balance],
    status: str,
    rounds: int | None = None,
) -> PeriodStatus:
    """A period for people.

    rounds   of a campaign: asked for so far
    """
    every, time_zone, carry = terms.periods
    return PeriodStatus(
        period.number,
        every,
        time_zone,
        carry,
        period.begun / 1000,
        period.ends / 1000 if status == RUNNING else None,
        None if rounds is None else rounds - period.rounds,
        tuple(map(amounts.text, terms.budget)),
        tuple(map(amounts.text, period.carried)),
        tuple(map(amounts.text, period.spent(balances))),
    )
