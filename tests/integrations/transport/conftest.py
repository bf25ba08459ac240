"""A provider on loopback for all tests, and campaigns that are audited at their end."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import purse
from purse import Campaign
from tests.support.provider import Books, Provider

ARMS = {"gpt-5-mini": "0.02", "gpt-5": "0.2"}


@pytest.fixture(scope="session")
def standing_provider() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture
def provider(standing_provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Provider:
    """The provider with new books; SDKs find it by their environment variables."""
    standing_provider.books = Books()
    for name, value in standing_provider.environment().items():
        monkeypatch.setenv(name, value)
    return standing_provider


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Campaign]]:
    """Makes campaigns in a file, and audits them."""
    made: list[Campaign] = []

    def create(arms: Any = ARMS, budget: str = "25", **terms: Any) -> Campaign:
        storage = f"sqlite:///{tmp_path}/c.db"
        terms = {"resources": ["USD"], "cost_min": "0.000000001", "storage": storage, **terms}
        made.append(purse.Campaign.create(f"c{len(made)}", arms=arms, budget=budget, **terms))
        return made[-1]

    yield create
    for campaign in made:
        assert campaign.audit(full=True).findings == ()
