"""The words of the reference ledger: terms, arms, tickets, reports and receipts, in integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

UNIT = 10**9
STATES = (
    "held",
    "told",
    "void",
    "presumed",
    "skipped",
    "settled",
    "failed",
)
LONGEST = 300_000  # ms of a cool-down
Units = tuple[int, ...]  # per resource
Context = tuple[float, float]  # as a user gives it: the first has a range, the second has none
Mask = dict[int, Units | None]  # arm -> the most that this call may cost, where that is said


def written(units: int) -> str:
    """Units as decimal text, without trailing zeros."""
    whole, rest = divmod(units, UNIT)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


class Refusal(Exception):
    """What should be refused: the name of the error and, of a cool-down, the ms to wait."""


class Periods(NamedTuple):
    """How a budget is renewed."""

    every: str
    zone: str = "UTC"
    carry: str = "all"


class Terms(NamedTuple):
    arms: tuple[str, ...]
    resources: tuple[str, ...]
    budget: Units
    least: tuple[Units, ...]  # per arm
    most: tuple[Units, ...]
    horizon: int | None = None
    expires_after: int | None = None  # ms
    initial: bool = False  # whether the policy pulls each arm once at first
    cooldown: int | None = 1_000  # ms
    reward_within: int | None = None  # ms
    missing: float | None = None  # what a missing reward counts as
    range: tuple[float, float] | None = None
    explore: float | None = None  # the share of the money
    capacity: int | None = None
    ceiling: tuple[Units, ...] | None = None  # per arm
    features: tuple[float, float] | None = None  # the range of the first of two
    periods: Periods | None = None


class Report(NamedTuple):
    reward: float
    costs: Units


class Receipt(NamedTuple):
    ticket: int
    state: str
    duplicate: bool
    late: bool
    spent: Units
    refunded: Units
    overrun: Units


@dataclass
class Ticket:
    id: int
    t: int
    arm: int | None  # None where the round is skipped
    held: Units
    request_id: str | None
    asked_at: int
    deadline: int | None
    initial: bool  # an arm owed it
    state: str = "held"
    report: Report | None = None  # once it is told
    reward: float | None = None  # as soon as it is known
    costs: Units | None = None  # as soon as they are known
    paid_from: str = ""  # its state when the cost became known
    gone: bool = False  # it was voided or failed: it says nothing of what its arm brings
    receipt: Receipt | None = None
    context: Context | None = None  # as it is seen
    periods: tuple[int, ...] = ()  # in which it was asked for, on each level from the top down

    def money(self) -> tuple[Units, ...]:
        """Spent, held, presumed and overrun of each resource."""
        nothing = (0,) * len(self.held)
        held = self.held if self.state == "held" else nothing
        presumed = self.held if self.state == "presumed" else nothing
        if self.costs is None:
            return nothing, held, presumed, nothing
        most = self.held if self.paid_from in ("held", "presumed") else nothing
        spent = tuple(map(min, self.costs, most))
        return spent, held, presumed, tuple(map(int.__sub__, self.costs, spent))


@dataclass
class CoolDown:
    """The last cool-down of an arm."""

    begun: int
    length: int
    seen: int  # the last ticket that was issued before it began
    over: bool = False  # a later call has worked


@dataclass
class Arm:
    name: str
    least: Units
    most: Units
    retired: bool = False
    owes: bool = False  # its initial pull
    cooling: CoolDown | None = None


def labels_of(request_id: str | None) -> dict[str, str] | None:
    """The labels of an ask, which depend on its name, so that a repeat has the same."""
    number = int((request_id or "0").rpartition("-")[2])
    return (None, {"tenant": "x"}, {"tenant": f"t{number}", "team": "y"})[number % 3]
