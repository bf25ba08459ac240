"""The end of the budget, of the rounds and of time, and rounds that pass."""

from __future__ import annotations

import json
from typing import Any

from purse import BudgetExhausted, InvalidInput
from purse.errors import BudgetHeld, HorizonReached, TicketError
from tests.support import storages
from tests.support.campaigns import counts, made, purse, refusal


def test_a_pull_that_would_fit_were_nothing_held_is_told_apart() -> None:
    campaign = made(budget="1.5")
    ticket = campaign.ask()
    message = refusal(BudgetHeld, campaign.ask)
    assert all(part in message for part in ("1", "0.5", "held")), message
    campaign.tell(ticket, 1, "0.6")
    message = refusal(BudgetExhausted, campaign.ask)
    assert all(part in message for part in ("may cost 1", "0.9 is left")), message
    assert campaign.status().entries == 3
    assert [alarm.kind for alarm in campaign.status().alarms] == ["exhausted"]


def test_the_resource_that_is_short_is_named() -> None:
    campaign = made(
        arms={"red": ["0.6", "0.6"]},
        resources=["euros", "hours"],
        budget=[1, "1.1"],
        cost_min=["0.1"],
    )
    campaign.tell(campaign.ask(), 1, ["0.1", "0.6"])
    assert (purse(campaign, 0)[3], purse(campaign, 1)[3]) == ("0.9", "0.5")
    assert "hours" in refusal(BudgetExhausted, campaign.ask)
    campaign.top_up([0, "0.6"])
    campaign.ask()
    assert (purse(campaign, 0)[3], purse(campaign, 1)[3]) == ("0.3", "0.5")
    assert "euros" in refusal(BudgetHeld, campaign.ask)


def test_held_of_one_resource_is_no_comfort_where_another_is_gone() -> None:
    terms = {
        "resources": ["euros", "hours"],
        "budget": [1, "0.5"],
        "cost_min": "0.1",
        "arms": {"red": ["0.6", "0.1"], "green": ["0.6", "0.9"]},
    }
    campaign = made(policy="primal-dual-bwk", **terms)
    assert campaign.ask().arm == "red"
    message = refusal(BudgetExhausted, campaign.ask, arms=["green"])
    assert "'green' may cost 0.9 hours" in message


def test_as_many_tickets_as_fit() -> None:
    campaign = made(budget="3.5")
    assert [ticket.id for ticket in campaign.ask_many(10)] == [1, 2, 3]
    refusal(BudgetHeld, campaign.ask_many, 2)
    for bad in (0, -1, 1.5, "many"):
        assert "n=" in refusal(InvalidInput, campaign.ask_many, bad)


def test_the_horizon_ends_the_asking_and_not_the_telling() -> None:
    campaign = made(horizon=2)
    tickets = campaign.ask_many(5)
    assert len(tickets) == 2
    assert "2" in refusal(HorizonReached, campaign.ask)
    assert campaign.tell(tickets[1], 1, 1).state == "told"
    status = campaign.status()
    assert (status.rounds, status.horizon) == (2, 2)
    assert "round 2 of 2" in str(status)


def test_a_hold_that_outlives_its_deadline_is_presumed_spent() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=60)
    tickets = campaign.ask_many(3)
    harness.clock += 59_999
    assert (campaign.expire(), campaign.status().overdue) == (0, 0)
    harness.clock += 1
    assert (campaign.status().overdue, [alarm.kind for alarm in campaign.status().alarms]) == (
        3,
        ["overdue"],
    )
    assert (campaign.expire(), campaign.expire(), campaign.status().overdue) == (3, 0, 0)
    assert purse(campaign) == ("0", "0", "3", "7", "0")
    late = campaign.tell(tickets[0], 1, "0.25")
    assert (late.late, late.spent, late.refunded, late.overrun) == (
        True,
        ("0.25",),
        ("0.75",),
        ("0",),
    )
    assert campaign.void(tickets[1]).refunded == ("1",)
    assert purse(campaign) == ("0.25", "0", "1", "8.75", "0")
    assert counts(campaign) == {"tickets": 3, "told": 1, "void": 1, "presumed": 1}
    assert [ticket.state for ticket in campaign.tickets()] == ["presumed"]


def test_an_ask_expires_what_is_due() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=60, budget=1)
    campaign.ask()
    harness.clock += 60_000
    assert "presumed" in refusal(BudgetExhausted, campaign.ask)
    assert purse(campaign) == ("0", "0", "1", "0", "0")
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked", "expired"]


def test_a_ticket_without_a_deadline_never_expires() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=None)
    assert campaign.ask().deadline is None
    harness.clock += 10**12
    assert campaign.expire() == 0
    assert purse(campaign) == ("0", "1", "0", "9", "0")


def test_a_round_that_the_policy_lets_pass_holds_nothing() -> None:
    campaign = made(
        policy="bobw-primal-dual:eta=0.5", arms={"red": 1}, cost_min="0.5", horizon=40, seed=8
    )
    tickets: list[Any] = []
    while not tickets or not tickets[-1].skipped:
        tickets.append(campaign.ask())
        if not tickets[-1].skipped:
            campaign.tell(tickets[-1], 1, 1)
    skipped, before = tickets[-1], len(tickets) - 1
    assert (skipped.arm, skipped.held, skipped.state, skipped.deadline) == (
        None,
        ("0",),
        "skipped",
        None,
    )
    assert purse(campaign) == (str(before), "0", "0", str(10 - before), "0")
    assert counts(campaign) == {"tickets": before + 1, "told": before, "skipped": 1}
    assert campaign.status().rounds == before + 1
    assert "nothing to tell" in refusal(TicketError, campaign.tell, skipped, 1, 1)
    assert "nothing to void" in refusal(TicketError, campaign.void, skipped)
    assert json.loads(json.dumps(skipped.as_dict()))["arm"] is None
