from __future__ import annotations

from purse.campaign.campaign import Campaign
from purse.campaign.results import CampaignTicket
from purse.campaign.storage.memory import Memory


def test_tickets_receipts_and_status_are_one_line_each() -> None:
    campaign = Campaign.create(
        "shop",
        arms={"a": "0.5"},
        budget="5",
        cost_min="0.01",
        policy="uniform",
        resources=["EUR"],
        storage=Memory(),
    )
    ticket = campaign.ask()
    fixed = ticket._replace(asked_at=0.0, deadline=3600.0)
    assert repr(fixed) == (
        "<CampaignTicket 1 of 'shop': a (probability 1), held 0.5, asked 1970-01-01 00:00:00 UTC, "
        "due 1970-01-01 01:00:00 UTC>"
    )
    assert repr(ticket._replace(arm=None)) == (
        "<CampaignTicket 1 of 'shop': round 1 passes without a pull>"
    )
    assert isinstance(ticket, CampaignTicket)
    receipt = campaign.tell(ticket, 1.0, "0.3")
    line = "<Receipt of ticket 1: told, spent 0.3, refunded 0.2, overrun 0>"
    assert repr(receipt) == line
    assert repr(receipt._replace(late=True)) == line[:-1] + ", late>"
    status = campaign.status()
    assert repr(status) == "<Status of 'shop': running, left 4.7 of 5 EUR>"
    shown = status._repr_html_()
    assert shown.startswith("<p>shop: running, uniform, round 1</p><table>")
    assert shown.endswith("<p>tickets: 1 told</p>")
    assert shown.count("<td ") == 7
