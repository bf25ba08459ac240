"""How the reference ledger renews its budget: every so many ms, and it counts ticket by ticket."""

from __future__ import annotations

from copy import deepcopy
from typing import Self

from tests.support.reference_books import Books
from tests.support.reference_terms import Ticket, Units


class Periods(Books):
    """What ends with a period."""

    def is_due(self) -> bool:
        """Whether the period is over; that of a paused or closed campaign goes on."""
        running = self.status == "running"
        return self.terms.every is not None and running and self.clock() >= self.ends

    def renew(self) -> None:
        """Begin all periods that are due."""
        while self.is_due():
            kept = self.kept([0] * len(self.budget), self.left)
            spare = zip(self.budget, self.left, kept, self.terms.budget, strict=True)
            self.budget = [had - left + keep + more for had, left, keep, more in spare]
            self.carried, self.rounds_before = kept, self.rounds
            self.ends += self.terms.every or 0
            self.period += 1
            self.entries += 1

    def as_of_now(self) -> Self:
        """The same with the periods that are due, whether anybody has begun them or not."""
        if not self.is_due():
            return self
        copy = deepcopy(self)
        copy.renew()
        return copy

    def go_on(self) -> None:
        """A pause is over: what would have ended in it ends at the next boundary."""
        while self.terms.every is not None and self.ends <= self.clock():
            self.ends += self.terms.every

    def kept(self, already: list[int], more: list[int] | Units) -> list[int]:
        """What is carried over of more, beside what is already."""
        if self.terms.carry == "all":
            return list(more)
        most = [0] * len(more) if isinstance(self.terms.carry, str) else self.terms.carry
        return [
            min(part, max(0, cap - had)) for cap, had, part in zip(most, already, more, strict=True)
        ]

    def give_back(self, ticket: Ticket, refund: list[int] | Units) -> None:
        """Money comes back from a hold; of an ended period as much as may be carried over."""
        if self.terms.every is None or ticket.period == self.period:
            return
        kept = self.kept(self.carried, refund)
        self.carried = [had + keep for had, keep in zip(self.carried, kept, strict=True)]
        self.budget = [
            had - back + keep for had, back, keep in zip(self.budget, refund, kept, strict=True)
        ]

    def taken_by(self, tickets: list[Ticket], *, held: bool) -> list[int]:
        """What these tickets have spent, or are presumed to have; and what is held for them."""
        states = ("held", "presumed") if held else ("presumed",)
        taken = [0] * len(self.budget)
        for ticket in tickets:
            part = ticket.receipt.spent if ticket.receipt else (0,) * len(taken)
            if ticket.state in states:
                part = ticket.held
            taken = [had + more for had, more in zip(taken, part, strict=True)]
        return taken

    def spent_now(self) -> list[int]:
        """What the tickets of this period have spent."""
        mine = [each for each in self.tickets.values() if each.period == self.period]
        return self.taken_by(mine, held=False)

    def budget_now(self) -> list[int]:
        """What this period has: all but what tickets of earlier ones have taken."""
        others = [each for each in self.tickets.values() if each.period < self.period]
        taken = self.taken_by(others, held=True)
        return [had - gone for had, gone in zip(self.budget, taken, strict=True)]
