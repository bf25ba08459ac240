from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from purse.service import live_view
from tests.support.dashboard import WAIT, Address, View
from tests.support.server import Served
from tests.support.service import TestClient, running


@pytest.fixture(scope="module")
def untouched() -> TestClient:
    """A service with the campaign `prompts`, for requests that change nothing: to make one takes a
    tenth of a second.
    """
    return running()


@pytest.fixture(scope="module")
def view(opened: Any) -> View:
    """Opens the page of a server: `with view(served, "name") as (page, complaints)`; requests to
    the server itself are no complaint.
    """

    @contextmanager
    def of(at: Served, name: str = "", **how: Any) -> Iterator[tuple[Any, Callable[[], list[str]]]]:
        with opened(Address(f"{at.url}/#/{name}" if name else at.url), **how) as (page, complaints):
            page.set_default_timeout(WAIT)
            yield (
                page,
                lambda: [each for each in complaints if not each.startswith(f"network: {at.url}/")],
            )

    return of


@pytest.fixture(scope="module")
def fast_views() -> Iterator[None]:
    """News within a moment instead of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view, "BEAT", 0.05)
        patch.setattr(live_view, "FRESH", 0.05)
        patch.setattr(live_view, "LONGEST", 10**6)  # beats: no stream ends within a test
        yield
