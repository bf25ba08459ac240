"""What accounts and periods promise, in databases; `test_mutations.py` runs the same checks in
memory, and those of databases alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import level_checks, level_mutations, promise_checks
from tests.support.storages import MemoryHarness, StorageHarness

CHECKS = [  # those that rest on what a database does
    promise_checks.no_level_is_overspent,
    promise_checks.campaigns_of_an_account_take_turns,
    level_checks.a_top_up_of_an_account_counts_once,
    level_checks.a_boundary_is_made_once,
]
BROKEN = [
    level_mutations.book_nothing_above,
    level_mutations.book_on_the_nearest_account_alone,
    level_mutations.forget_refunds_above,
]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_promise_of_accounts_and_periods(
    make_harness: Callable[[str], StorageHarness], kind: str, check: Callable[..., Any]
) -> None:
    check(lambda: make_harness(kind))


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
