from __future__ import annotations

import pytest

from purse.campaign.storage.connect import in_memory
from tests.support.dashboard import FITS, View, make, shown
from tests.support.server import served

pytestmark = pytest.mark.usefixtures("fast_views")


def test_labels_have_a_panel_once_there_are_some(view: View) -> None:
    storage = in_memory()
    campaign = make(storage, "router")
    with served(storage=storage) as at, view(at, "router") as (page, complaints):
        shown(page, campaign)
        assert page.locator("#labelled").is_hidden()
        for number in range(12):
            labels = {"feature": "chat", "tenant": f"t{number}"}
            ticket = campaign.ask(arms=["small"], labels=labels)
            if number == 3:
                campaign.tell(ticket, 1, "0.02")  # above what was held
        page.wait_for_selector("#labels tbody tr:has-text('chat')")
        page.locator("[data-key='key-tenant']").click()
        page.get_by_role("button", name="Show 2 more").wait_for()  # the sums of all asks are here
        page.locator("#labels tbody tr").filter(has_text="100.0%").wait_for()
        rows = [" ".join(row.split()) for row in page.locator("#labels tbody tr").all_inner_texts()]
        assert len(rows) == 10
        assert rows[0] == "t3 1 0.02 100.0% 0.00"
        page.get_by_role("button", name="Show 2 more").click()
        assert page.locator("#labels tbody tr").count() == 12
        page.locator("[data-key='key-feature']").click()
        page.wait_for_selector(
            "#labels caption:text-is('1 value of feature, those that spent most first')"
        )
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(FITS)
        assert complaints() == []
