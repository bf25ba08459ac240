"""What a campaign says of itself: its status, its tickets and its journal."""

import json

import pytest

from purse.campaign.api.results import CampaignTicket, write_time
from purse.campaign.api.states import STATES
from purse.campaign.campaign import Campaign
from purse.campaign.run import local_level as module
from purse.campaign.storage.connect import in_memory
from tests.support import storages
from tests.support.campaigns import made
from tests.support.storages import START

DAY = 86_400_000  # ms


def test_status_in_words() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, resources=["euros"], expires_after=60)
    campaign.tell(campaign.ask(), 1, "0.25")
    harness.clock += 5000
    campaign.ask()
    status = campaign.status()
    assert str(status) == "\n".join(
        [
            "test: running, uniform, round 2",
            "  euros: spent 0.25 of 10, held 1, presumed 0, left 8.75",
            "  tickets: 1 held, 1 told",
        ]
    )
    assert (status.name, status.policy, status.arms, status.entries) == (
        "test",
        "uniform",
        ("red", "green"),
        4,
    )
    assert (status.created_at, status.changed_at, status.oldest_held) == (
        START / 1000,
        START / 1000 + 5,
        START / 1000 + 5,
    )
    campaign.fail(campaign.ask(), 0)
    campaign.settle(campaign.ask(), "0.5")
    assert "tickets: 1 held, 1 settled, 1 told, 1 failed" in str(campaign.status())
    facts = json.loads(json.dumps(status.as_dict()))
    assert facts["purses"] == [
        {
            "resource": "euros",
            "budget": "10",
            "spent": "0.25",
            "held": "1",
            "presumed": "0",
            "left": "8.75",
            "overrun": "0",
        }
    ]
    assert facts["counts"]["held"] == 1
    assert facts["alarms"] == []


def test_an_alarm_about_reports_ends_a_day_after_the_last_one() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness)
    for cost in (2, 3):
        campaign.tell(campaign.ask(), 1, cost)
        harness.clock += 1000
    alarm, *dearer = campaign.status().alarms
    last = write_time(START / 1000 + 1)
    assert str(alarm) == (
        f"3 units more was spent than held: 2 calls were billed above their maximum, last at {last}"
    )
    assert [each.kind for each in dearer] == ["dearer", "dearer"]
    harness.clock = START + 1000 + DAY - 1
    assert campaign.status().alarms == (alarm, *dearer)
    harness.clock += 1
    assert campaign.status().alarms == tuple(dearer)


def test_tickets_receipts_and_status_are_one_line_each() -> None:
    campaign = Campaign.create(
        "shop",
        arms={"a": "0.5"},
        budget="5",
        cost_min="0.01",
        policy="uniform",
        resources=["EUR"],
        storage=in_memory(),
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
    assert shown.endswith("<p>tickets: 1 told</p><p>alerts: 80%, 100%, overrun</p>")
    assert shown.count("<td ") == 7


def test_finished_tickets_are_listed_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = made(budget=100)
    for number, ticket in enumerate(campaign.ask_many(40)):
        if number % 4 == 1:
            campaign.settle(ticket, "0.1")
        if number % 4 < 2:
            (campaign.tell if number % 4 == 0 else campaign.reward)(
                ticket, 1, *(["0.1"] if number % 4 == 0 else [])
            )
        elif number % 4 == 2:
            campaign.void(ticket)
    for size in (9, 20, 5_000):
        monkeypatch.setattr(module, "_PAGE_SIZE", size)
        told = campaign.tickets(states=["told"])
        assert [ticket.id for ticket in told] == [n for n in range(1, 41) if n % 4 in (1, 2)]
        assert [ticket.id for ticket in campaign.tickets(STATES)] == list(range(1, 41))
        page = campaign.tickets(["void", "held"], limit=3, after=8)
        assert [(ticket.id, ticket.state) for ticket in page] == [
            (11, "void"), (12, "held"), (15, "void"),
        ]  # fmt: skip
    assert campaign.tickets(states=[]) == []
