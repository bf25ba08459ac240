"""What the journal of an account comes to: its purses and its status. `AccountLedger.fold` is the
only place where they change.

kind       body
created    the terms
moved      campaign, entry (its number in the campaign's journal), and what it changed: spent, held,
           presumed, overrun (units per resource, each only where it is not 0)
joined     campaign, entry (the last one of a restored campaign), and its totals, as in `moved`
topped_up  units
paused, resumed, closed
"""

from __future__ import annotations

from collections.abc import Sequence

from purse.campaign.account.records import AccountRecord
from purse.campaign.account.terms import AccountTerms
from purse.campaign.journal import Entry, chain
from purse.campaign.records import Balance
from purse.campaign.states import CLOSED, PAUSED, RUNNING

COUNTERS = ("spent", "held", "presumed", "overrun")  # what a campaign moves on its accounts


class AccountLedger:
    """The state of an account."""

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

    def moved(self, entry: Entry) -> None:
        """Take in what an entry of a campaign changed."""
        nothing = [0] * len(self.balances)
        parts = [entry.body.get(name, nothing) for name in COUNTERS]
        self.balances = [
            Balance(was[0], *(old + change for old, change in zip(was[1:], changes, strict=True)))
            for was, *changes in zip(self.balances, *parts, strict=True)
        ]

    def joined(self, entry: Entry) -> None:
        """Take in the totals of a campaign that was restored."""
        self.moved(entry)

    def topped_up(self, entry: Entry) -> None:
        """Add to the budget."""
        self.balances = [
            was._replace(budget=was.budget + units)
            for was, units in zip(self.balances, entry.body["units"], strict=True)
        ]

    def paused(self, _: Entry) -> None:
        """Let no campaign below it hold anything for a while."""
        self.head.status = PAUSED

    def resumed(self, _: Entry) -> None:
        """Let campaigns hold money again."""
        self.head.status = RUNNING

    def closed(self, _: Entry) -> None:
        """Let no campaign below it hold anything any more."""
        self.head.status = CLOSED


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
