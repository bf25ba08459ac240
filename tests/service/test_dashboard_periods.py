"""The period of a budget on the page of its campaign."""

from __future__ import annotations

import pytest

from purse.campaign.storage.connect import in_memory
from tests.support.dashboard import View, make, shown
from tests.support.server import served

pytestmark = pytest.mark.usefixtures("fast_views")
DAY = 86_400_000  # ms


def test_the_page_shows_the_period_as_it_is_now(view: View) -> None:
    storage, now = in_memory(), 1_800_000_000_000
    storage.now = lambda: now
    campaign = make(
        storage, "prompts", every="day", time_zone="Europe/Berlin", carry="all", horizon=9
    )
    campaign.tell(campaign.ask(), 1, "0.01")
    with served(storage=storage) as at, view(at, "prompts") as (page, complaints):
        shown(page, campaign)
        line = page.locator("#period")
        assert line.inner_text().startswith("Period 1 (every day, Europe/Berlin, until ")
        assert "0.01 of 5 USD spent." in line.inner_text()
        assert "round 1 of 9 in this period" in page.locator("#facts").inner_text()
        now += 3 * DAY
        page.locator("#period", has_text="Period 4").wait_for()
        assert "0 of 5 USD spent and 14.99 carried over." in line.inner_text()
        assert "round 0 of 9 in this period" in page.locator("#facts").inner_text()
        assert complaints() == []
