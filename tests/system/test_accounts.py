"""What accounts promise, in every kind of storage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support import account_checks
from tests.support.storages import StorageHarness

CHECKS = [
    account_checks.an_account_has_what_is_below_it,
    account_checks.no_level_is_overspent,
    account_checks.a_refusal_names_the_level_that_lacks,
    account_checks.the_policy_sees_the_least_that_is_left,
    account_checks.campaigns_of_an_account_take_turns,
    account_checks.a_paused_account_gives_nothing_out,
]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_promise_of_accounts(
    make_harness: Callable[[str], StorageHarness], kind: str, check: Callable[..., Any]
) -> None:
    check(lambda: make_harness(kind))
