"""Campaigns for the dashboard, and what a test asks of its page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from purse import Campaign
from tests.support.server import LONG

WAIT = LONG * 1000  # ms
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
CHARTS_FIT = """[...document.querySelectorAll('svg')].every(
    each => each.getBoundingClientRect().right <= window.innerWidth
)"""
FOCUSED = (
    "document.activeElement.id || document.activeElement.className || "
    "document.activeElement.tagName"
)
View = Callable[..., AbstractContextManager[tuple[Any, Callable[[], list[str]]]]]


class Address(NamedTuple):
    """An address on the web, for what opens files."""

    url: str

    def as_uri(self) -> str:
        return self.url


def make(storage: Any, name: str, **terms: Any) -> Campaign:
    given: Any = {
        "arms": {"small": "0.01", "large": "0.05"},
        "budget": "5",
        "cost_min": "0.001",
        "resources": ("USD",),
        "policy": "uniform",
        **terms,
    }
    return Campaign.create(name, **given, storage=storage)


def shown(page: Any, campaign: Campaign) -> None:
    """Wait until the page shows the newest entry."""
    page.wait_for_selector(f"html[data-entries='{campaign.status().entries}']")


def stat(page: Any, name: str) -> str:
    return str(
        page.locator(f"[data-stat='{name}'] dd").first.evaluate(
            "each => each.firstChild.textContent"
        )
    )


def yes(page: Any) -> None:
    """Confirm what was asked for."""
    page.locator("#dialog-yes").click()
    page.wait_for_selector("#dialog:not([open])", state="attached")
