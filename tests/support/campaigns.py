"""A small campaign in memory, and what it says of itself."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest

from purse import PurseError
from purse.campaign.campaign import Campaign
from tests.support import storages
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"red": 1, "green": 1},
    "budget": 10,
    "cost_min": "0.1",
    "policy": "uniform",
}


def made(harness: StorageHarness | None = None, **changes: Any) -> Campaign:
    return (harness or storages.MemoryHarness()).create("test", **{**TERMS, **changes})


def refusal(error: type[Exception], call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    assert type(caught.value) is error
    assert isinstance(caught.value, PurseError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def purse(campaign: Campaign, resource: int = 0) -> tuple[str, ...]:
    """Spent, held, presumed, left, overrun."""
    shown = campaign.status().purses[resource]
    return shown.spent, shown.held, shown.presumed, shown.left, shown.overrun


def counts(campaign: Campaign) -> dict[str, int]:
    return {name: number for name, number in campaign.status().counts.items() if number}


def exported(campaign: Campaign, **how: Any) -> StringIO:
    """The journal as `export` writes it, to be read from its beginning."""
    file = StringIO()
    campaign.export(file, **how)
    file.seek(0)
    return file


def spend(campaign: Any, arm: str, rewards: list[float], cost: str) -> None:
    """Pull an arm as often as there are rewards."""
    tickets = campaign.ask_many(len(rewards), arms=[arm])
    campaign.tell_many(
        [(ticket, reward, cost) for ticket, reward in zip(tickets, rewards, strict=True)]
    )
