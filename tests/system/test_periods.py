"""What periods promise, in every kind of storage; and the calendar held against a plain one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.campaign.calendar import Calendar
from tests.support import period_checks
from tests.support.reference_calendar import following
from tests.support.soak import scale
from tests.support.storages import StorageHarness

ZONES = [
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Asia/Beirut", "America/Havana", "Pacific/Apia", "Pacific/Chatham", "Africa/Casablanca",
    "America/Santiago", "Asia/Tehran", "Atlantic/Azores", "America/St_Johns", "Antarctica/Troll",
]  # fmt: skip
DAY = 86_400_000  # ms
CHECKS = [
    period_checks.a_boundary_is_made_once,
    period_checks.missed_boundaries_are_made_in_order,
    period_checks.the_refund_of_an_ended_period_is_dropped,
    period_checks.so_is_that_of_an_ended_period_of_an_account,
    period_checks.what_is_left_is_dropped_at_the_boundary,
    period_checks.nothing_is_renewed_while_it_is_paused,
]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_promise_of_periods(
    make_harness: Callable[[str], StorageHarness], kind: str, check: Callable[..., Any]
) -> None:
    check(lambda: make_harness(kind))


@settings(max_examples=scale(40, 5_000), deadline=None, derandomize=True, database=None)
@given(
    every=st.sampled_from(["day", "week", "month", "6h", "25h"]),
    zone=st.sampled_from(ZONES),
    created=st.integers(1_262_300_000_000, 2_200_000_000_000),  # 2010 to 2039
    pauses=st.lists(st.integers(0, 400 * DAY), min_size=1, max_size=4),
)
def test_periods_end_when_clocks_on_the_wall_say_so(
    every: str, zone: str, created: int, pauses: list[int]
) -> None:
    """One after the other, and after one that nobody has made."""
    calendar = Calendar.of(every, zone)
    end = calendar.first_end(created)
    assert end == following(every, zone, created, created)
    for pause in pauses:
        for after in (end, end + pause):
            expected = following(every, zone, created, after)
            assert calendar.next_end(end, after) == expected, (end, after)
            end = expected
