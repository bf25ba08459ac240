"""Budgets of the reference ledger that are renewed: periods, what is carried over, and refunds of
ended ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tests.support.reference_calendar import following
from tests.support.reference_terms import Periods, Units


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


class Renewed:
    """A budget, and the period that it is in."""

    clock: Callable[[], int]  # ms
    status: str
    entries: int
    rounds: int
    budget: list[int]
    created: int  # ms
    allowance: Units
    periods: Periods | None
    period: Period | None

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
        every, zone, _ = self.periods
        return following(every, zone, self.created, ms)

    def due(self) -> list[tuple[list[int], Period]]:
        """The budget and the period after each boundary that has passed and was not made yet. Where
        it is paused or has ended there is none.
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
            carried = self.keeps(left)
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

    def keeps(self, units: Units | list[int]) -> Units:
        """What of the money that an ended period leaves is kept."""
        assert self.periods is not None
        return tuple(units) if self.periods.carry == "all" else (0,) * len(units)

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
        only where what is left is.
        """
        if self.period is None or number == self.period.number:
            return
        kept = self.keeps(units)
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
