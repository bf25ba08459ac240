from __future__ import annotations

import pytest

import purse
from purse import Campaign
from tests.support.server import Served


def test_the_same_verbs_on_a_server(at: Served) -> None:
    campaign = Campaign.create("p", arms={"a": 1}, budget=2, policy="uniform", storage=at.url)
    assert campaign.set_alerts(["80%"]).alerts == ("80%",)
    added = campaign.add_webhook("https://hooks.example.com/x")
    assert campaign.add_webhook("https://hooks.example.com/x", added.secret) == added
    assert [each.id for each in campaign.webhooks()] == [added.id]
    assert campaign.status().deliveries[0].id == added.id
    assert campaign.set_alerts([]).alerts == ()
    assert campaign.remove_webhook(added.id)
    with pytest.raises(purse.InvalidInput, match="url: must look like"):
        campaign.add_webhook("https://me:sesame@hooks.example.com/")
