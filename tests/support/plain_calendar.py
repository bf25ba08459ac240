"""A plain calendar, to hold the real one against: it walks through days and minutes, and knows no
rule but that a boundary is the first minute at which the local clock shows its time or a later one.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)


def local_at(moment: datetime, zone: ZoneInfo) -> datetime:
    """What a clock on the wall shows."""
    return moment.astimezone(zone).replace(tzinfo=None)


def first_minute(local: datetime, zone: ZoneInfo) -> datetime:
    """The first minute at which a wall clock shows a time, or has gone beyond it."""
    around = [
        local.replace(tzinfo=UTC) + hours * HOUR for hours in range(-48, 49, 3)
    ]  # all offsets of these days
    offsets = {local_at(moment, zone) - moment.replace(tzinfo=None) for moment in around}
    moment = min(local - offset for offset in offsets).replace(tzinfo=UTC)
    while local_at(moment, zone) < local:
        moment += MINUTE
    return moment


def is_boundary(day: datetime, every: str, anchor: datetime) -> bool:
    """Whether a period begins on a day."""
    if every == "week":
        return day.weekday() == anchor.weekday()
    if every == "month":
        is_last = (day + DAY).day == 1
        return day.day == anchor.day or (is_last and day.day < anchor.day)
    return True


def next_boundary(after: datetime, every: str, zone: ZoneInfo, anchor: datetime) -> datetime:
    """The first boundary after a moment that is not before the anchor."""
    day = local_at(after, zone).replace(hour=0, minute=0, second=0, microsecond=0) - 2 * DAY
    day = max(day, anchor.replace(hour=0, minute=0))
    while True:
        if is_boundary(day, every, anchor):
            local = day.replace(hour=anchor.hour, minute=anchor.minute)
            moment = first_minute(local, zone)
            if moment > after:
                return moment
        day += DAY
