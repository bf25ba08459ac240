"""Small campaigns: alone, with contexts, and below a company with a team."""

from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest

from purse import Account, PurseError
from purse.campaign.campaign import Campaign
from tests.support import storages
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"red": 1, "green": 1},
    "budget": 10,
    "cost_min": "0.1",
    "policy": "uniform",
    "alerts": [],
}
SEES = str(Path(__file__).with_name("greedy_contexts.py"))
FEATURES: dict[str, Any] = {"length": (0, 8000), "code": None}
ARMS = ["red", "green", "blue"]


def made(harness: StorageHarness | None = None, **changes: Any) -> Campaign:
    return (harness or storages.MemoryHarness()).create("test", **{**TERMS, **changes})


def with_contexts(harness: StorageHarness | None = None, **changes: Any) -> Campaign:
    terms: dict[str, Any] = {"arms": dict.fromkeys(ARMS, 1), "budget": 50, "policy": SEES}
    return made(harness, **{**terms, "features": FEATURES, **changes})


def context(rng: Random) -> dict[str, float]:
    """Some of them are outside the range."""
    return {"length": rng.randrange(-500, 8800), "code": round(rng.uniform(-2, 2), 3)}


def company(storage: Any, budget: Any = 10, team: Any = 6) -> tuple[Account, Account]:
    """An account, and one below it."""
    return (
        Account.create("company", budget=budget, alerts=[], storage=storage),
        Account.create("team", budget=team, account="company", alerts=[], storage=storage),
    )


def campaign(storage: Any, name: str, account: str | None = "team", **changes: Any) -> Any:
    """A campaign below an account, whose own budget is no limit."""
    terms = {**TERMS, "arms": {"red": 1}, "budget": 100, "cooldown": None, **changes}
    return Campaign.create(name, **terms, account=account, storage=storage)


def opened(harness: StorageHarness, name: str) -> Account:
    """The account as another process would find it."""
    return Account.open(name, storage=harness.storage())


def refusal(error: type[Exception], call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    assert type(caught.value) is error
    assert isinstance(caught.value, PurseError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def balance(level: Any, resource: int = 0) -> tuple[str, ...]:
    """Spent, held, presumed, left, overrun of a campaign or an account."""
    shown = level.status().purses[resource]
    return shown.spent, shown.held, shown.presumed, shown.left, shown.overrun


def counts(campaign: Campaign) -> dict[str, int]:
    return {name: number for name, number in campaign.status().counts.items() if number}


def last_ask(campaign: Campaign) -> dict[str, Any]:
    body: dict[str, Any] = [entry for entry in campaign.journal() if entry.kind == "asked"][-1].body
    return body


def exported(campaign: Campaign, **how: Any) -> StringIO:
    """The journal as `export` writes it, to be read from its beginning."""
    file = StringIO()
    campaign.export(file, **how)
    file.seek(0)
    return file


def spend(campaign: Any, arm: str, rewards: list[float], cost: str) -> None:
    tickets = campaign.ask_many(len(rewards), arms=[arm])
    campaign.tell_many(
        [(ticket, reward, cost) for ticket, reward in zip(tickets, rewards, strict=True)]
    )
