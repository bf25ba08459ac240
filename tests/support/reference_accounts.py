"""An account of the reference ledger: what is below it, added up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.support.reference_levels import Level
from tests.support.reference_periods import Period, Sums
from tests.support.reference_terms import Periods, Ticket, Units


@dataclass
class Account(Level):
    """A budget that others share. Nothing is booked on it: what was taken from it is what all below
    it have taken.
    """

    name: str
    resources: tuple[str, ...]
    given: Units  # its budget at first, and the allowance of each period
    clock: Callable[[], int]  # ms
    parent: Account | None = None
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

    @property
    def levels(self) -> list[Account]:
        """From the top down to this."""
        return [*(self.parent.levels if self.parent else []), self]


def added(some: list[int], more: list[int]) -> list[int]:
    return [left + right for left, right in zip(some, more, strict=True)]
