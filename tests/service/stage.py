"""The page of the dashboard, and a server whose clock tests move."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from purse import Campaign
from purse.campaign.storage.storage import Storage
from tests.support.service import PROMPTS

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
    """Fill in the fields of a dialog by the beginnings of their labels."""
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
        """Create a campaign and show it."""
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
