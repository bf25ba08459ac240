"""A service in memory, the page of the dashboard, and a server whose clock tests move."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.service import live_view
from tests.support.service import LONG, PROMPTS, Served, TestClient, running, served

BEGUN = 1_790_000_000_000  # ms
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
CHARTS_FIT = """[...document.querySelectorAll('svg')].every(
    each => each.getBoundingClientRect().right <= window.innerWidth
)"""


def make(storage: Storage, name: str, **terms: Any) -> Campaign:
    given: Any = {**PROMPTS, "budget": "5", "cost_min": "0.001", **terms, "name": name}
    return Campaign.create(**given, storage=storage)


def shown(page: Any, campaign: Campaign) -> None:
    """Wait until the page shows the newest entry."""
    entries = campaign.status().entries
    page.wait_for_selector(
        f"html[data-entries='{entries}'] #name:text-is('{campaign.name}')", state="attached"
    )


def fill(page: Any, fields: dict[str, str]) -> None:
    for label, text in fields.items():
        page.locator("#dialog").get_by_label(re.compile(f"^{label}")).fill(text)


def rows(page: Any, table: str) -> list[str]:
    # in one step: a row that was drawn anew in between would have no layout, so no spaces
    read = "rows => [...document.querySelectorAll(rows)].map(row => row.innerText)"
    return [" ".join(row.split()) for row in page.evaluate(read, f"{table} tbody tr")]


def fits(page: Any, *widths: int) -> None:
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(CHARTS_FIT)  # it draws them again
        assert page.evaluate(FITS)


class Stage:
    """A server whose clock the tests move, and its page."""

    def __init__(self, storage: Storage, page: Any) -> None:
        self.storage, self.page = storage, page
        self.now, self.names = BEGUN, count()
        storage.now = lambda: self.now

    def campaign(self, **terms: Any) -> Campaign:
        campaign = make(self.storage, f"c{next(self.names)}", **terms)
        self.page.evaluate("name => { location.hash = `/${name}`; }", campaign.name)
        self.shown(campaign)
        return campaign

    def shown(self, campaign: Campaign) -> None:
        shown(self.page, campaign)

    def stats(self, *names: str) -> list[str]:
        """The numbers at the top, without their notes."""
        first = "each => each.firstChild.textContent"
        places = (self.page.locator(f"[data-stat='{name}'] dd").first for name in names)
        return [str(place.evaluate(first)) for place in places]

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).inner_text())

    def act(self, button: str, done: str, **fields: str) -> None:
        """Click a button, confirm what it asks for, and wait until the page says that it is
        done.
        """
        self.page.get_by_role("button", name=button).click()
        fill(self.page, {label.replace("_", " "): text for label, text in fields.items()})
        assert self.page.evaluate(FITS)
        self.page.locator("#dialog-yes").click()
        self.page.wait_for_selector(f"#done:text-is('{done}')")


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
