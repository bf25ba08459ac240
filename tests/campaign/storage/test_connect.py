from __future__ import annotations

from typing import Any

import pytest

from purse import (
    Campaign,
    InvalidInput,
    NoSuchCampaign,
)
from purse.campaign.storage.connect import connect

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 10,
    "cost_min": "0.5",
    "policy": "uniform",
}


@pytest.mark.parametrize(
    "address", ["purse.db", "sqlite://purse.db", "sqlite:///", "mysql://host/db", ""]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput, match="storage="):
        connect(address)


def test_memory_has_an_address_too() -> None:
    Campaign.create("kept", **TERMS, storage="memory:kept")
    assert Campaign.open("kept", storage="memory:kept").ask().id == 1
    with pytest.raises(NoSuchCampaign, match="'kept'"):
        Campaign.open("kept", storage="memory:other")


def test_an_address_that_postgresql_cannot_read_is_refused_without_its_password() -> None:
    with pytest.raises(InvalidInput, match="this is not an address of PostgreSQL") as caught:
        connect("postgresql://me:secret%ZZ@[::1/base")
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidInput, match="must be sqlite:///FILE"):
        connect("sqlite://[::1/purse.db")
