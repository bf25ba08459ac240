"""Boundaries of periods against a calendar that looks at clocks on the wall."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from purse.campaign.period import Calendar
from purse.errors import InvalidInput
from tests.support.reference_terms import following
from tests.support.soak import scale

HOUR = 3_600_000  # ms


ZONES = (
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",  # its gaps were at midnight, until 2018
    "Asia/Beirut",  # so are these
    "Australia/Lord_Howe",  # half an hour
    "Asia/Kathmandu",  # 5:45
    "Pacific/Apia",  # without 30 December 2011
    "Africa/Cairo",
    "America/St_Johns",  # clocks were changed at 0:01, until 2011
    "Antarctica/Troll",  # two hours
)


def ms(*parts: int) -> int:
    """The instant of a time in UTC."""
    return round(datetime(*parts, tzinfo=UTC).timestamp() * 1000)  # type: ignore[misc]


def ends(every: str, zone: str, after: int, count: int) -> list[datetime]:
    """Boundaries, one after another."""
    calendar, instants = Calendar.of(every, zone), [after]
    for _ in range(count):
        instants.append(calendar.next_end(instants[-1], instants[-1]))
    return [datetime.fromtimestamp(each / 1000, UTC) for each in instants[1:]]


def texts(moments: list[datetime]) -> list[str]:
    return [moment.strftime("%m-%d %H:%M") for moment in moments]


@settings(max_examples=scale(150, 20_000), deadline=None, derandomize=True, database=None)
@given(
    every=st.sampled_from(["day", "week", "month"]),
    zone=st.sampled_from(ZONES),
    # half of them near the hours at which clocks change
    after=st.datetimes(datetime(1995, 1, 1), datetime(2036, 12, 31))
    | st.builds(
        lambda year, month, day, hour: datetime(year, month, day, hour),
        st.integers(2005, 2030),
        st.sampled_from([2, 3, 4, 9, 10, 11]),
        st.integers(1, 28),
        st.integers(0, 23),
    ),
)
@example("day", "America/Sao_Paulo", datetime(2017, 10, 14, 12))
@example("day", "Asia/Beirut", datetime(2019, 3, 30, 21))
@example("day", "Pacific/Apia", datetime(2011, 12, 29, 12))
@example("day", "Europe/Berlin", datetime(2026, 3, 28, 12))
@example("day", "Europe/Berlin", datetime(2026, 10, 24, 12))
def test_is_what_clocks_on_the_wall_say(every: str, zone: str, after: datetime) -> None:
    moment = after.replace(microsecond=0, tzinfo=UTC)
    instant = round(moment.timestamp() * 1000)
    (instants,) = ends(every, zone, instant, 1)
    assert instants.timestamp() * 1000 == following(every, zone, instant, instant)


@given(st.integers(1, 9999), st.integers(0, 2**42), st.integers(0, 2**42))
def test_hours_are_elapsed_time(hours: int, known: int, later: int) -> None:
    instants = Calendar.of(f"{hours}h", "Europe/Berlin").next_end(known, known + later)
    assert instants > known + later
    assert (instants - known) % (hours * HOUR) == 0
    assert instants - (known + later) <= hours * HOUR


def test_hours_go_on_through_summer_time() -> None:
    instants = ends("6h", "Europe/Berlin", ms(2026, 3, 28, 18), 3)
    assert texts(instants) == ["03-29 00:00", "03-29 06:00", "03-29 12:00"]


def test_months_are_as_long_as_they_are() -> None:
    instants = ends("month", "UTC", ms(2026, 12, 15), 15)
    assert [(b - a).days for a, b in pairwise(instants)] == [
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31, 29,
    ]  # fmt: skip


def test_days_have_23_24_or_25_hours() -> None:
    for start, hours in (((2026, 3, 28), [23, 24]), ((2026, 10, 24), [25, 24])):
        instants = ends("day", "Europe/Berlin", ms(*start), 3)
        assert [(b - a).total_seconds() / 3600 for a, b in pairwise(instants)] == hours


def test_a_boundary_in_a_gap_is_the_first_instant_after_it() -> None:
    instants = ends("day", "America/Sao_Paulo", ms(2017, 10, 14, 12), 2)
    assert texts(instants) == ["10-15 03:00", "10-16 02:00"]


def test_a_boundary_that_comes_twice_is_the_first_one() -> None:
    instants = ends("day", "America/Havana", ms(2026, 10, 31, 12), 2)  # back at 1:00, 5:00 UTC
    assert texts(instants) == ["11-01 04:00", "11-02 05:00"]


def test_two_boundaries_at_once_are_one() -> None:
    instants = ends("day", "Pacific/Apia", ms(2011, 12, 29, 12), 2)
    assert texts(instants) == ["12-30 10:00", "12-31 10:00"]  # the morning of the 31st, the 1st


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("every", ("year", "UTC")),
        ("every", ("0h", "UTC")),
        ("every", ("1.5h", "UTC")),
        ("every", (7, "UTC")),
        ("time_zone", ("day", "Berlin")),
        ("time_zone", ("day", "localtime")),
        ("time_zone", ("day", "../../etc/passwd")),
        ("time_zone", ("day", 1)),
    ],
)
def test_refuses_what_is_no_calendar(field: str, given: tuple[Any, ...]) -> None:
    with pytest.raises(InvalidInput, match=f"^{field}="):
        Calendar.of(*given)


def test_suggests_the_time_zone_that_was_meant() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'Europe/Berlin'"):
        Calendar.of("day", "Europe/Berln")
