"""When periods end: local calendar, or elapsed hours. Nothing here looks at a clock.

The boundaries of days, weeks and months are local times: midnight, Monday, the first. A local time
that summer time skips is the first instant after the gap, and one that comes twice is the first of
the two. Hours are elapsed time. Instants are milliseconds since 1970.
"""

from __future__ import annotations

import re
import zoneinfo
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from purse.errors import invalid, suggest

LOCAL = ("day", "week", "month")
HOURS = re.compile(r"([1-9][0-9]{0,3})h")
HOUR = 3_600_000  # ms
MILLISECOND = timedelta(milliseconds=1)
SECOND = timedelta(seconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_MONDAY = datetime(1970, 1, 5)  # local midnight
FIRST_DAY = datetime(1970, 1, 1)


class Calendar(NamedTuple):
    """The boundaries of periods. Build it with `Calendar.of`, which checks."""

    every: str  # "day", "week", "month", or hours such as "6h"
    time_zone: str

    @classmethod
    def of(cls, every: str, time_zone: str) -> Calendar:
        """Return a calendar from what a user gives. Raise `InvalidInput` where it is not one."""
        if not isinstance(every, str) or not (every in LOCAL or HOURS.fullmatch(every)):
            raise invalid(
                "every", every, "must be 'day', 'week', 'month' or a number of hours such as '6h'"
            )
        if not isinstance(time_zone, str):
            raise invalid("time_zone", time_zone, "must be a name such as 'Europe/Berlin'")
        find_zone(time_zone)
        return cls(every, time_zone)

    def first_end(self, begun: int) -> int:
        """Return the end of a first period that begins at an instant."""
        return self.next_end(begun, begun)

    def next_end(self, known: int, after: int) -> int:
        """Return the first boundary after an instant.

        known   another boundary, from which hours are counted
        """
        if (length := self.hours) is not None:
            return known + ((after - known) // length + 1) * length
        zone = find_zone(self.time_zone)
        local = (EPOCH + after * MILLISECOND).astimezone(zone)
        days = (local.date() - FIRST_DAY.date()).days
        months = (local.year - FIRST_DAY.year) * 12 + local.month - 1
        # a few too early: where the offset changes, instants differ from local times by a day
        count = max(0, {"day": days, "week": days // 7, "month": months}[self.every] - 2)
        while (end := instant(begin(self.every, count), zone)) <= after:
            count += 1
        return end

    @property
    def hours(self) -> int | None:
        """The length of a period of elapsed time in ms; None where periods are local."""
        found = HOURS.fullmatch(self.every)
        return None if found is None else int(found[1]) * HOUR


def begin(every: str, count: int) -> datetime:
    """Return the local time at which a period begins, so many after the first one of 1970."""
    if every == "month":
        return FIRST_DAY.replace(year=FIRST_DAY.year + count // 12, month=count % 12 + 1)
    if every == "week":
        return FIRST_MONDAY + timedelta(weeks=count)
    return FIRST_DAY + timedelta(days=count)


def instant(local: datetime, zone: tzinfo) -> int:
    """Return the instant of a local time: the first of two, or the first one after a gap."""
    found = local.replace(tzinfo=zone).astimezone(UTC)
    if found.astimezone(zone).replace(tzinfo=None) != local:
        found = end_of_gap(local, zone)
    return (found - EPOCH) // MILLISECOND


def end_of_gap(local: datetime, zone: tzinfo) -> datetime:
    """Return the first instant after the gap around a local time: clocks change on a second."""
    late = local.replace(tzinfo=zone).astimezone(UTC)  # with the offset before the gap
    early = local.replace(tzinfo=zone, fold=1).astimezone(UTC)  # with the offset after it
    offset = late.astimezone(zone).utcoffset()
    low, high = 0, (late - early) // SECOND
    while high - low > 1:
        middle = (low + high) // 2
        if (early + middle * SECOND).astimezone(zone).utcoffset() == offset:
            high = middle
        else:
            low = middle
    return early + high * SECOND


OF_THIS_MACHINE = ("localtime", "Factory")  # names that mean another zone elsewhere, or none


@lru_cache(64)
def find_zone(name: str) -> tzinfo:
    """Return the time zone of a name. Raise `InvalidInput` if the name is unknown."""
    if name == "UTC":
        return UTC  # which needs no data
    try:
        if name in OF_THIS_MACHINE:
            raise ValueError(name)
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        known = sorted(zoneinfo.available_timezones() - set(OF_THIS_MACHINE))
        hint = suggest(name, known) if known else "pip install tzdata, which knows them"
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
    find_zone(name)  # refuses what nobody knows, in words
    for folder in map(Path, zoneinfo.TZPATH):
        if (folder / name).is_file():
            return folder_version(folder)
    from importlib import metadata  # the package that stands in where the system has no data

    return metadata.version("tzdata")


def folder_version(folder: Path) -> str:
    """Return the version of a system's data, which its own files tell."""
    for file in ("tzdata.zi", "+VERSION"):  # "# version 2026a", "2026a"
        if (folder / file).is_file():
            with (folder / file).open(encoding="utf-8") as lines:
                return lines.readline().removeprefix("# version").strip()
    return "unknown"
