"""What the journal of an account comes to: its purses and its status. `AccountLedger.fold` is the
only place where they change.

kind       body
created    the terms
moved      campaign, entry (its number in the campaign's journal), and what it changed: spent, held,
           presumed, overrun (units per resource, each only where it is not 0); period: the one in
           which the hold was asked for, where it has ended, and dropped: what of the refund is not
           kept
joined     campaign, entry (the last one of a restored campaign), and its totals as in `moved`, none
           where it has spent and holds nothing
topped_up  units
alerts_set, event   as for a campaign
renewed    as in a campaign's journal
paused, resumed, closed   resumed: as in a campaign's journal
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from purse.campaign.account.records import AccountRecord
from purse.campaign.account.terms import AccountTerms
from purse.campaign.budget_ledger import BudgetLedger
from purse.campaign.journal import Entry
from purse.campaign.periods.period import DROPPED, PERIOD, Period, begin_next
from purse.campaign.records import Balance

COUNTERS = ("spent", "held", "presumed", "overrun")  # what a campaign moves on its accounts


class AccountLedger(BudgetLedger):
    """The state of an account."""

    terms: AccountTerms
    head: AccountRecord

    def __init__(
        self,
        terms: AccountTerms,
        seq: int = 0,
        head: AccountRecord | None = None,
        purses: Sequence[Balance] = (),
    ) -> None:
        self.terms = terms
        self.seq = seq
        self.head = head or AccountRecord()
        self.balances = list(purses)
        self.requests: dict[str, Entry] = {}

    def moved(self, entry: Entry) -> None:
        """Take in what an entry of a campaign changed."""
        nothing = [0] * len(self.balances)
        parts = [entry.body.get(name, nothing) for name in COUNTERS]
        self.balances = [
            Balance(was[0], *(old + change for old, change in zip(was[1:], changes, strict=True)))
            for was, *changes in zip(self.balances, *parts, strict=True)
        ]
        if "overrun" in entry.body:
            self.alarm("overrun", entry)
        if PERIOD in entry.body:
            self.end_hold(entry.body)

    def end_hold(self, body: dict[str, Any]) -> None:
        """Take in that a hold of an ended period has changed: what comes back may be dropped."""
        nothing = [0] * len(self.balances)
        dropped, held = body.get(DROPPED, nothing), body.get("held", nothing)
        period = Period(*self.head.period).after_hold(
            refund_of(body, len(nothing)), [-units for units in held], dropped
        )
        self.head.period = list(period)
        self.balances = [
            was._replace(budget=was.budget - gone)
            for was, gone in zip(self.balances, dropped, strict=True)
        ]

    def joined(self, entry: Entry) -> None:
        """Take in the totals of a campaign that was restored."""
        self.moved(entry)
        if self.head.period:
            self.head.joined = {**self.head.joined, entry.body["campaign"]: self.head.period[0]}

    def renewed(self, entry: Entry) -> None:
        """Begin the next period."""
        period, self.balances = begin_next(entry.body, self.balances)
        self.head.period = list(period)


def refund_of(moves: Mapping[str, Any], n_resources: int) -> list[int]:
    """(d,) What comes back from a hold, from what was moved.

    >>> refund_of({"spent": [1], "held": [-5]}, 1)
    [4]
    """
    nothing = [0] * n_resources
    parts = [moves.get(name, nothing) for name in ("spent", "held", "presumed")]
    return [-sum(each) for each in zip(*parts, strict=True)]


def differences(before: Sequence[Balance], after: Sequence[Balance]) -> dict[str, list[int]]:
    """What changed between two balances, apart from the budget: units per resource of each counter
    that did.

    >>> differences([Balance(9, held=2)], [Balance(9, spent=1)])
    {'spent': [1], 'held': [-2]}
    """
    found = {}
    for place, name in enumerate(COUNTERS, 1):
        changes = [new[place] - old[place] for old, new in zip(before, after, strict=True)]
        if any(changes):
            found[name] = changes
    return found
