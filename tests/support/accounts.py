"""A company with two teams, and campaigns below them."""

from __future__ import annotations

from typing import Any

from purse import Account, Campaign
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"red": 1},
    "budget": 100,
    "cost_min": "0.1",
    "policy": "uniform",
    "cooldown": None,
}


def company(storage: Any, budget: Any = 10, team: Any = 6) -> tuple[Account, Account]:
    """An account, and one below it."""
    return (
        Account.create("company", budget=budget, storage=storage),
        Account.create("team", budget=team, account="company", storage=storage),
    )


def campaign(storage: Any, name: str, account: str | None = "team", **changes: Any) -> Any:
    """A campaign below an account, whose own budget is no limit."""
    return Campaign.create(name, **{**TERMS, **changes}, account=account, storage=storage)


def balance(level: Any) -> tuple[str, ...]:
    """Spent, held, presumed, left, overrun of a campaign or an account."""
    shown = level.status().purses[0]
    return shown.spent, shown.held, shown.presumed, shown.left, shown.overrun


def opened(harness: StorageHarness, name: str) -> Account:
    """The account as another process would find it."""
    return Account.open(name, storage=harness.storage())
