from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.service import live_view
from tests.service.stage import BEGUN, Stage
from tests.support.service import LONG, Served, TestClient, running, served

View = Callable[..., AbstractContextManager[Any]]


@pytest.fixture(scope="module")
def untouched() -> TestClient:
    """A service with the campaign `prompts`, for requests that change nothing: to make one takes a
    tenth of a second.
    """
    return running()


@pytest.fixture(scope="module")
def view(opened: Any) -> Iterator[View]:
    """Serves a storage and opens its page, with news within a moment instead of a second: `with
    view(storage) as (page, at)`. Unless something `fails` on purpose, the page may have complained
    about nothing; requests to the server itself are no complaint.
    """

    @contextmanager
    def of(
        storage: Storage, name: str = "", fails: bool = False, **settings: Any
    ) -> Iterator[tuple[Any, Served]]:
        with served(storage=storage, **settings) as at:
            address = SimpleNamespace(as_uri=lambda: f"{at.url}/#/{name}" if name else at.url)
            with opened(address) as (page, complaints):
                page.set_default_timeout(LONG * 1000)
                yield page, at
                own = f"network: {at.url}/"
                assert fails or not [each for each in complaints if not each.startswith(own)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_view, "_BEAT", 0.05)
        patch.setattr(live_view, "_FRESH", 0.05)
        patch.setattr(live_view, "_LONGEST", 10**6)  # beats: no stream ends within a test
        yield of


@pytest.fixture(scope="module")
def one_stage(view: View) -> Iterator[Stage]:
    storage = in_memory()
    with view(storage) as (page, _):
        yield Stage(storage, page)


@pytest.fixture
def stage(one_stage: Stage) -> Iterator[Stage]:
    one_stage.now = BEGUN
    yield one_stage
    one_stage.page.set_viewport_size({"width": 1280, "height": 900})
    if one_stage.page.locator("#lock").is_visible():
        one_stage.page.locator("#lock").click()
