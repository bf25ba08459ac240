"""What the ledgers of campaigns and of accounts have in common: a budget that is topped up,
renewed, paused and watched.
"""

from __future__ import annotations

from purse.campaign.account.records import AccountRecord
from purse.campaign.account.terms import AccountTerms
from purse.campaign.alert_rules import read_key
from purse.campaign.journal import Entry, chain
from purse.campaign.periods.period import Period, first_period
from purse.campaign.records import Balance, CampaignRecord
from purse.campaign.states import CLOSED, PAUSED, RUNNING
from purse.campaign.terms import Terms


class BudgetLedger:
    """The state of a budget. Each kind of entry has a method that takes it in."""

    terms: Terms | AccountTerms
    seq: int  # of the last entry
    head: CampaignRecord | AccountRecord
    balances: list[Balance]
    requests: dict[str, Entry]

    def fold(self, entry: Entry) -> None:
        """Take in the next entry."""
        getattr(self, entry.kind)(entry)
        self.seq, self.head.changed = entry.seq, entry.at
        self.head.digest = chain(self.head.digest, entry)
        if entry.request is not None:
            self.requests[entry.request] = entry

    def created(self, entry: Entry) -> None:
        """Open the purses."""
        self.balances = [Balance(units) for units in self.terms.budget]
        self.head.id, self.head.created = self.terms.id, entry.at
        self.head.alerts = list(self.terms.alerts) or ()
        if self.terms.every:
            first = first_period(entry.at, self.terms.first_end, len(self.terms.resources))
            self.head.period = list(first)

    @property
    def period(self) -> Period | None:
        """The period that the budget is in; None where it has none."""
        return Period(*self.head.period) if self.head.period else None

    def topped_up(self, entry: Entry) -> None:
        """Add to the budget."""
        self.balances = [
            was._replace(budget=was.budget + units)
            for was, units in zip(self.balances, entry.body["units"], strict=True)
        ]
        if self.head.alerts or self.head.alerted:
            self.head.top_ups += 1

    def alerts_set(self, entry: Entry) -> None:
        """Make events by other rules."""
        self.head.alerts = list(entry.body["alerts"]) or ()

    def event(self, entry: Entry) -> None:
        """Remember what was made known."""
        subject, mark = read_key(entry.body["key"])
        self.head.alerted = self.head.alerted | {subject: mark}

    def alarm(self, kind: str, entry: Entry) -> None:
        """Remember that an entry caused an alarm."""
        self.head.alarmed = self.head.alarmed | {kind: entry.at}

    def paused(self, _: Entry) -> None:
        """Let nothing be held for a while."""
        self.head.status = PAUSED

    def resumed(self, entry: Entry) -> None:
        """Let money be held again."""
        self.head.status = RUNNING
        if self.head.period and "next" in entry.body:
            self.head.period = list(Period(*self.head.period)._replace(ends=entry.body["next"]))

    def closed(self, _: Entry) -> None:
        """Let nothing be held any more."""
        self.head.status = CLOSED
