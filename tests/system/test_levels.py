"""What accounts and periods promise, in databases; `test_mutations.py` runs the same checks in
memory. The calendar is held against a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from purse.campaign.period import Calendar
from tests.support import level_checks, level_mutations
from tests.support.reference_terms import following
from tests.support.soak import SOAK, scale
from tests.support.storages import MemoryHarness, StorageHarness

ZONES = [
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
    "Asia/Beirut", "America/Havana", "Pacific/Apia", "Pacific/Chatham", "Africa/Casablanca",
    "America/Santiago", "Asia/Tehran", "Atlantic/Azores", "America/St_Johns", "Antarctica/Troll",
]  # fmt: skip
DAY = 86_400_000  # ms
CHECKS = [  # those that rest on what a database does
    level_checks.no_level_is_overspent,
    level_checks.campaigns_of_an_account_take_turns,
    level_checks.a_top_up_of_an_account_counts_once,
    level_checks.a_boundary_is_made_once,
]
OTHERS = [
    level_checks.an_account_has_what_is_below_it,
    level_checks.a_refusal_names_the_level_that_lacks,
    level_checks.the_policy_sees_the_least_that_is_left,
    level_checks.a_paused_account_gives_nothing_out,
    level_checks.missed_boundaries_are_made_in_order,
    level_checks.the_refund_of_an_ended_period_is_dropped,
    level_checks.so_is_that_of_an_ended_period_of_an_account,
    level_checks.what_is_left_is_dropped_at_the_boundary,
    level_checks.nothing_is_renewed_while_it_is_paused,
]
BROKEN = [
    level_mutations.book_nothing_above,
    level_mutations.book_on_the_nearest_account_alone,
    level_mutations.forget_refunds_above,
]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    "check", [*CHECKS, *(OTHERS if SOAK else [])], ids=lambda check: check.__name__
)
def test_a_promise_of_accounts_and_periods(
    make_harness: Callable[[str], StorageHarness], kind: str, check: Callable[..., Any]
) -> None:
    check(lambda: make_harness(kind))


def test_locks_are_taken_from_the_top_down(
    make_harness: Callable[[str], StorageHarness],
) -> None:
    level_checks.locks_are_taken_from_the_top_down(lambda: make_harness("postgres"))


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_audits_notice_what_was_not_booked(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """Of the account and of the campaign; the money is in the campaign's journal."""
    made = level_checks.tree(MemoryHarness(), 9, 9)
    made.one.ask()
    with monkeypatch.context() as patch:
        broken(patch)
        made.one.void(1)
        made.one.ask()
    for level in (made.company, made.one):
        assert level.audit().findings, level.name


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
    end = calendar.next_end(created, created)
    assert end == following(every, zone, created, created)
    for pause in pauses:
        for after in (end, end + pause):
            expected = following(every, zone, created, after)
            assert calendar.next_end(end, after) == expected, (end, after)
            end = expected
