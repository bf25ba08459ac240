from __future__ import annotations

import pytest

from purse import Campaign
from purse.campaign.storage.connect import in_memory
from tests.support.dashboard import FITS, View, make, shown
from tests.support.server import served

pytestmark = pytest.mark.usefixtures("fast_views")


def test_all_campaigns_are_listed_those_with_alarms_first(view: View) -> None:
    storage, now = in_memory(), 1_790_000_000_000
    storage.now = lambda: now
    ended = make(storage, "a-ended")
    ended.end()
    quiet = make(storage, "b-quiet")
    now += 60_000
    busy = make(storage, "c-busy")
    for _ in range(4):
        busy.tell(busy.ask(), 0.5, "0.004")
    over = make(storage, "d-over")
    over.tell(over.ask(), 1, "0.75")
    spent = make(storage, "e-spent", budget="0.06")
    spent.tell(spent.ask(arms=["large"]), 1, "0.05")
    spent.tell(spent.ask(), 1, "0.01")
    with served(storage=storage) as at, view(at) as (page, complaints):
        page.wait_for_selector("#list tbody tr:nth-child(5)")
        assert page.locator("#connection").inner_text() == "Live"
        page.wait_for_selector("#list:not(:has-text('…'))")  # histories are read one by one
        rows = [" ".join(row.split()) for row in page.locator("#list tbody tr").all_inner_texts()]
        names = ["d-over", "e-spent", "c-busy", "b-quiet", "a-ended"]
        assert sorted(names[:2]) == sorted(row.split()[0] for row in rows[:2])
        assert [row.split()[0] for row in rows[2:]] == names[2:]
        assert "c-busy running uniform 4.984 of 5.000 USD" in rows[2]
        assert "2.00 125 per USD none" in rows[2]
        assert "Overrun" in "".join(rows[:2])
        assert "e-spent exhausted" in "".join(rows[:2])
        assert "a-ended ended" in rows[4]
        for width in (390, 820, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(FITS)
        page.get_by_role("link", name="b-quiet").click()
        shown(page, quiet)
        assert page.url.endswith("#/b-quiet")
        page.reload()
        shown(page, quiet)
        page.get_by_role("link", name="All campaigns").click()
        page.wait_for_selector("#overview:visible")
        page.evaluate("() => { location.hash = '/c-busy'; }")
        page.wait_for_selector("#name:text-is('c-busy')")
        assert complaints() == []
        page.evaluate("() => { location.hash = '/nosuch'; }")
        page.wait_for_selector("#notice:has-text('There is no campaign “nosuch”')")


def test_a_server_without_campaigns_is_live_and_has_a_form(view: View) -> None:
    storage = in_memory()
    with served(storage=storage) as at, view(at) as (page, complaints):
        page.wait_for_selector("#list:has-text('No campaign yet')")
        assert page.locator("#connection").inner_text() == "Live"
        assert "purse campaign new prompts --arm small=0.01" in page.locator("pre").inner_text()
        page.locator("#unlock").click()
        page.locator("#create").click()
        page.get_by_label("Name", exact=True).fill("made-here")
        page.get_by_label("Budget", exact=True).fill("12")
        page.get_by_label("The least that a pull costs").fill("0.001")
        page.locator("#dialog textarea").fill("small 0.01\nlarge")
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#dialog-error:has-text('must be a name and an amount')")
        page.locator("#dialog textarea").fill("small 0.01\nvendor/large: 0.05")
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#name:text-is('made-here')")
        terms = Campaign.open("made-here", storage=storage).terms
        assert (terms.arms, terms.resources) == (("small", "vendor/large"), ("USD",))
        assert complaints() == []
