"""Events of campaigns and accounts: made once, right after their cause, and decided again by an
audit.
"""

from io import StringIO
from typing import Any

import pytest

import purse
from purse import Account, Campaign
from purse.campaign.rules import transaction
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from tests.support.campaigns import exported
from tests.support.receiver import ask, follower, receiver
from tests.support.storages import START, MemoryHarness, StorageHarness

HOUR = 3_600_000
TERMS: dict[str, Any] = {
    "arms": {"small": 1, "large": 4},
    "budget": 10,
    "cost_min": "0.1",
    "policy": "uniform",
    "cooldown": 1,
    "expires_after": 60,
}


@pytest.fixture
def storage() -> Storage:
    made = in_memory()
    made.now = lambda: START
    return made


def begun(storage: Any, *alerts: str, **terms: Any) -> Any:
    return Campaign.create("p", **{**TERMS, **terms}, alerts=list(alerts), storage=storage)


def keys(campaign: Any) -> list[str]:
    return [entry.body["key"] for entry in campaign.journal() if entry.kind == "event"]


def spend(campaign: Any, cost: Any, arm: str = "large") -> None:
    campaign.tell(campaign.ask(arms=[arm]), 1, cost)


def test_a_percentage_is_told_once_right_after_the_entry_that_reached_it(storage: Storage) -> None:
    campaign = begun(storage, "50%", "100%")
    spend(campaign, 4)
    assert keys(campaign) == []
    spend(campaign, 1)
    spend(campaign, 1)
    (event,) = [entry for entry in campaign.journal() if entry.kind == "event"]
    before = next(entry for entry in campaign.journal() if entry.seq == event.seq - 1)
    assert (before.kind, before.ticket, before.at) == ("told", 2, event.at)
    units = 10**9
    assert event.body == {
        "rule": "50%",
        "key": "50%:0/0/0",
        "period": 0,
        "resource": "units",
        "balances": [[10 * units, 5 * units, 0, 0, 0]],
    }
    assert campaign.audit(full=True).ok


def test_a_top_up_arms_percentages_again(storage: Storage) -> None:
    campaign = begun(storage, "50%")
    spend(campaign, 4)
    spend(campaign, 4)
    campaign.top_up(10)
    assert keys(campaign) == ["50%:0/0/0"]
    spend(campaign, 4)
    assert keys(campaign) == ["50%:0/0/0", "50%:0/0/1"]
    campaign.top_up(1)
    assert keys(campaign)[-1] == "50%:0/0/2"  # more than half is spent of the new budget, too
    assert campaign.audit(full=True).ok


def test_each_resource_has_a_percentage_of_its_own(storage: Storage) -> None:
    two = {"arms": {"a": [1, 1]}, "budget": [10, 2], "resources": ["USD", "tokens"]}
    campaign: Any = Campaign.create("p", **two, policy="uniform", alerts=["20%"], storage=storage)
    for number in (1, 2):
        ask(campaign)
        campaign.tell(number, 1, [1, 1])
    assert keys(campaign) == ["20%:1/0/0", "20%:0/0/0"]


def test_a_refused_ask_tells_that_the_budget_is_gone_once(storage: Storage) -> None:
    campaign = begun(storage, "100%")
    spend(campaign, 4)
    spend(campaign, 4)
    held = campaign.ask(arms=["small"])
    with pytest.raises(purse.BudgetExhausted):
        campaign.probabilities(["large"])  # only looks
    assert keys(campaign) == []
    for _ in range(2):
        with pytest.raises(purse.BudgetExhausted):
            campaign.ask(arms=["large"])
    assert keys(campaign) == ["refused:0/0/0"]
    campaign.tell(held, 1, 1)
    spend(campaign, 1, "small")
    assert keys(campaign) == ["refused:0/0/0", "100%:0/0/0"]  # now it is gone indeed
    assert campaign.audit(full=True).ok


def test_a_top_up_arms_percentages_also_while_there_are_no_rules(storage: Storage) -> None:
    campaign = begun(storage, "80%")
    spend(campaign, 4)
    spend(campaign, 4)
    campaign.set_alerts([])
    campaign.top_up(10)
    campaign.set_alerts(["80%"])
    for _ in range(2):
        spend(campaign, 4)
    assert keys(campaign) == ["80%:0/0/0", "80%:0/0/1"]
    assert campaign.audit(full=True).ok


def test_overruns_expired_tickets_and_failing_arms_are_told_once_an_hour(storage: Storage) -> None:
    campaign = begun(storage, "overrun", "expired", "cooling-down", budget=1000)
    hour = START // HOUR
    for cost in (9, 10):
        spend(campaign, cost)
    for arm in ("small", "large"):
        campaign.fail(campaign.ask(arms=[arm]), 0)
    wanted = [f"overrun/{hour}", f"cooling-down:0/{hour}", f"cooling-down:1/{hour}"]
    assert keys(campaign) == wanted
    storage.now = lambda: START + 5_000
    campaign.ask_many(2)
    storage.now = lambda: START + 70_000
    assert campaign.expire() == 2
    wanted.append(f"expired/{(START + 70_000) // HOUR}")
    assert keys(campaign) == wanted
    storage.now = lambda: START + HOUR
    spend(campaign, 11)
    wanted.append(f"overrun/{hour + 1}")
    storage.now = lambda: START  # a clock that goes back makes no event, and no error
    spend(campaign, 12)
    assert keys(campaign) == wanted
    assert campaign.audit(full=True).ok


