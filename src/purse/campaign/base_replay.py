"""What the journals of campaigns and of accounts have in common when every entry is decided on once
more and compared with what is written.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from purse.base.json import compact
from purse.campaign.account.ledger import AccountLedger
from purse.campaign.account.terms import AccountTerms
from purse.campaign.expected_events import ExpectedEvents
from purse.campaign.journal import EVENT, Entry
from purse.campaign.ledger import Ledger
from purse.campaign.periods.dry_run import PeriodDryRun, knows_other_zones, written_end
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, PurseError, shorten

MOST_FINDINGS = 20
Rules = TypeVar("Rules", bound=PeriodDryRun)


class WouldAppend(Exception):
    """What the rules would write."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry


class BaseReplay(Generic[Rules]):
    """A journal being folded.

    title   what people call it
    """

    terms: Terms | AccountTerms
    ledger: Ledger | AccountLedger

    def __init__(self, title: str) -> None:
        self.title = title
        self.expected = ExpectedEvents()
        self.findings: list[str] = []
        self.notes: list[str] = []

    def take_in(self, entry: Entry) -> None:
        """Compare an entry, and fold it."""
        raise NotImplementedError

    def rules(self, at: int) -> Rules:
        """The rules as they are at a time, which tell what they would write."""
        raise NotImplementedError

    def decide(self, transaction: Rules, entry: Entry) -> None:
        """Whatever led to the entry, again."""
        raise NotImplementedError

    def fold(self, entry: Entry) -> None:
        """Check an entry against what is known so far, and take it in. Raise `InvalidInput` where
        one before it is missing, or it cannot be folded.
        """
        if entry.seq != self.ledger.seq + 1:
            raise InvalidInput(f"entry {self.ledger.seq + 1} of {self.title} is missing")
        try:
            self.take_in(entry)
        except Exception as error:  # an entry may be anything
            why = str(error) if isinstance(error, PurseError) else repr(error)
            raise InvalidInput(
                f"entry {entry.seq} of {self.title}, {entry.kind}, cannot follow those before it: "
                f"{shorten(why)}"
            ) from None
        if any(min(purse) < 0 or purse.left < 0 for purse in self.ledger.balances):
            self.find(f"entry {entry.seq}: spent + held + presumed exceeds the budget")

    def compare(self, entry: Entry) -> None:
        """Decide once more; an event that the entry before caused has to follow it."""
        if entry.kind != EVENT:
            self.end_events()
        rules = self.rules(entry.at)
        rules.written_end = written_end(self.terms.periods, entry.body, self.notes)
        if entry.kind != "renewed" and rules.ended():
            self.find(f"entry {entry.seq}, {entry.kind}: the period was over and not renewed")
        try:
            self.decide(rules, entry)
            self.find(f"entry {entry.seq}, {entry.kind}: nothing should have been written")
        except WouldAppend as made:
            if compact(made.entry) != compact(entry):
                self.find(
                    f"entry {entry.seq} would be {shorten(compact(made.entry[2:]), 300)}, "
                    f"and is {shorten(compact(entry[2:]), 300)}"
                )
        except PurseError as error:
            self.find(f"entry {entry.seq}, {entry.kind}, would be refused: {error}")

    def terms_at(self, at: int) -> Terms | AccountTerms:
        """The terms of what began at a time, with the end of its first period."""
        other = knows_other_zones(self.terms.periods, self.terms.tz, self.notes)
        return self.terms if other and self.terms.first_end > at else self.terms.begun_at(at)

    def end_events(self) -> None:
        """Find the events that should stand between the last entry and the next, or the end."""
        for text in self.expected.missing(self.ledger):
            self.find(text)

    def find(self, text: str) -> None:
        """Something that does not agree."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(text)
