"""Boundaries of periods against a calendar that looks at clocks on the wall."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from purse.campaign.terms.calendar import Calendar
from purse.errors import InvalidInput
from tests.support.reference_terms import following
from tests.support.soak import scale

# gaps at midnight, of half an hour, of two hours, at 0:01, and without a 30 December
ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Asia/Beirut",
    "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "Africa/Cairo", "America/St_Johns",
    "Antarctica/Troll", "America/Havana", "Pacific/Chatham", "Africa/Casablanca", "Asia/Tehran",
    "America/Santiago", "Atlantic/Azores",
)  # fmt: skip
DAY = 86_400_000  # ms


@settings(max_examples=scale(150, 20_000), deadline=None, derandomize=True, database=None)
@given(
    every=st.sampled_from(["day", "week", "month", "6h", "25h"]),
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
    pauses=st.lists(st.integers(0, 400 * DAY), max_size=4),
)
@example("day", "America/Sao_Paulo", datetime(2017, 10, 14, 12), [])
@example("day", "Asia/Beirut", datetime(2019, 3, 30, 21), [])
@example("day", "Pacific/Apia", datetime(2011, 12, 29, 12), [])
@example("day", "Europe/Berlin", datetime(2026, 3, 28, 12), [])
@example("day", "Europe/Berlin", datetime(2026, 10, 24, 12), [])
@example("day", "America/Havana", datetime(2026, 10, 31, 12), [])  # a boundary that comes twice
def test_is_what_clocks_on_the_wall_say(
    every: str, zone: str, after: datetime, pauses: list[int]
) -> None:
    """One after the other, and after one that nobody has made."""
    moment = after.replace(microsecond=0, tzinfo=UTC)
    created = round(moment.timestamp() * 1000)
    calendar = Calendar.of(every, zone)
    end = calendar.next_end(created, created)
    assert end == following(every, zone, created, created)
    for pause in pauses:
        for later in (end, end + pause):
            expected = following(every, zone, created, later)
            assert calendar.next_end(end, later) == expected, (end, later)
            end = expected


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
