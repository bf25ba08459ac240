"""The ends of periods and of campaigns, as instants.

Nothing here looks at a clock. Instants are milliseconds since 1970. Hours are elapsed time. The
boundaries of days, weeks and months are local times: midnight, Monday, the first. If summer time
skips a local time, the boundary is the first instant after the gap; if a local time comes twice, it
is the first of the two.
"""

import re
import zoneinfo
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from purse.base import validation
from purse.campaign.api.defaults import CARRY, TIME_ZONE
from purse.errors import invalid, suggest

_HOURS = re.compile(r"([1-9][0-9]{0,3})h")
_HOUR = 3_600_000  # ms
_LOCAL = {"day": 24 * _HOUR, "week": 168 * _HOUR, "month": 730 * _HOUR}  # about how long they are
MILLISECOND = timedelta(milliseconds=1)
_SECOND = timedelta(seconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MONDAY = datetime(1970, 1, 5)  # local midnight
_FIRST_DAY = datetime(1970, 1, 1)


class Calendar(NamedTuple):
    """The boundaries of periods. Build it with `Calendar.of`, which checks."""

    every: str  # "day", "week", "month", or hours such as "6h"
    time_zone: str

    @classmethod
    def of(cls, every: str, time_zone: str) -> "Calendar":
        """Return a calendar from what a user gives. Raise `InvalidInput` if that is no calendar."""
        if not isinstance(every, str) or not (every in _LOCAL or _HOURS.fullmatch(every)):
            raise invalid(
                "every", every, "must be 'day', 'week', 'month' or a number of hours such as '6h'"
            )
        _check_zone(time_zone)
        return cls(every, time_zone)

    def next_end(self, boundary: int, after: int) -> int:
        """Return the first boundary after an instant.

        boundary   another one, from which hours are counted
        """
        if (length := self.hours) is not None:
            return boundary + ((after - boundary) // length + 1) * length
        zone = _find_zone(self.time_zone)
        local = (EPOCH + after * MILLISECOND).astimezone(zone)
        days = (local.date() - _FIRST_DAY.date()).days
        months = (local.year - _FIRST_DAY.year) * 12 + local.month - 1
        # a few too early: where the offset changes, instants differ from local times by a day
        count = max(0, {"day": days, "week": days // 7, "month": months}[self.every] - 2)
        while (end := _instant(_begin(self.every, count), zone)) <= after:
            count += 1
        return end

    def count_in(self, time: int) -> int:
        """Return about how many periods begin within a time, ms, its first instant included."""
        return time // (self.hours or _LOCAL[self.every]) + 1

    @property
    def hours(self) -> int | None:
        """The length of a period of elapsed time in ms; None if periods are local."""
        hours = _HOURS.fullmatch(self.every)
        return None if hours is None else int(hours[1]) * _HOUR


def _begin(every: str, count: int) -> datetime:
    """Return the local time at which a period begins.

    count   periods of this kind since the first one of 1970
    """
    if every == "month":
        return _FIRST_DAY.replace(year=_FIRST_DAY.year + count // 12, month=count % 12 + 1)
    if every == "week":
        return _FIRST_MONDAY + timedelta(weeks=count)
    return _FIRST_DAY + timedelta(days=count)


def _instant(local: datetime, zone: tzinfo) -> int:
    """Return the instant of a local time: the first of two, or the first one after a gap."""
    moment = local.replace(tzinfo=zone).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) != local:
        moment = _end_of_gap(local, zone)
    return (moment - EPOCH) // MILLISECOND


def local_day(time_zone: str, at: int) -> str:
    """Return the local date of an instant, such as 2027-12-31."""
    return (EPOCH + at * MILLISECOND).astimezone(_find_zone(time_zone)).date().isoformat()


def ahead_of_utc(time_zone: str, at: int) -> int:
    """Return by how much local time is ahead of UTC at an instant, ms."""
    offset = (EPOCH + at * MILLISECOND).astimezone(_find_zone(time_zone)).utcoffset()
    return (offset or timedelta()) // MILLISECOND


def _end_of_gap(local: datetime, zone: tzinfo) -> datetime:
    """Return the first instant after the gap around a local time: clocks change on a second."""
    late = local.replace(tzinfo=zone).astimezone(UTC)  # with the offset before the gap
    early = local.replace(tzinfo=zone, fold=1).astimezone(UTC)  # with the offset after it
    offset = late.astimezone(zone).utcoffset()
    low, high = 0, (late - early) // _SECOND
    while high - low > 1:
        middle = (low + high) // 2
        if (early + middle * _SECOND).astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return early + high * _SECOND


def _check_zone(name: Any) -> None:
    """Raise `InvalidInput` if this is not the name of a time zone."""
    if not isinstance(name, str):
        raise invalid("time_zone", name, "must be a name such as 'Europe/Berlin'")
    _find_zone(name)


_OF_THIS_MACHINE = ("localtime", "Factory")  # names that mean another zone elsewhere, or none


@lru_cache(64)
def _find_zone(name: str) -> tzinfo:
    """Return the time zone of a name. Raise `InvalidInput` if the name is unknown."""
    if name == "UTC":
        return UTC  # which needs no data
    try:
        if name in _OF_THIS_MACHINE:
            raise ValueError(name)
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        zones = sorted(zoneinfo.available_timezones() - set(_OF_THIS_MACHINE))
        hint = suggest(name, zones) if zones else "pip install tzdata, which knows them"
        raise invalid(
            "time_zone",
            name,
            "must be the name of a time zone, such as 'Europe/Berlin'" + f"; {hint}" * bool(hint),
        ) from None


@lru_cache(64)
def data_version(name: str) -> str:
    """Return the version of the data that a zone is read from, such as "2026a"; "" for UTC."""
    if name == "UTC":
        return ""
    _find_zone(name)  # refuses an unknown name, in words
    for folder in map(Path, zoneinfo.TZPATH):
        if (folder / name).is_file():
            return _folder_version(folder)
    from importlib import metadata  # the package that stands in if the system has no data

    return metadata.version("tzdata")


def _folder_version(folder: Path) -> str:
    """Return the version of a system's data, which its own files tell."""
    for file in ("tzdata.zi", "+VERSION"):  # "# version 2026a", "2026a"
        if (folder / file).is_file():
            with (folder / file).open(encoding="utf-8") as lines:
                return lines.readline().removeprefix("# version").strip()
    return "unknown"


_NONE, ALL = _CARRIES = ("none", "all")  # what is carried over of the money left


def read_periods(
    every: str | None, time_zone: str | None, carry: str, until: Any = None
) -> dict[str, Any]:
    """Return the terms of periods, and of an end, from what a user gives."""
    zone = TIME_ZONE if time_zone is None else time_zone
    terms: dict[str, Any] = {}
    if until is not None:
        _check_zone(zone)
        terms = {"until": _read_until(until, _find_zone(zone)), "time_zone": zone}
    if every is None or every == "":
        needed = {"carry": (carry, CARRY)} | ({} if terms else {"time_zone": (zone, TIME_ZONE)})
        for field, (value, default) in needed.items():
            if value != default:
                raise invalid(field, value, "needs every: 'day', 'week', 'month' or such as '6h'")
        return terms
    Calendar.of(every, zone)
    carry = validation.choice("carry", carry, _CARRIES)
    return {**terms, "every": every, "time_zone": zone, "carry": carry}


def _read_until(until: Any, zone: tzinfo) -> int:
    """Return the instant from which on asks are refused: the end of a date, or a time. Without an
    offset they are local to a time zone.
    """
    try:
        when = until
        if isinstance(until, str):
            when = _whole_date(until) or datetime.fromisoformat(until)
        if not isinstance(when, datetime):  # which is a date, too
            when = datetime(when.year, when.month, when.day) + timedelta(days=1)
        at = _instant(when, zone) if when.tzinfo is None else (when - EPOCH) // MILLISECOND
        return max(1, at)  # 0 would be no end
    except (ValueError, OverflowError, AttributeError):
        raise invalid(
            "until", until, "must be a date such as '2027-12-31', or a time: '2027-12-31T18:00'"
        ) from None


def _whole_date(text: str) -> date | None:
    """Return the date of a text; None if the text is not a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def is_period_end(every: str, first_end: Any, tz: Any) -> bool:
    """Return whether these are the end of a first period and a version of time-zone data; 0 and ""
    without periods.
    """
    if type(first_end) is not int or not isinstance(tz, str):
        return False
    return first_end > 0 if every else (first_end, tz) == (0, "")
