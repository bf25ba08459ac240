from __future__ import annotations

from typing import Any

import pytest

from purse import Account
from purse.campaign.storage.connect import in_memory
from tests.support.dashboard import FITS, View, make, shown
from tests.support.server import served

pytestmark = pytest.mark.usefixtures("fast_views")


def test_the_tree_shows_what_is_left_on_each_level(view: View) -> None:
    storage = in_memory()
    usd: dict[str, Any] = {"resources": ["USD"], "storage": storage}
    Account.create("company", budget="20", **usd)
    Account.create("team-a", budget="2", account="company", **usd)
    campaign = make(storage, "router", account="team-a")
    with served(storage=storage) as at, view(at) as (page, complaints):
        page.wait_for_selector("#tree tbody tr:nth-child(3)")
        assert page.locator("h1").first.inner_text() == "Accounts and campaigns"
        campaign.tell(campaign.ask(arms=["small"]), 1, "0.02")  # above what was held
        page.wait_for_selector("#tree:has-text('Overrun')")  # 19.99 is left after the ask, too
        rows = [" ".join(row.split()) for row in page.locator("#tree tbody tr").all_inner_texts()]
        assert rows == [
            "company account 19.99 of 20.00 USD 0.01 USD 0.00 USD 0.00 USD 0.01 USD Overrun",
            "team-a account 1.99 of 2.00 USD 0.01 USD 0.00 USD 0.00 USD 0.01 USD",
            "router campaign 4.99 of 5.00 USD only 1.99 USD in team-a "
            "0.01 USD 0.00 USD 0.00 USD 0.01 USD",
        ]
        for width in (390, 820, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(FITS)
        page.locator("#tree").get_by_role("link", name="router").click()
        shown(page, campaign)
        assert "account team-a" in page.locator("#facts").inner_text()
        assert complaints() == []


def test_a_campaign_is_created_below_an_account(view: View) -> None:
    storage = in_memory()
    Account.create("team-a", budget=2, resources=["USD"], storage=storage)
    with served(storage=storage) as at, view(at) as (page, complaints):
        page.wait_for_selector("#tree tbody tr")
        page.locator("#unlock").click()
        page.locator("#create").click()
        page.get_by_label("Name", exact=True).fill("below")
        page.get_by_label("Budget", exact=True).fill("1")
        page.get_by_label("The least that a pull costs").fill("0.001")
        page.locator("#dialog textarea").fill("small 0.01")
        page.get_by_role("textbox", name="Account").fill("team-a")
        page.locator("#dialog-yes").click()
        page.wait_for_selector("#facts:has-text('account team-a')")
        assert [
            each.name for each in Account.open("team-a", storage=storage).status().children
        ] == ["below"]
        assert complaints() == []


def test_without_accounts_there_is_no_tree(view: View) -> None:
    storage = in_memory()
    make(storage, "router")
    with served(storage=storage) as at, view(at) as (page, _):
        page.wait_for_selector("#list tbody tr")
        assert page.locator("#accounts").is_hidden()
        assert page.locator("h1").first.inner_text() == "Campaigns"
