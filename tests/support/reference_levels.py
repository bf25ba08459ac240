"""Budgets of the reference ledger: what is renewed and carried over, what a campaign and an account
have in common, and an account, which adds up what is below it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.support.reference_terms import Periods, Refusal, Ticket, Units, following, written

HOUR = 3_600_000  # ms by which a clock may go back
DAY = 24 * HOUR


class Period(NamedTuple):
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
    early: list[Period]  # that clocks which were ahead have begun; the next one is the last
    changed: int  # ms: the last entry, or the last move of money
    stepped: int | None  # ms: when a clock was last found to have been ahead

    def sums(self) -> Sums:
        raise NotImplementedError

    def open_level(self, allowance: Units, periods: Periods | None) -> None:
        """With its first budget, in its first period."""
        nothing = (0,) * len(allowance)
        self.budget, self.allowance, self.periods = list(allowance), allowance, periods
        self.created = self.clock()
        self.changed, self.stepped = self.created, None
        self.period, self.early = None, []
        if periods is not None:
            end = self.end_after(self.created)
            self.period = Period(1, self.created, end, nothing, nothing, nothing)

    def end_after(self, ms: int) -> int:
        assert self.periods is not None
        every, zone, _ = self.periods
        return following(every, zone, self.created, ms)

    def see_clock(self) -> None:
        """Something changes now; a clock that goes back by more than an hour was ahead."""
        if self.clock() + HOUR < self.changed:
            self.stepped = self.clock()
        self.changed = self.clock()

    def write(self, entries: int = 1) -> None:
        self.entries += entries
        if entries:
            self.see_clock()

    def was_ahead(self) -> bool:
        """Whether a person should know that a clock was ahead: within a day, or as of now."""
        if self.due() and self.clock() + HOUR < self.changed:
            return True
        return self.stepped is not None and self.clock() < self.stepped + DAY

    def due(self) -> list[tuple[list[int], Period, list[Period]]]:
        """The budget, the period and the early ones after each entry about periods that is due.
        Where it is paused or has ended there is none.

        A period that begins more than an hour from now is early: one runs until the next boundary
        instead, with the same money. Where the clock jumps to the begin of an early one, that runs
        again, with the money that there is. Where periods have ended up to it since, it is a period
        as any other.
        """
        if self.period is None or self.periods is None or self.status != "running":
            return []
        steps: list[tuple[list[int], Period, list[Period]]] = []
        spent, held, presumed, _ = self.sums()
        budget, period, early, now = self.budget, self.period, self.early, self.clock()
        while True:
            if period.start > now + HOUR:
                early = [*early, period]
                period = period._replace(start=now, next=self.end_after(now))
                steps.append((budget, period, early))
                continue
            if early and early[-1].start <= now:
                *rest, there = early
                if period.next != there.start or period.number == there.number:
                    period, early = period._replace(start=there.start, next=there.next), rest
                    steps.append((budget, period, early))
                    continue
            if now < period.next:
                return steps
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
            early = [each for each in early if each.start > period.start]
            steps.append((budget, period, early))

    def keeps(self, units: Units | list[int]) -> Units:
        """What of the money that an ended period leaves is kept."""
        assert self.periods is not None
        return tuple(units) if self.periods.carry == "all" else (0,) * len(units)

    def renew(self) -> None:
        """Make the boundaries that are due, in order, each by an entry."""
        for budget, period, early in self.due():
            self.budget, self.period, self.early = budget, period, early
            self.write()

    def skip_boundaries(self) -> None:
        """Those that passed while it stood still are not made. None is made twice because a clock
        went back.
        """
        if self.period is not None and self.period.next <= self.clock():
            self.period = self.period._replace(next=self.end_after(self.clock()))
            self.early = [each for each in self.early if each.start > self.clock()]

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
        return steps[-1][:2] if steps else (self.budget, self.period)


class Level(Renewed):
    """What can be said of a budget, whoever takes from it."""

    name: str
    resources: tuple[str, ...]
    requests: dict[str, tuple[object, ...]]

    @property
    def levels(self) -> "Sequence[Level]":
        """All whose budgets it takes from, from the top down to itself."""
        raise NotImplementedError

    def begin(self) -> None:
        """Whoever wants to change something makes the boundaries that are due, on all levels."""
        for level in self.levels:
            level.renew()

    def costs(self) -> list[Units]:
        """The most of each arm of the campaigns that are here or below and have not ended."""
        raise NotImplementedError

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
        self.write()
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
        self.write()
        self.renew()

    def refuse_ended(self) -> None:
        if self.status == "ended":
            raise Refusal("CampaignEnded")


@dataclass
class Account(Level):
    """A budget that others share. Nothing is booked on it: what was taken from it is what all below
    it have taken.
    """

    name: str
    resources: tuple[str, ...]
    given: Units  # its budget at first, and the allowance of each period
    clock: Callable[[], int]  # ms
    parent: "Account | None" = None
    renewed: Periods | None = None
    status: str = "running"
    entries: int = 1  # it was created
    rounds: int = 0
    children: list[Level] = field(default_factory=list)
    requests: dict[str, tuple[object, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.open_level(self.given, self.renewed)
        if self.parent is not None:
            self.parent.children.append(self)

    def sums(self) -> Sums:
        total = Sums(*([0] * len(self.resources) for _ in Sums._fields))
        for child in self.children:
            total = Sums(*map(added, total, child.sums()))
        return total

    def issued(self) -> list[tuple[Ticket, int]]:
        depth = len(self.levels) - 1
        return [
            (ticket, ticket.periods[depth])
            for child in self.children
            for ticket, _ in child.issued()
        ]

    def rounds_since(self, period: Period) -> None:
        return None

    def state(self) -> str:
        """What its status should be."""
        for level in reversed(self.levels):
            if level.status != "running":
                return level.status
        rests = zip(*(level.free for level in self.levels), strict=True)
        rest = [max(0, min(column)) for column in rests]
        costs = self.costs()
        if not costs:
            return "running" if min(rest) > 0 else "exhausted"
        pays = any(
            all(part <= there for part, there in zip(cost, rest, strict=True)) for cost in costs
        )
        return "running" if pays else "exhausted"

    def costs(self) -> list[Units]:
        return [cost for child in self.children for cost in child.costs()]

    @property
    def levels(self) -> "list[Account]":
        """From the top down to this."""
        return [*(self.parent.levels if self.parent else []), self]


def added(some: list[int], more: list[int]) -> list[int]:
    return [left + right for left, right in zip(some, more, strict=True)]
