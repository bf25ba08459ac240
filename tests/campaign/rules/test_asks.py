"""Asks: what a ticket holds, which arms it may have, refusals, and repeats of requests."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from purse import BudgetExhausted, Campaign, Conflict, InvalidInput
from purse.errors import BudgetHeld, HorizonReached, TicketError
from tests.support import storages
from tests.support.campaigns import balance, counts, made, refusal
from tests.support.storages import START

THREE: dict[str, Any] = {
    "arms": {"small": "0.2", "middle": "0.5", "large": 1},
    "budget": 100,
    "policy": "exp3.bwk",
}
EUROS_AND_HOURS: dict[str, Any] = {"resources": ["euros", "hours"], "cost_min": "0.1"}

# tickets


def test_a_ticket_holds_the_most_that_its_arm_may_cost() -> None:
    campaign = made(arms={"red": "1.5"})
    ticket = campaign.ask("first")
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
    assert not ticket.skipped
    assert balance(campaign) == ("0", "1.5", "0", "8.5", "0")
    assert campaign.tickets() == [ticket]


def test_the_last_of_the_budget_is_held_and_not_one_unit_more() -> None:
    assert made(budget="2.000000000").ask_many(5)[-1].id == 2
    assert len(made(budget="1.999999999").ask_many(5)) == 1


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
    assert (skipped.arm, skipped.held, skipped.state) == (None, ("0",), "skipped")
    assert skipped.deadline is None
    assert balance(campaign) == (str(before), "0", "0", str(10 - before), "0")
    assert counts(campaign) == {"tickets": before + 1, "told": before, "skipped": 1}
    assert campaign.status().rounds == before + 1
    assert "nothing to tell" in refusal(TicketError, campaign.tell, skipped, 1, 1)
    assert "nothing to void" in refusal(TicketError, campaign.void, skipped)


# the end of the budget, of the rounds and of time


def test_a_refusal_says_whether_waiting_helps() -> None:
    campaign = made(budget="1.5")
    ticket = campaign.ask(arms=["red"])
    message = refusal(BudgetHeld, campaign.ask, arms=["red"])
    assert message == (
        "'red' may cost 1 units and 0.5 is left; 1 is held for open tickets; tell or void them"
    )
    campaign.tell(ticket, 1, "0.6")
    message = refusal(BudgetExhausted, campaign.ask, arms=["red"])
    assert message == "'red' may cost 1 units and 0.9 is left"
    assert campaign.status().entries == 3
    status = campaign.status()
    why = "0.9 units left, and the cheapest arm may cost 1"
    assert (status.status, status.why, status.alarms) == ("exhausted", why, ())


def test_the_resource_that_is_short_is_named() -> None:
    arms = {"red": ["0.6", "0.6"]}
    campaign = made(**EUROS_AND_HOURS, arms=arms, budget=[1, "1.1"])
    campaign.tell(campaign.ask(), 1, ["0.1", "0.6"])
    assert (balance(campaign, 0)[3], balance(campaign, 1)[3]) == ("0.9", "0.5")
    assert "hours" in refusal(BudgetExhausted, campaign.ask)
    campaign.top_up([0, "0.6"])
    campaign.ask()
    assert (balance(campaign, 0)[3], balance(campaign, 1)[3]) == ("0.3", "0.5")
    assert "euros" in refusal(BudgetHeld, campaign.ask)


def test_the_horizon_ends_the_asking_and_not_the_telling() -> None:
    campaign = made(horizon=2)
    tickets = campaign.ask_many(5)
    assert len(tickets) == 2
    message = refusal(HorizonReached, campaign.ask)
    assert message == "all 2 rounds are played"
    once = made(horizon=1, every="day")
    once.ask()
    assert refusal(HorizonReached, once.ask) == "the only round of this period is played"
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
    status = campaign.status()
    assert (status.overdue, [alarm.kind for alarm in status.alarms]) == (3, ["overdue"])
    assert (campaign.expire(), campaign.expire(), campaign.status().overdue) == (3, 0, 0)
    assert balance(campaign) == ("0", "0", "3", "7", "0")
    late = campaign.tell(tickets[0], 1, "0.25")
    assert late[3:] == (True, ("0.25",), ("0.75",), ("0",))
    assert campaign.void(tickets[1]).refunded == ("1",)
    assert balance(campaign) == ("0.25", "0", "1", "8.75", "0")
    assert counts(campaign) == {"tickets": 3, "told": 1, "void": 1, "presumed": 1}
    assert [ticket.state for ticket in campaign.tickets()] == ["presumed"]


def test_an_ask_expires_what_is_due() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, expires_after=60, budget=1, arms={"red": 1})
    campaign.ask()
    harness.clock += 60_000
    assert refusal(BudgetExhausted, campaign.ask) == (
        "'red' may cost 1 units and 0 is left; 1 is presumed spent, for tickets without a report"
    )
    assert balance(campaign) == ("0", "0", "1", "0", "0")
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked", "expired"]


# requests


def test_a_request_is_answered_once() -> None:
    campaign = made()
    first = campaign.ask("one")
    assert campaign.ask("one") == first
    batch = campaign.ask_many(3, "three")
    assert campaign.ask_many(3, "three") == batch
    campaign.tell(batch[0], 1, 1)
    assert [ticket.state for ticket in campaign.ask_many(3, "three")] == ["told", "held", "held"]
    assert balance(campaign) == ("1", "3", "0", "6", "0")
    entries = campaign.status().entries
    for n, request_id in ((2, "one"), (1, "three"), (4, "three")):
        message = refusal(Conflict, campaign.ask_many, n, request_id)
        assert message.startswith(f"request_id={request_id!r} was used before for another request")
    refusal(Conflict, campaign.top_up, 1, "one")
    assert "request_id=''" in refusal(InvalidInput, campaign.ask, "")
    assert campaign.status().entries == entries


def test_a_repeat_does_not_hand_out_tickets_for_which_nothing_is_held() -> None:
    campaign = made(budget=3)
    batch = campaign.ask_many(2, "two")
    campaign.void(batch[0])
    assert [(each.state, each.held) for each in campaign.ask_many(2, "two")] == [
        ("void", ("0",)),
        ("held", ("1",)),
    ]
    campaign.void(batch[1])
    assert refusal(Conflict, campaign.ask_many, 2, "two") == (
        "request_id='two' was answered with ticket 1, which is void by now: nothing is held for "
        "it; ask with another request_id"
    )
    assert campaign.ticket(1).held == ("0",)
    assert balance(campaign) == ("0", "0", "0", "3", "0")


def test_a_request_that_was_refused_may_be_repeated() -> None:
    campaign = made(budget=1)
    ticket = campaign.ask("one")
    refusal(BudgetHeld, campaign.ask, "two")
    campaign.void(ticket)
    assert campaign.ask("two").request_id == "two"


# operators


def test_a_top_up_counts_once() -> None:
    campaign = made(budget=1)
    for _ in range(2):
        assert campaign.top_up("2.5", "more").purses[0].budget == "3.5"
    refusal(Conflict, campaign.ask, "more")
    for bad in (math.nan, "much", 2**62):
        assert "amount=" in refusal(InvalidInput, campaign.top_up, bad)
    assert campaign.status().purses[0].budget == "3.5"
    two = made(**EUROS_AND_HOURS, budget=[1, 2])
    purses = two.top_up({"hours": 1, "euros": "0.5"}).purses
    assert [part.budget for part in purses] == ["1.5", "3"]
    assert "'hours'" in refusal(InvalidInput, two.top_up, {"euros": 1})
    assert "'days'" in refusal(InvalidInput, two.top_up, {"euros": 1, "days": 2})


# arms that an ask allows, and what this call may cost


def asked(campaign: Campaign) -> dict[str, Any]:
    """The last entry of an ask."""
    body: dict[str, Any] = [entry for entry in campaign.journal() if entry.kind == "asked"][-1].body
    return body


def test_only_what_is_allowed_is_chosen_with_its_probability_under_the_mask() -> None:
    campaign = made(**THREE)
    for turn in range(40):
        arms = [["large", "small"], ["middle"], ["small", "middle", "large"]][turn % 3]
        chances = campaign.probabilities(arms)
        ticket = campaign.ask(arms=arms)
        assert ticket.arm in arms
        assert ticket.probability == chances[ticket.arm]
        assert sum(chances.values()) == pytest.approx(1)
        campaign.tell(ticket, 1, "0.15")
    assert campaign.audit(full=True).ok


def test_a_repeat_may_say_the_same_in_other_words() -> None:
    harness = storages.MemoryHarness()
    campaign = made(harness, **THREE)
    first = campaign.ask("r", arms={"large": "0.30", "small": 0.1})
    again = harness.open("test")
    assert again.ask("r", arms={"small": "0.1", "large": "0.3"}) == first
    for other in (None, ["large", "small"], {"large": "0.3", "small": "0.2"}, {"large": "0.3"}):
        with pytest.raises(Conflict, match="used before for another request: 1 ticket of some"):
            again.ask("r", arms=other)
    plain = again.ask("p")
    assert harness.open("test").ask("p") == plain
    with pytest.raises(Conflict):
        again.ask("p", arms=["large"])


def test_the_shorter_form_of_a_mask_is_stored() -> None:
    campaign = made(**THREE)
    for arms, mask in (
        (["large"], {"allowed": [2]}),
        (["large", "small"], {"forbidden": [1]}),
        ({"large": "0.3"}, {"allowed": [2], "most": [[2, [300_000_000]]]}),
        (None, None),
    ):
        campaign.ask(arms=arms)
        assert asked(campaign).get("mask") == mask


def test_a_mask_that_says_nothing_sensible() -> None:
    campaign = made(**THREE)
    several: list[Any] = [3, 1.5, [["red"]], [{}]]
    for bad in several:
        refusal(InvalidInput, made(capacity=3).ask, arms=bad)
        refusal(InvalidInput, campaign.ask, arms=bad)
    for arms, text in (
        ({}, "must name at least one arm"),
        (7, "must be a list of names"),
        ([1], "unknown arm in arms '1'"),
        ({"large": -1}, "arms['large']=-1: must not be negative"),
        ({"large": "much"}, "arms['large']='much'"),
        ({"large": [1, 1]}, "must be one amount for each of the resources units"),
    ):
        for call in (campaign.ask, campaign.probabilities):
            assert text in refusal(InvalidInput, call, arms=arms)
    assert campaign.status().entries == 1
