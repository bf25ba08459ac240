"""A level of the reference ledger: what a campaign and an account have in common. Its budget, what
was taken from it, and the periods in which it is renewed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.support.reference_calendar import following
from tests.support.reference_terms import Periods, Refusal, Ticket, Units, written


class Period(NamedTuple):
    """The period that runs."""

    number: int
    start: int  # ms
    next: int  # ms
    carried: Units  # from the last one
    kept: Units  # refunds of ended periods that were not dropped
    spent: Units  # before it
    rounds: int = 0  # before it


class Sums(NamedTuple):
    """What was taken of each resource."""

    spent: list[int]
    held: list[int]
    presumed: list[int]
    overrun: list[int]


class Level:
    """What can be said of a budget, whoever takes from it."""

    name: str
    resources: tuple[str, ...]
    clock: Callable[[], int]  # ms
    status: str
    entries: int
    rounds: int
    budget: list[int]
    created: int  # ms
    allowance: Units
    periods: Periods | None
    period: Period | None
    requests: dict[str, tuple[object, ...]]

    def sums(self) -> Sums:
        raise NotImplementedError

    def open_level(self, allowance: Units, periods: Periods | None) -> None:
        """With its first budget, in its first period."""
        nothing = (0,) * len(allowance)
        self.budget, self.allowance, self.periods = list(allowance), allowance, periods
        self.created = self.clock()
        self.period = None
        if periods is not None:
            end = self.end_after(self.created)
            self.period = Period(1, self.created, end, nothing, nothing, nothing)

    def end_after(self, ms: int) -> int:
        assert self.periods is not None
        every, zone, _, starts = self.periods
        return following(every, zone, starts, self.created, ms)

    def due(self) -> list[tuple[list[int], Period]]:
        """The budget and the period after each boundary that has passed and was not made yet. Where
        it is paused or closed there is none.
        """
        if self.period is None or self.periods is None or self.status != "running":
            return []
        steps: list[tuple[list[int], Period]] = []
        spent, held, presumed, _ = self.sums()
        budget, period = self.budget, self.period
        while period.next <= self.clock():
            left = [
                whole - sum(parts)
                for whole, *parts in zip(budget, spent, held, presumed, strict=True)
            ]
            carried = tuple(
                units if cap is None else min(units, cap)
                for units, cap in zip(left, self.caps(), strict=True)
            )
            budget = [
                whole - units + kept + more
                for whole, units, kept, more in zip(
                    budget, left, carried, self.allowance, strict=True
                )
            ]
            nothing = (0,) * len(budget)
            period = Period(
                period.number + 1, period.next, self.end_after(period.next),
                carried, nothing, tuple(spent), self.rounds,
            )  # fmt: skip
            steps.append((budget, period))
        return steps

    def caps(self) -> tuple[int | None, ...]:
        """The most of each resource that is kept; None where all is."""
        assert self.periods is not None
        match self.periods.carry:
            case "all":
                return (None,) * len(self.allowance)
            case "none":
                return (0,) * len(self.allowance)
            case amounts:
                assert not isinstance(amounts, str)
                return amounts

    def begin(self) -> None:
        """Whoever changes something makes the boundaries that are due."""
        self.renew()

    def renew(self) -> None:
        """Make the boundaries that are due, in order, each by an entry."""
        for budget, period in self.due():
            self.budget, self.period = budget, period
            self.entries += 1

    def skip_boundaries(self) -> None:
        """Those that passed while it stood still are not made. None is made twice because a clock
        went back.
        """
        if self.period is not None and self.period.next <= self.clock():
            self.period = self.period._replace(next=self.end_after(self.clock()))

    def refund(self, units: Units | list[int], number: int) -> None:
        """The rest of a hold that was made in a period comes back. Once that has ended it is kept
        only as far as what was carried and kept before leaves room.
        """
        if self.period is None or number == self.period.number:
            return
        kept = tuple(
            more if cap is None else min(more, cap - carried - before)
            for more, cap, carried, before in zip(
                units, self.caps(), self.period.carried, self.period.kept, strict=True
            )
        )
        self.budget = [
            whole - more + part for whole, more, part in zip(self.budget, units, kept, strict=True)
        ]
        self.period = self.period._replace(
            kept=tuple(map(sum, zip(self.period.kept, kept, strict=True)))
        )

    def shown(self) -> tuple[list[int], Period | None]:
        """The budget and the period as of now, whether or not anybody has made the boundaries."""
        steps = self.due()
        return steps[-1] if steps else (self.budget, self.period)

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
        self.refuse_closed()
        self.budget = [before + more for before, more in zip(self.budget, units, strict=True)]
        self.entries += 1
        if request_id is not None:
            self.requests[request_id] = ("top_up", units)

    def switch(self, status: str) -> None:
        """Pause, resume or close; closed is for good."""
        self.begin()
        if self.status == status:
            return
        self.refuse_closed()
        if status == "running":
            self.skip_boundaries()
        self.status = status
        self.entries += 1

    def refuse_closed(self) -> None:
        if self.status == "closed":
            raise Refusal("CampaignClosed")
