"""What accounts promise, in every kind of storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import account_checks, account_mutations
from tests.support.storages import MemoryHarness, StorageHarness

CHECKS = [
    account_checks.an_account_has_what_is_below_it,
    account_checks.no_level_is_overspent,
    account_checks.a_refusal_names_the_level_that_lacks,
    account_checks.the_policy_sees_the_least_that_is_left,
    account_checks.campaigns_of_an_account_take_turns,
    account_checks.a_paused_account_gives_nothing_out,
    account_checks.a_top_up_of_an_account_counts_once,
]

BROKEN = [
    account_mutations.book_nothing_above,
    account_mutations.book_on_the_nearest_account_alone,
    account_mutations.forget_refunds_above,
]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_promise_of_accounts(
    make_harness: Callable[[str], StorageHarness], kind: str, check: Callable[..., Any]
) -> None:
    check(lambda: make_harness(kind))


def test_locks_are_taken_from_the_top_down(
    make_harness: Callable[[str], StorageHarness],
) -> None:
    account_checks.locks_are_taken_from_the_top_down(lambda: make_harness("postgres"))


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_audits_notice_what_was_not_booked(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """Of the account and of the campaign; the money is in the campaign's journal."""
    made = account_checks.tree(MemoryHarness(), 9, 9)
    made.one.ask()
    with monkeypatch.context() as patch:
        broken(patch)
        made.one.void(1)
        made.one.ask()
    for level in (made.company, made.one):
        assert level.audit().findings, level.name
