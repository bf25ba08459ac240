"""Asking and telling, step by step, with numbers worked out by hand."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from purse import BudgetExhausted, Conflict, InvalidInput
from purse.errors import TicketError
from tests.support import storages
from tests.support.campaigns import TERMS, counts, made, purse, refusal
from tests.support.storages import START


def test_a_ticket_holds_the_most_that_its_arm_may_cost() -> None:
    campaign = made(arms={"red": "1.5"})
    ticket = campaign.ask("first")
    assert (ticket.campaign, ticket.id, ticket.t, ticket.arm, ticket.probability) == (
        "test",
        1,
        1,
        "red",
        1.0,
    )
    assert (ticket.held, ticket.state, ticket.request_id, ticket.skipped) == (
        ("1.5",),
        "held",
        "first",
        False,
    )
    assert (ticket.asked_at, ticket.deadline) == (START / 1000, START / 1000 + 3600)
    assert json.loads(json.dumps(ticket.as_dict())) == {
        "campaign": "test",
        "id": 1,
        "t": 1,
        "arm": "red",
        "probability": 1.0,
        "held": ["1.5"],
        "state": "held",
        "request_id": "first",
        "asked_at": START / 1000,
        "deadline": START / 1000 + 3600,
    }
    assert purse(campaign) == ("0", "1.5", "0", "8.5", "0")
    assert campaign.tickets() == [ticket]


def test_a_report_spends_its_cost_and_gives_back_the_rest() -> None:
    campaign = made()
    receipt = campaign.tell(campaign.ask(), 0.5, "0.300000001")
    assert json.loads(json.dumps(receipt.as_dict())) == {
        "ticket": 1,
        "state": "told",
        "duplicate": False,
        "late": False,
        "spent": ["0.300000001"],
        "refunded": ["0.699999999"],
        "overrun": ["0"],
    }
    assert purse(campaign) == ("0.300000001", "0", "0", "9.699999999", "0")
    assert counts(campaign) == {"tickets": 1, "told": 1}
    assert campaign.tickets() == []


def test_money_is_exact() -> None:
    campaign = made(budget=1, arms={"red": "0.1", "green": "0.1"}, cost_min="0.1")
    for _ in range(10):
        campaign.tell(campaign.ask(), 1, 0.1)
    assert purse(campaign) == ("1", "0", "0", "0", "0")
    refusal(BudgetExhausted, campaign.ask)


def test_the_last_of_the_budget_is_held_and_not_one_unit_more() -> None:
    assert made(budget="2.000000000").ask_many(5)[-1].id == 2
    assert len(made(budget="1.999999999").ask_many(5)) == 1


def test_several_resources_are_settled_together() -> None:
    campaign = made(
        arms={"red": [2, 3]},
        resources=["euros", "hours"],
        budget=[10, 20],
        cost_min=[[1, 0]],
    )
    ticket = campaign.ask()
    assert ticket.held == ("2", "3")
    receipt = campaign.tell(ticket, 1, [1.5, "2.5"])
    assert (receipt.spent, receipt.refunded, receipt.overrun) == (
        ("1.5", "2.5"),
        ("0.5", "0.5"),
        ("0", "0"),
    )
    assert (purse(campaign, 0), purse(campaign, 1)) == (
        ("1.5", "0", "0", "8.5", "0"),
        ("2.5", "0", "0", "17.5", "0"),
    )
    ticket = campaign.ask()
    for cost in (1, [1], [1, 1, 1], [[1, 1]]):
        message = refusal(InvalidInput, campaign.tell, ticket, 1, cost)
        assert message == f"cost={cost}: must be one amount for each of the resources euros, hours"
    for reward in ([1], (1, 1), "1", {"red": 1}, np.ones(1)):
        message = refusal(InvalidInput, campaign.tell, ticket, reward, [1, 1])
        assert message.startswith("reward="), message
        assert message.endswith("must be a number")


def test_a_cost_above_its_maximum_is_recorded_in_full() -> None:
    campaign = made()
    receipt = campaign.tell(campaign.ask(), 1, "2.5")
    assert (receipt.spent, receipt.refunded, receipt.overrun) == (("1",), ("0",), ("1.5",))
    assert purse(campaign) == ("1", "0", "0", "9", "1.5")
    assert counts(campaign) == {"tickets": 1, "told": 1, "overruns": 1}
    (alarm,) = campaign.status().alarms
    assert (alarm.kind, "1.5" in alarm.text) == ("overrun", True)


def test_a_cost_below_its_minimum_is_recorded_as_it_is() -> None:
    campaign = made()
    assert campaign.tell(campaign.ask(), 1, "0.05").spent == ("0.05",)
    assert campaign.tell(campaign.ask(), 1, 0).spent == ("0",)
    assert purse(campaign) == ("0.05", "0", "0", "9.95", "0")
    assert counts(campaign) == {"tickets": 2, "told": 2, "below_minimum": 2}
    assert [alarm.kind for alarm in campaign.status().alarms] == ["below-minimum"]


def test_the_policy_sees_costs_within_their_bounds() -> None:
    twins = made(policy="exp3.bwk"), made(policy="exp3.bwk")
    for given in (("5", "1"), ("0", "0.1"), ("0.5", "0.5")):
        for campaign, cost in zip(twins, given, strict=True):
            campaign.tell(campaign.ask(), 1, cost)
        assert twins[0].probabilities() == twins[1].probabilities()


@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan, math.inf, None, "much", True])
def test_a_reward_that_cannot_be_changes_nothing(bad: Any) -> None:
    campaign = made()
    assert "reward=" in refusal(InvalidInput, campaign.tell, campaign.ask(), bad, "0.5")
    assert (campaign.status().entries, counts(campaign)) == (2, {"tickets": 1, "held": 1})


@pytest.mark.parametrize(
    "bad", [-0.1, math.nan, math.inf, None, "much", "0.1234567891", 2**63, 1e30, True]
)
def test_a_cost_that_cannot_be_changes_nothing(bad: Any) -> None:
    campaign = made()
    assert "cost=" in refusal(InvalidInput, campaign.tell, campaign.ask(), 0.5, bad)
    assert (campaign.status().entries, counts(campaign)) == (2, {"tickets": 1, "held": 1})


def test_the_same_report_again_gets_the_same_answer_and_another_a_conflict() -> None:
    campaign = made()
    ticket = campaign.ask()
    first = campaign.tell(ticket, 0.5, "0.25")
    assert campaign.tell(ticket.id, 0.5, 0.25) == first._replace(duplicate=True)
    assert campaign.tell(campaign.tickets(states=("told",))[0], 0.5, "0.250") == first._replace(
        duplicate=True
    )
    for reward, cost in ((0.25, "0.25"), (0.5, "0.250000001")):
        message = refusal(Conflict, campaign.tell, ticket, reward, cost)
        assert "0.25" in message
    assert "stands" in refusal(Conflict, campaign.void, ticket)
    assert purse(campaign) == ("0.25", "0", "0", "9.75", "0")
    assert counts(campaign) == {"tickets": 1, "told": 1, "conflicts": 3}
    kept = [entry for entry in campaign.journal() if entry.kind == "conflict"]
    assert [entry.ticket for entry in kept] == [1, 1, 1]
    assert kept[1].body["report"]["costs"] == [250_000_001]
    assert [alarm.kind for alarm in campaign.status().alarms] == ["conflict"]


def test_a_ticket_that_was_never_issued_is_refused() -> None:
    campaign = made()
    campaign.ask()
    assert "ticket 2" in refusal(TicketError, campaign.tell, 2, 1, 1)
    assert "ticket 2" in refusal(TicketError, campaign.void, 2)
    other = storages.MemoryHarness().create("other", **TERMS).ask()
    for bad in (0, -1, "first", None, True, 2**63, other):
        assert "ticket=" in refusal(InvalidInput, campaign.tell, bad, 1, 1)
        assert "ticket=" in refusal(InvalidInput, campaign.void, bad)
    assert campaign.status().entries == 2


def test_void_releases_and_what_was_spent_after_all_is_overrun() -> None:
    campaign = made()
    ticket = campaign.ask()
    receipt = campaign.void(ticket)
    assert (receipt.state, receipt.duplicate, receipt.spent, receipt.refunded, receipt.overrun) == (
        "void",
        False,
        ("0",),
        ("1",),
        ("0",),
    )
    assert purse(campaign) == ("0", "0", "0", "10", "0")
    assert campaign.void(ticket.id) == receipt._replace(duplicate=True)
    late = campaign.tell(ticket, 1, "0.75")
    assert (late.state, late.late, late.spent, late.refunded, late.overrun) == (
        "told",
        True,
        ("0",),
        ("0",),
        ("0.75",),
    )
    assert purse(campaign) == ("0", "0", "0", "10", "0.75")
    assert counts(campaign) == {"tickets": 1, "told": 1, "overruns": 1}
    assert campaign.tell(ticket, 1, "0.75") == late._replace(duplicate=True)


def test_nothing_is_learnt_from_a_report_on_a_void_ticket() -> None:
    campaign = made(policy="exp3.bwk")
    before = campaign.probabilities()
    ticket = campaign.ask()
    campaign.void(ticket)
    campaign.tell(ticket, 1, "0.1")
    assert campaign.probabilities() == before
    campaign.tell(campaign.ask(), 1, "0.1")
    assert campaign.probabilities() != before


def test_an_arm_owes_an_initial_pull_that_was_voided_again_in_a_new_round() -> None:
    campaign = made(policy="exp3++.bwk", arms={"red": 1, "green": 1, "blue": 1})
    red, green = campaign.ask_many(2)
    campaign.void(red)
    again, blue = campaign.ask(), campaign.ask()
    assert [(ticket.arm, ticket.t) for ticket in (red, green, again, blue)] == [
        ("red", 1),
        ("green", 2),
        ("red", 3),
        ("blue", 4),
    ]
    assert campaign.status().rounds == 4
    campaign.void(blue)
    campaign.void(again)
    assert campaign.ask(arms=["green"]).arm == "green"
    assert [campaign.ask().arm for _ in range(2)] == ["red", "blue"]
    assert campaign.audit(full=True).ok
