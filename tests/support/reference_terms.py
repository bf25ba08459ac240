"""The words of the reference ledger, in integers, and when its periods end: by looking at clocks
on the wall, instant after instant. It shares nothing with what it is held against.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import count
from typing import NamedTuple
from zoneinfo import ZoneInfo

UNIT = 10**9
STATES = ("held", "told", "void", "presumed", "skipped", "settled", "failed")
LONGEST = 300_000  # ms of a cool-down
Units = tuple[int, ...]  # per resource
Context = tuple[float, float]  # as a user gives it: the first has a range, the second has none
Mask = dict[int, Units | None]  # arm -> the most that this call may cost, where that is said
STEPS = (timedelta(minutes=15), timedelta(minutes=1), timedelta(seconds=1))
MOST = timedelta(hours=27)  # by which a wall clock differs from UTC, and a little more
UNITS = {"h": 3_600_000, "m": 60_000, "s": 1_000}  # ms


def written(units: int) -> str:
    """Units as decimal text, without trailing zeros."""
    whole, rest = divmod(abs(units), UNIT)
    return "-" * (units < 0) + f"{whole}.{rest:09d}".rstrip("0").rstrip(".")


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
    until: int | None = None  # ms
    skip: bool = False  # whether rounds may pass


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

    @property
    def broken(self) -> bool:
        """Whether its call failed, and nobody knows what that cost."""
        return self.gone and self.state in ("held", "presumed")

    def money(self) -> tuple[Units, ...]:
        """Spent, held, presumed and overrun of each resource."""
        nothing = (0,) * len(self.held)
        held = self.held if self.state == "held" else nothing
        presumed = self.held if self.state == "presumed" else nothing
        if self.costs is None:
            return nothing, held, presumed, nothing
        most = self.held if self.paid_from in ("held", "presumed") else nothing
        over = tuple(max(0, cost - part) for cost, part in zip(self.costs, most, strict=True))
        return self.costs, held, presumed, over


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
    declared: Units | None = None  # its most before a bill was above it


def labels_of(request_id: str | None) -> dict[str, str] | None:
    """The labels of an ask, which depend on its name, so that a repeat has the same."""
    number = int((request_id or "0").rpartition("-")[2])
    return (None, {"tenant": "x"}, {"tenant": f"t{number}", "team": "y"})[number % 3]


def wall(ms: int, zone: str) -> datetime:
    """What clocks on the wall show at an instant, without their zone."""
    return datetime.fromtimestamp(ms / 1000, UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


@cache
def instant(local: datetime, zone: str) -> int:
    """The first instant, in ms, at which clocks show this time or a later one: where it comes twice
    the first of both, where it is skipped the end of the gap.
    """
    at = local.replace(tzinfo=UTC) - MOST
    for step in STEPS:
        while wall(round(at.timestamp() * 1000), zone) < local:
            at += step
        at -= step if step != STEPS[-1] else timedelta(0)
    return round(at.timestamp() * 1000)


def add_months(day: date, months: int) -> date:
    """The same day in another month, or the last day of a shorter one."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    for last in range(day.day, 0, -1):
        try:
            return date(year, month + 1, last)
        except ValueError:
            continue
    raise AssertionError


def following(every: str, zone: str, created: int, after: int) -> int:
    """The first end of a period after an instant, all in ms."""
    if every[0].isdigit():
        length = int(every[:-1]) * UNITS[every[-1]]
        first = (after - created) // length - 1  # a few too early
        return next(at for k in count(first) if (at := created + k * length) > after)
    today = wall(created, zone).date()
    if every == "week":
        anchor = datetime.combine(today - timedelta(days=today.weekday()), datetime.min.time())
    else:
        anchor = datetime.combine(
            today.replace(day=1) if every == "month" else today, datetime.min.time()
        )
    days = (wall(after, zone) - anchor).days - 3  # a few too early
    lengths = {"day": 1, "week": 7, "month": 31}
    for k in count(days // lengths[every]):
        if every == "month":
            local = datetime.combine(add_months(anchor.date(), k), anchor.time())
        else:
            local = anchor + timedelta(days=k * lengths[every])
        if (at := instant(local, zone)) > after:
            return at
    raise AssertionError