def test_rules_can_be_set_while_it_runs(storage: Storage) -> None:
    campaign = begun(storage)
    spend(campaign, 4)
    assert campaign.status().alerts == ()
    assert campaign.set_alerts(["overrun", "30%"]).alerts == ("30%", "overrun")
    entries = campaign.status().entries
    assert keys(campaign) == ["30%:0/0/0"]  # it is so already
    assert campaign.set_alerts(["30%", "overrun"]).entries == entries
    with pytest.raises(purse.InvalidInput, match="alerts="):
        campaign.set_alerts(["x%"])
    assert campaign.set_alerts([]).alerts == ()
    spend(campaign, 9)
    assert campaign.set_alerts(["30%"]).alerts == ("30%",)
    assert keys(campaign) == ["30%:0/0/0"]
    assert campaign.audit(full=True).ok


def lines_of(campaign: Any) -> list[str]:
    return exported(campaign).getvalue().splitlines()


def test_a_copy_makes_no_old_event_again_and_nobody_is_told_of_them(storage: Storage) -> None:
    campaign = begun(storage, "50%", "100%")
    spend(campaign, 4)
    spend(campaign, 1)
    with pytest.raises(purse.BudgetExhausted):
        campaign.ask(arms=["large"]) and campaign.ask(arms=["large"])
    text = "\n".join(lines_of(campaign))
    storage.now = lambda: START + 1_000
    with receiver() as made:
        follows = follower(storage, made)
        follows.look()
        copy: Any = Campaign.restore(StringIO(text), storage=storage, name="copy")
        assert copy.status().digest == campaign.status().digest
        follows.look()
        spend(copy, 1, "small")
        assert keys(copy) == keys(campaign)
        follows.look()
        assert made.messages == []
        copy.set_alerts(["10%"])
        follows.look()
        assert made.keys == ["10%:0/0/0"]
    assert copy.audit(full=True).ok


def test_a_journal_with_an_event_too_few_or_too_many_is_found(storage: Storage) -> None:
    campaign = begun(storage, "50%", "100%")
    spend(campaign, 4)
    spend(campaign, 2)
    spend(campaign, 1)
    lines = lines_of(campaign)
    place = next(k for k, line in enumerate(lines) if '"event"' in line)
    number = lambda line, by: line.replace(  # noqa: E731
        f'"seq":{(seq := int(line.split(":")[1].split(",")[0]))},', f'"seq":{seq + by},'
    )
    missing = lines[:place] + [number(line, -1) for line in lines[place + 1 :]]
    with pytest.raises(purse.PurseError, match=r"the event 50%:0/0/0 is missing before entry 6"):
        Campaign.restore(StringIO("\n".join(missing)), storage=in_memory())
    with pytest.raises(purse.PurseError, match="is missing at the end"):
        Campaign.restore(StringIO("\n".join(missing[:place])), storage=in_memory())
    more = [*lines[: place + 1], *(number(line, 1) for line in lines[place:])]
    with pytest.raises(purse.PurseError, match="nothing caused this event"):
        Campaign.restore(StringIO("\n".join(more)), storage=in_memory())
    other = [line.replace('"period":0', '"period":1') for line in lines]
    with pytest.raises(purse.PurseError, match=r"the event 50%:0/0/0 is missing before entry 6"):
        Campaign.restore(StringIO("\n".join(other)), storage=in_memory())


def test_a_percentage_is_that_of_a_period_and_told_in_each(storage: Storage) -> None:
    campaign = begun(storage, "50%", "100%", every="day", carry="none")
    day = 86_400_000
    spend(campaign, 4)
    spend(campaign, 1)
    open_until_tomorrow = campaign.ask(arms=["large"])
    assert keys(campaign) == ["50%:0/1/0"]
    storage.now = lambda: START + day
    spend(campaign, 4)
    assert keys(campaign) == ["50%:0/1/0"]  # 4 of the 10 of today
    campaign.tell(open_until_tomorrow, 1, 4)  # of yesterday
    assert keys(campaign) == ["50%:0/1/0"]
    spend(campaign, 1)
    assert keys(campaign) == ["50%:0/1/0", "50%:0/2/0"]
    (_, event) = [entry for entry in campaign.journal() if entry.kind == "event"]
    assert event.body["period"] == 2
    assert campaign.audit(full=True).findings == ()


ONE_ARM: dict[str, Any] = {"arms": {"a": 2}, "policy": "uniform"}


def below_accounts(harness: StorageHarness, *alerts: str) -> tuple[Any, Any, Any]:
    storage = harness.storage()
    top = Account.create("company", budget=10, alerts=["30%"], storage=storage)
    team = Account.create("team", budget=4, account="company", alerts=list(alerts), storage=storage)
    campaign = Campaign.create("p", **ONE_ARM, budget=100, account="team", storage=storage)
    return top, team, campaign


def test_an_account_is_told_of_what_its_campaigns_spend() -> None:
    harness = MemoryHarness()
    top, team, campaign = below_accounts(harness, "50%", "100%", "overrun")
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


def test_a_refusal_for_lack_of_the_accounts_money_is_its_event() -> None:
    harness = MemoryHarness()
    _, team, campaign = below_accounts(harness, "100%")
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


def test_an_audit_decides_events_again_and_finds_those_that_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage: Any = in_memory()
    storage.now = lambda: START
    team: Any = Account.create("team", budget=4, alerts=["50%", "100%"], storage=storage)
    campaign: Any = Campaign.create("p", **ONE_ARM, budget=100, account="team", storage=storage)
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
