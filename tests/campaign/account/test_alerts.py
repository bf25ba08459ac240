"""Alerts of accounts: made by the transaction of the campaign that caused them."""

from __future__ import annotations

from typing import Any

import pytest

import purse
from purse import Account, Campaign
from purse.campaign import transaction
from purse.campaign.storage.connect import in_memory
from tests.support.receiver import ask
from tests.support.storages import START, StorageHarness

TERMS: dict[str, Any] = {"arms": {"a": 2}, "policy": "uniform"}


def begun(harness: StorageHarness, *alerts: str) -> tuple[Any, Any, Any]:
    storage = harness.storage()
    top = Account.create("company", budget=10, alerts=["30%"], storage=storage)
    team = Account.create("team", budget=4, account="company", alerts=list(alerts), storage=storage)
    campaign = Campaign.create("p", **TERMS, budget=100, account="team", storage=storage)
    return top, team, campaign


def keys(level: Any) -> list[str]:
    return [entry.body["key"] for entry in level.journal() if entry.kind == "event"]


def test_an_account_is_told_of_what_its_campaigns_spend(harness: StorageHarness) -> None:
    top, team, campaign = begun(harness, "50%", "100%", "overrun")
    ask(campaign)
    campaign.tell(1, 1, 2)
    assert (keys(top), keys(team), keys(campaign)) == ([], ["50%:0/0/0"], [])
    kinds = [entry.kind for entry in team.journal()]
    assert kinds == ["created", "event"]
    ask(campaign)
    campaign.tell(2, 1, 3)
    hour = harness.clock // 3_600_000
    assert keys(team)[1:] == ["100%:0/0/0", f"overrun/{hour}"]
    assert keys(top) == ["30%:0/0/0"]
    assert team.status().alerts == ("50%", "100%", "overrun")
    team.top_up(4)
    assert keys(team)[-1] == "50%:0/0/1"
    assert team.set_alerts([]).alerts == ()


def test_a_refusal_for_lack_of_the_accounts_money_is_its_event(harness: StorageHarness) -> None:
    _, team, campaign = begun(harness, "100%")
    for number in (1, 2):
        ask(campaign)
        if number == 1:
            campaign.tell(1, 1, 1)
    before = campaign.status().entries
    campaign.void(2)
    ask(campaign)
    campaign.tell(3, 1, 2)
    entries = campaign.status().entries
    assert entries == before + 3
    for _ in range(2):
        with pytest.raises(purse.BudgetExhausted, match="account 'team' has 1 left"):
            campaign.ask()
    assert keys(team) == ["refused:0/0/0"]
    assert campaign.status().entries == entries
    (event,) = [entry for entry in team.journal() if entry.kind == "event"]
    assert event.body["refused"] == [2 * 10**9]


@pytest.mark.parametrize("rule", ["expired", "cooling-down", "0%"])
def test_rules_that_an_account_does_not_have_are_refused(
    harness: StorageHarness, rule: str
) -> None:
    with pytest.raises(purse.InvalidInput, match='must be a percentage from "1%" to "100%", or ov'):
        begun(harness, rule)


def test_an_audit_decides_events_again_and_finds_those_that_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage: Any = in_memory()
    storage.now = lambda: START
    team: Any = Account.create("team", budget=4, alerts=["50%", "100%"], storage=storage)
    campaign: Any = Campaign.create("p", **TERMS, budget=100, account="team", storage=storage)
    campaign.tell(campaign.ask(), 1, 2)
    campaign.tell(campaign.ask(), 1, 1)
    with pytest.raises(purse.BudgetExhausted):
        campaign.ask()
    team.set_alerts(["25%", "100%"])
    assert keys(team) == ["50%:0/0/0", "refused:0/0/0", "25%:0/0/0"]
    assert team.audit().findings == ()
    assert campaign.audit(full=True).findings == ()
    with monkeypatch.context() as patch:
        patch.setattr(transaction, "due_events", lambda *_, **__: [])
        team.set_alerts(["75%", "100%"])
    for audit in (team.audit, campaign.audit):
        (found,) = audit().findings
        assert found == "the event 75%:0/0/0 is missing at the end"
    team.pause()
    (found,) = team.audit().findings
    assert found == "the event 75%:0/0/0 is missing before entry 7"


def test_the_percentage_of_an_account_is_that_of_its_period() -> None:
    storage: Any = in_memory()
    storage.now = lambda: START
    team: Any = Account.create("team", budget=4, alerts=["50%"], every="day", storage=storage)
    campaign: Any = Campaign.create("p", **TERMS, budget=100, account="team", storage=storage)
    campaign.tell(campaign.ask(), 1, 2)
    storage.now = lambda: START + 86_400_000
    campaign.tell(campaign.ask(), 1, 2)
    assert keys(team) == ["50%:0/1/0", "50%:0/2/0"]
    assert team.audit().findings == ()


def test_the_alarm_about_an_overrun_ends_after_a_day(harness: StorageHarness) -> None:
    _, team, campaign = begun(harness)
    campaign.tell(campaign.ask(), 1, 3)
    (alarm,) = team.status().alarms
    assert (alarm.kind, alarm.last_at) == ("overrun", harness.clock / 1000)
    harness.clock += 86_400_000
    assert team.status().alarms == ()
    assert team.audit().ok
