"""A level of the reference ledger: what a campaign and an account have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.support.reference_periods import Period, Renewed
from tests.support.reference_terms import Refusal, Ticket, Units, written


class Level(Renewed):
    """What can be said of a budget, whoever takes from it."""

    name: str
    resources: tuple[str, ...]
    requests: dict[str, tuple[object, ...]]

    @property
    def levels(self) -> Sequence[Level]:
        """All whose budgets it takes from, from the top down to itself."""
        raise NotImplementedError

    def begin(self) -> None:
        """Whoever wants to change something makes the boundaries that are due, on all levels."""
        for level in self.levels:
            level.renew()

    def issued(self) -> list[tuple[Ticket, int]]:
        """All tickets that took from this budget, each with the period in which it did."""
        raise NotImplementedError

    def in_period(self) -> tuple[Any, ...] | None:
        """What should be said of the period as of now: number, begin, end in seconds, rounds,
        allowance, what came from earlier ones, and what was spent for its own tickets, with what
        is presumed.
        """
        _, period = self.shown()
        if period is None:
            return None
        mine = [ticket for ticket, number in self.issued() if number == period.number]
        carried = [sum(both) for both in zip(period.carried, period.kept, strict=True)]
        return (
            period.number,
            period.start / 1000,
            period.next / 1000 if self.status == "running" else None,
            self.rounds_since(period),
            tuple(map(written, self.allowance)),
            tuple(map(written, carried)),
            tuple(map(written, self.taken(mine, "presumed"))),
        )

    def rounds_since(self, period: Period) -> int | None:
        """How many there were in a period; None where rounds are not counted."""
        return self.rounds - period.rounds

    def taken(self, tickets: list[Ticket], *states: str) -> list[int]:
        """What tickets have spent, with what is set apart for those in some states."""
        rows = [[0] * len(self.allowance)]
        rows += [list(each.receipt.spent) for each in tickets if each.receipt is not None]
        rows += [list(each.held) for each in tickets if each.state in states]
        return [sum(column) for column in zip(*rows, strict=True)]

    def budget_of_period(self) -> list[int]:
        """What this period has: all but what tickets of earlier ones have taken."""
        budget, period = self.shown()
        if period is None:
            return budget
        others = [ticket for ticket, number in self.issued() if number < period.number]
        taken = self.taken(others, "held", "presumed")
        return [whole - part for whole, part in zip(budget, taken, strict=True)]

    @property
    def left(self) -> list[int]:
        spent, held, presumed, _ = self.sums()
        parts = zip(self.shown()[0], spent, held, presumed, strict=True)
        return [whole - sum(taken) for whole, *taken in parts]

    @property
    def free(self) -> list[int]:
        """What would be left if nothing were held."""
        return [left + held for left, held in zip(self.left, self.sums().held, strict=True)]

    def purses(self) -> list[tuple[str, ...]]:
        """Resource, budget, spent, held, presumed, left and overrun of each purse, as text."""
        spent, held, presumed, overrun = self.sums()
        columns = zip(self.shown()[0], spent, held, presumed, self.left, overrun, strict=True)
        return [
            (name, *map(written, units))
            for name, units in zip(self.resources, columns, strict=True)
        ]

    def known(self, request_id: str | None, what: tuple[object, ...]) -> bool:
        """Whether this was asked before; something else under the same id is a conflict."""
        earlier = self.requests.get(request_id) if request_id is not None else None
        if earlier is not None and earlier != what:
            raise Refusal("Conflict")
        return earlier is not None

    def top_up(self, units: Units, request_id: str | None) -> None:
        self.begin()
        if self.known(request_id, ("top_up", units)):
            return
        self.refuse_ended()
        self.budget = [before + more for before, more in zip(self.budget, units, strict=True)]
        self.entries += 1
        if request_id is not None:
            self.requests[request_id] = ("top_up", units)

    def switch(self, status: str) -> None:
        """Pause, resume or end; ended is for good."""
        self.begin()
        if self.status == status:
            return
        self.refuse_ended()
        if status == "running":
            self.skip_boundaries()
        self.status = status
        self.entries += 1

    def refuse_ended(self) -> None:
        if self.status == "ended":
            raise Refusal("CampaignEnded")
