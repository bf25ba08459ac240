"""Storages that an earlier purse has written: `tests/support/schema-9`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from purse import Account, Campaign
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.storage.storage import Storage
from tests.support.old_storages import load
from tests.support.storages import StorageHarness


@pytest.fixture
def old(shared: StorageHarness) -> StorageHarness:
    load(shared)
    return shared


def entries(storage: Storage) -> list[tuple[Any, ...]]:
    """The rows of all journals, by the names of their levels."""
    names = sorted([*storage.names(CAMPAIGN), *storage.names(ACCOUNT)])
    return [(name, *entry.row()) for name in names for entry in storage.entries(name, 0, 10**6)]


def test_an_old_storage_is_read_audited_and_goes_on(old: StorageHarness) -> None:
    storage = old.storage()
    budgets: list[Any] = [Campaign.open(name, storage=storage) for name in storage.names(CAMPAIGN)]
    budgets += [Account.open(name, storage=storage) for name in storage.names(ACCOUNT)]
    assert len(budgets) == 17
    assert [(each.name, each.audit().findings) for each in budgets if not each.audit().ok] == []
    chat = old.open("chat")
    ticket = chat.ask(arms=["red"])
    chat.tell(ticket, 1, "1.5")
    assert chat.audit(full=True).findings == ()


def test_both_databases_hold_the_same_journals(
    make_harness: Callable[[str], StorageHarness],
) -> None:
    journals = []
    for kind in ("sqlite", "postgres"):
        harness = make_harness(kind)
        load(harness)
        journals.append(entries(harness.storage()))
    assert journals[0] == journals[1]
    assert {row[3] for row in journals[0]} == {
        "created", "asked", "told", "settled", "rewarded", "failed", "voided", "expired",
        "conflict", "topped_up", "renewed", "clock", "paused", "resumed", "ended", "arm_added",
        "arm_retired", "arm_changed", "alerts_set", "event", "joined",
    }  # fmt: skip
