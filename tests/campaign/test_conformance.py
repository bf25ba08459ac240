"""Every storage against what all of them must do."""

from __future__ import annotations

from typing import Any

import pytest

from purse import (
    PurseError,
)
from tests.support.conformance import check_storage
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


def test_does_what_every_storage_must_do(harness: StorageHarness) -> None:
    check_storage(harness.storage)


def test_two_campaigns_do_not_meet(harness: StorageHarness) -> None:
    first, second = harness.create("one", **TERMS), harness.create("two", **TERMS)
    first.tell(first.ask("r"), 1, 1)
    assert second.status().counts["tickets"] == 0
    assert second.ask("r").id == 1
    with pytest.raises(PurseError, match="must be one of campaign 'two'"):
        second.tell(first.ask(), 1, 1)
