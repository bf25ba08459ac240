"""Campaigns with contexts, and a policy that sees them."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from purse.campaign.campaign import Campaign
from tests.support.storages import MemoryHarness, StorageHarness

SEES = str(Path(__file__).with_name("context_policy.py"))
FEATURES: dict[str, Any] = {"length": (0, 8000), "code": None}
ARMS = ["red", "green", "blue"]
TERMS: dict[str, Any] = {
    "arms": dict.fromkeys(ARMS, 1),
    "budget": 50,
    "cost_min": "0.1",
    "policy": SEES,
    "features": FEATURES,
}


def made(harness: StorageHarness | None = None, **changes: Any) -> Campaign:
    campaign: Campaign = (harness or MemoryHarness()).create("test", **{**TERMS, **changes})
    return campaign


def context(rng: Random) -> dict[str, float]:
    """Some of them are outside the range."""
    return {"length": rng.randrange(-500, 8800), "code": round(rng.uniform(-2, 2), 3)}


def last_ask(campaign: Campaign) -> dict[str, Any]:
    """Return what the journal says of the last ticket."""
    body: dict[str, Any] = [entry for entry in campaign.journal() if entry.kind == "asked"][-1].body
    return body
