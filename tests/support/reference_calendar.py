"""When periods end, by looking at clocks on the wall, instant after instant. It is slow and plain,
and shares nothing with what it is held against.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import count
from zoneinfo import ZoneInfo

STEPS = (timedelta(minutes=15), timedelta(minutes=1), timedelta(seconds=1))
MOST = timedelta(hours=27)  # by which a wall clock differs from UTC, and a little more
UNITS = {"h": 3_600_000, "m": 60_000, "s": 1_000}  # ms


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
        return next(at for k in count(1) if (at := created + k * length) > after)
    today = wall(created, zone).date()
    if every == "week":
        anchor = datetime.combine(today - timedelta(days=today.weekday()), datetime.min.time())
    else:
        anchor = datetime.combine(
            today.replace(day=1) if every == "month" else today, datetime.min.time()
        )
    days = (wall(after, zone) - anchor).days - 3  # a few too early
    lengths = {"day": 1, "week": 7, "month": 31}
    for k in count(days // lengths[every] if days > 0 else 0):
        if every == "month":
            local = datetime.combine(add_months(anchor.date(), k), anchor.time())
        else:
            local = anchor + timedelta(days=k * lengths[every])
        if (at := instant(local, zone)) > after:
            return at
    raise AssertionError
