"""Series of a history, in bounded room.

The points of a long campaign merge; those of the last hour and day are finer. What was asked and
told is counted by seconds of the last minute.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, get_args

from purse.base import amounts
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.records import COUNTERS, Balance, text
from purse.campaign.terms.terms import Terms

_POINTS = 256
MINUTE = 60  # seconds
_SLOTS = 240  # of a recent series
Span = Literal["all", "day", "hour"]
ALL, _DAY, _HOUR = get_args(Span)
LENGTHS = {_DAY: 86_400_000, _HOUR: 3_600_000}  # ms


class Sample(NamedTuple):
    """The balances and counts at a time."""

    at: int  # ms
    balances: Sequence[Balance]  # of each resource
    pulls: Sequence[int]  # of each arm so far
    gain: float  # the sum of all rewards

    def pulls_of(self, arm: int) -> int:
        """Return the pulls of an arm; 0 before it was there."""
        return self.pulls[arm] if arm < len(self.pulls) else 0


class TimeSeries:
    """At most `POINTS` points, the first of which stays.

    Time is cut into slots of equal width, and a slot keeps its last point. Whenever there are too
    many points the width doubles, so that neighbours merge: a long campaign keeps its shape. What
    is kept depends on the points alone, not on when they were looked at.
    """

    def __init__(self, first: Sample) -> None:
        self.first = first
        self.width = 1  # ms
        self.points: list[Sample] = []

    def slot(self, at: int) -> int:
        """Return the slot that a time lies in."""
        return (at - self.first.at) // self.width

    def add(self, point: Sample) -> None:
        """Keep the last point of a slot that is over."""
        self.points.append(point)
        while len(self.points) > _POINTS - 2:  # the first and the present one come on top
            self.width *= 2
            self.points = list({self.slot(sample.at): sample for sample in self.points}.values())

    def at(self, time: int) -> Sample:
        """Return the last point that is not after a time."""
        index = bisect_right(self.points, time, key=lambda point: point.at)
        return self.points[index - 1] if index else self.first


class RecentSeries:
    """The last points of slots of equal width, in the last `length` ms and just before."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.width = length // _SLOTS
        self.points: deque[Sample] = deque()

    def add(self, point: Sample) -> None:
        """Keep the last point of a slot that is over; forget what is too old."""
        self.points.append(point)
        while len(self.points) > 1 and self.points[1].at <= point.at - self.length:
            self.points.popleft()

    def since(self, time: int, series: TimeSeries) -> list[Sample]:
        """Return the point at a time and those after it; `series` has the oldest ones."""
        begun = self.points[0].at if self.points else None
        earlier = [sample for sample in series.points if begun is None or sample.at < begun]
        samples = [series.first, *earlier, *self.points]
        index = bisect_right(samples, time, key=lambda point: point.at)
        return [samples[max(0, index - 1)]._replace(at=time), *samples[index:]]


class LastMinute:
    """The asks and reports of the last minute, by seconds."""

    def __init__(self) -> None:
        self.seconds: deque[tuple[int, int, int]] = deque()  # the second, and the totals before it

    def begin(self, second: int, asks: int, tells: int) -> None:
        """Remember the totals before a second in which something happens."""
        self.seconds.append((second, asks, tells))
        while self.seconds[0][0] <= second - MINUTE:
            self.seconds.popleft()

    def since(self, second: int, asks: int, tells: int) -> tuple[int, int]:
        """Return how many were asked and told in the minute up to and including a second."""
        for began, asks_before, tells_before in self.seconds:
            if began > second - MINUTE:
                return asks - asks_before, tells - tells_before
        return 0, 0


def sample(at: int, balances: list[list[int]], pulls: list[int], gain: float) -> Sample:
    """Return a sample from JSON."""
    return Sample(at, [Balance(*counters) for counters in balances], pulls, gain)


def purses(points: list[Sample]) -> list[dict[str, Any]]:
    """Return the counters of each resource over time, as decimal text."""
    return [
        {
            field: [amounts.text(getattr(balance, field)) for balance in balances]
            for field in (*COUNTERS, "left")
        }
        for balances in zip(*(point.balances for point in points), strict=True)
    ]


def projection(was: Balance, part: Balance, since: int, now: int) -> dict[str, float] | None:
    """Return when a resource runs out at its rate since a time (ms); None if nothing was spent."""
    paid, seconds = part.spent + part.presumed - was.spent - was.presumed, (now - since) / 1000
    if paid <= 0 or seconds <= 0:
        return None
    lasts = max(0, part.left) * seconds / paid
    return {"per_second": paid / seconds / amounts.UNIT, "seconds": lasts, "at": now / 1000 + lasts}


_KEPT = 10  # of each kind
# kinds of alarms, and charges
_KINDS = ("overrun", "conflict", "presumed", "outside-range", "charged")


class Incidents:
    """Recent events that a person should look at."""

    def __init__(self, terms: Terms) -> None:
        self.range = terms.reward_range
        self.kept = {kind: deque[list[Any]](maxlen=_KEPT) for kind in _KINDS}

    def see(self, entry: LedgerEntry) -> None:
        """Take in an entry of the journal."""
        if entry.kind == "conflict":
            self._keep("conflict", entry)
        elif entry.kind == "expired":
            self._keep("presumed", entry)
        elif entry.kind == "charged":
            self.kept["charged"].append([entry.at / 1000, list(map(text, entry.body["amount"]))])
        else:
            if entry.body.get("over"):
                self._keep("overrun", entry)
            if self.range and (reward := entry.body.get("reward")) is not None:
                low, high = self.range
                if not low <= reward <= high:
                    self._keep("outside-range", entry)

    def _keep(self, kind: str, entry: LedgerEntry) -> None:
        incidents = self.kept[kind]
        if not incidents or incidents[-1][1] != entry.ticket:
            incidents.append([entry.at / 1000, entry.ticket])

    def as_dict(self) -> dict[str, list[list[Any]]]:
        """(time in seconds, ticket) of each kind, the oldest first; (time, amounts) of charges."""
        return {kind: list(incidents) for kind, incidents in self.kept.items()}

    def take_over(self, facts: dict[str, list[list[Any]]]) -> None:
        """Know what `as_dict` said."""
        for kind, rows in facts.items():
            self.kept[kind].extend(rows)
