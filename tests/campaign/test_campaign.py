"""What a campaign does, step by step, with numbers worked out by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from houses import START, MemoryHouse

from purse import (
    AskRefused,
    BudgetExhausted,
    BudgetHeld,
    Campaign,
    CampaignClosed,
    CampaignExists,
    CampaignPaused,
    Conflict,
    HorizonReached,
    InvalidInput,
    NoSuchCampaign,
    PurseError,
    TicketError,
)

TERMS: dict[str, Any] = {
    "arms": ["red", "green"],
    "budget": 10,
    "cost_min": "0.1",
    "cost_max": 1,
    "policy": "uniform",
}


def made(house: MemoryHouse | None = None, **changes: Any) -> Campaign:
    return (house or MemoryHouse()).create("test", **{**TERMS, **changes})


def refusal(error: type[Exception], call: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(error) as caught:
        call(*arguments, **named)
    assert type(caught.value) is error
    assert isinstance(caught.value, PurseError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def purse(campaign: Campaign, resource: int = 0) -> tuple[str, ...]:
    """Spent, held, presumed, left, overrun."""
    shown = campaign.status().purses[resource]
    return shown.spent, shown.held, shown.presumed, shown.left, shown.overrun


def counts(campaign: Campaign) -> dict[str, int]:
    return {name: number for name, number in campaign.status().counts.items() if number}


# terms


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"arms": []}, ("arms=[]", "list of names")),
        ({"arms": "red"}, ("arms='red'", "list of names")),
        ({"arms": ["red", "red"]}, ("arms=", "different")),
        ({"arms": ["red", 7]}, ("arms=7", "name")),
        ({"arms": ["red", ""]}, ("arms=''", "name")),
        ({"arms": {"red": 1, "green": 2}}, ("cost_max=1", "left out")),
        ({"cost_max": None}, ("cost_max=None", "most")),
        ({"cost_max": -1}, ("cost_max",)),
        ({"cost_max": [1, 2, 3]}, ("cost_max=[1, 2, 3]", "2 arms")),
        ({"cost_max": {"red": 1}}, ("cost_max=", "'green'")),
        ({"cost_max": {"red": 1, "gren": 2}}, ("'gren'", "'green'")),
        ({"cost_min": 0}, ("cost_min=0", "positive")),
        ({"cost_min": 2}, ("cost_min=2", "cost_max=1")),
        ({"cost_min": "0.1234567891"}, ("cost_min='0.1234567891'", "nine decimals")),
        ({"budget": 0}, ("budget=0", "positive")),
        ({"budget": math.nan}, ("budget=nan", "number")),
        ({"budget": "lots"}, ("budget='lots'", "number")),
        ({"budget": [1, 2]}, ("budget=[1, 2]", "1")),
        ({"budget": {"dollars": 5}}, ("'dollars'", "units")),
        ({"resources": []}, ("resources=[]", "names")),
        ({"resources": ["a", "a"]}, ("resources=", "different")),
        ({"plays": 3}, ("plays=3", "2")),
        ({"horizon": 0}, ("horizon=0", "1")),
        ({"caps": 5}, ("caps", "uniform")),
        ({"costs": [1]}, ("costs=[1]", "2 arms")),
        ({"policy": "unifrom"}, ("'unifrom'", "'uniform'")),
        ({"policy": 3}, ("policy=3",)),
        ({"policy": "uniform:beta=1"}, ("beta", "uniform")),
        ({"seed": -1}, ("seed=-1", "0")),
        ({"expires_after": 0}, ("expires_after=0", "above 0")),
        ({"expires_after": "soon"}, ("expires_after='soon'", "number")),
        ({"on_expiry": "forget"}, ("on_expiry='forget'", "'presume'", "'release'")),
    ],
)
def test_bad_terms_are_refused_in_one_line_that_names_the_field(
    changes: dict[str, Any], parts: tuple[str, ...]
) -> None:
    house = MemoryHouse()
    message = refusal(InvalidInput, made, house, **changes)
    assert all(part in message for part in parts), message
    assert house.memory.names() == []


@pytest.mark.parametrize("name", ["", "a b", "a/b", "ä", "-a", "a" * 101, 7, None])
def test_names_are_short_and_plain(name: Any) -> None:
    assert "name=" in refusal(InvalidInput, MemoryHouse().create, name, **TERMS)


def test_a_name_is_taken_once() -> None:
    house = MemoryHouse()
    made(house)
    assert "'test'" in refusal(CampaignExists, made, house)
    assert "'other'" in refusal(NoSuchCampaign, Campaign.open, "other", storage=house.memory)
    assert "storage='redis://here'" in refusal(
        InvalidInput, Campaign.open, "test", storage="redis://here"
    )


def test_terms_by_name_and_by_position_are_the_same() -> None:
    by_name = made(
        arms=["red", "green"],
        resources=["euros", "hours"],
        budget={"hours": 3, "euros": "10.5"},
        cost_min={"green": {"hours": "0.2", "euros": 0.1}, "red": [0.3, 0.4]},
        cost_max={"red": {"euros": 1, "hours": 2}, "green": {"euros": 3, "hours": 4}},
    )
    by_position = made(
        resources=["euros", "hours"],
        budget=["10.5", 3],
        cost_min=[[0.3, 0.4], [0.1, "0.2"]],
        cost_max=[[1, 2], [3, 4]],
    )
    assert replace(by_name.terms, id="") == replace(by_position.terms, id="")
    assert by_name.terms.id != by_position.terms.id
    assert by_name.terms.budget == (10_500_000_000, 3_000_000_000)
    assert by_name.terms.cost_min == ((300_000_000, 400_000_000), (100_000_000, 200_000_000))
    assert made(arms={"red": 1, "green": "2.5"}, cost_max=None).terms.cost_max == (
        (1_000_000_000,),
        (2_500_000_000,),
    )
    assert (
        by_name.name,
        by_name.terms.arms,
        by_name.terms.expires_after,
        by_name.terms.on_expiry,
    ) == ("test", ("red", "green"), 3_600_000, "presume")


def test_release_on_expiry_prints_the_weaker_promise() -> None:
    with pytest.warns(UserWarning, match="on_expiry='release'"):
        campaign = Campaign.create(
            "test", **TERMS, on_expiry="release", storage=MemoryHouse().memory
        )
    promise = campaign.status().promise
    assert promise is not None
    assert "overrun" in promise
    assert promise in str(campaign.status())
    assert made().status().promise is None


# asking and telling


def test_a_ticket_holds_the_most_that_its_arm_may_cost() -> None:
    campaign = made(arms={"red": "1.5"}, cost_max=None)
    ticket = campaign.ask("first")
    assert (ticket.campaign, ticket.id, ticket.t, ticket.arm, ticket.arms, ticket.probability) == (
        "test",
        1,
        1,
        "red",
        ("red",),
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
        "arms": ["red"],
        "probability": 1.0,
        "probabilities": [1.0],
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
    campaign = made(budget=1, cost_min="0.1", cost_max="0.1")
    for _ in range(10):
        campaign.tell(campaign.ask(), 1, 0.1)
    assert purse(campaign) == ("1", "0", "0", "0", "0")
    refusal(BudgetExhausted, campaign.ask)


def test_the_last_of_the_budget_is_held_and_not_one_unit_more() -> None:
    assert made(budget="2.000000000").ask_many(5)[-1].id == 2
    assert len(made(budget="1.999999999").ask_many(5)) == 1


def test_several_plays_and_resources_are_settled_together() -> None:
    campaign = made(
        arms=["red", "green"],
        plays=2,
        resources=["euros", "hours"],
        budget=[10, 20],
        cost_min=[[1, 0], [0, 1]],
        cost_max=[[2, 3], [4, 5]],
    )
    ticket = campaign.ask()
    assert (sorted(ticket.arms), ticket.held) == (["green", "red"], ("6", "8"))
    red = ticket.arms.index("red")
    costs = [[1.5, 3], [1, "2.5"]] if red == 0 else [[1, "2.5"], [1.5, 3]]
    receipt = campaign.tell(ticket, [1, 0], costs)
    assert (receipt.spent, receipt.refunded, receipt.overrun) == (
        ("2.5", "5.5"),
        ("3.5", "2.5"),
        ("0", "0"),
    )
    assert (purse(campaign, 0), purse(campaign, 1)) == (
        ("2.5", "0", "0", "7.5", "0"),
        ("5.5", "0", "0", "14.5", "0"),
    )
    campaign = made(plays=2, resources=["euros", "hours"])
    ticket = campaign.ask()
    for reward, cost in (
        (1, [[1, 1], [1, 1]]),
        ([1, 1], [1, 1, 1]),
        ([1, 1], 1),
        ([1, 1, 1], [[1, 1], [1, 1]]),
    ):
        assert "2 rewards and 4 costs" in refusal(InvalidInput, campaign.tell, ticket, reward, cost)


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
    other = MemoryHouse().create("other", **TERMS).ask()
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


def test_an_initial_pull_that_was_voided_is_asked_again() -> None:
    campaign = made(policy="exp3++.bwk", arms=["red", "green", "blue"])
    red, green = campaign.ask_many(2)
    campaign.void(red)
    again, blue = campaign.ask(), campaign.ask()
    assert [(ticket.arm, ticket.t) for ticket in (red, green, again, blue)] == [
        ("red", 1),
        ("green", 2),
        ("red", 1),
        ("blue", 3),
    ]
    assert again.id == 3
    assert campaign.status().rounds == 3


# the end of the budget and of time


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
        arms=["red"],
        resources=["euros", "hours"],
        budget=[1, "1.1"],
        cost_min=["0.1"],
        cost_max=["0.6"],
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
        "cost_max": [["0.6", "0.1"], ["0.6", "0.9"]],
    }
    campaign = made(policy="primal-dual-bwk", **terms)
    assert campaign.ask().arm == "red"
    message = refusal(BudgetExhausted, campaign.ask)
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
    house = MemoryHouse()
    campaign = made(house, expires_after=60)
    tickets = campaign.ask_many(3)
    house.clock += 59_999
    assert (campaign.expire(), campaign.status().overdue) == (0, 0)
    house.clock += 1
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
    house = MemoryHouse()
    campaign = made(house, expires_after=60, budget=1)
    campaign.ask()
    house.clock += 60_000
    assert "presumed" in refusal(BudgetExhausted, campaign.ask)
    assert purse(campaign) == ("0", "0", "1", "0", "0")
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked", "expired"]


def test_released_on_expiry_where_that_was_chosen() -> None:
    house = MemoryHouse()
    campaign = made(house, expires_after=60, on_expiry="release", budget=1)
    ticket = campaign.ask()
    house.clock += 60_000
    assert campaign.ask().id == 2
    assert campaign.void(ticket).duplicate
    assert campaign.tell(ticket, 1, "0.5").overrun == ("0.5",)
    assert purse(campaign) == ("0", "1", "0", "0", "0.5")


def test_a_ticket_without_a_deadline_never_expires() -> None:
    house = MemoryHouse()
    campaign = made(house, expires_after=None)
    assert campaign.ask().deadline is None
    house.clock += 10**12
    assert campaign.expire() == 0
    assert purse(campaign) == ("0", "1", "0", "9", "0")


# requests


def test_a_request_is_answered_once() -> None:
    campaign = made()
    first = campaign.ask("one")
    assert campaign.ask("one") == first
    batch = campaign.ask_many(3, "three")
    assert campaign.ask_many(3, "three") == batch
    campaign.tell(batch[0], 1, 1)
    assert [ticket.state for ticket in campaign.ask_many(3, "three")] == ["told", "held", "held"]
    assert purse(campaign) == ("1", "3", "0", "6", "0")
    for n, request_id in ((2, "one"), (1, "three"), (4, "three")):
        assert request_id in refusal(Conflict, campaign.ask_many, n, request_id)
    refusal(Conflict, campaign.top_up, 1, "one")
    assert "request_id=''" in refusal(InvalidInput, campaign.ask, "")
    assert campaign.status().entries == 4


def test_a_repeat_is_answered_when_nothing_more_would_be() -> None:
    campaign = made(budget=1)
    ticket = campaign.ask("one")
    refusal(BudgetHeld, campaign.ask, "two")
    assert campaign.ask("one") == ticket
    campaign.pause()
    assert campaign.ask("one") == ticket
    campaign.close()
    assert campaign.ask("one") == ticket


def test_a_request_that_was_refused_may_be_repeated() -> None:
    campaign = made(budget=1)
    ticket = campaign.ask("one")
    refusal(BudgetHeld, campaign.ask, "two")
    campaign.void(ticket)
    assert campaign.ask("two").request_id == "two"


def test_a_top_up_counts_once() -> None:
    campaign = made(budget=1)
    assert campaign.top_up("2.5", "more").purses[0].budget == "3.5"
    assert campaign.top_up("2.5", "more").purses[0].budget == "3.5"
    assert "more" in refusal(Conflict, campaign.top_up, 3, "more")
    refusal(Conflict, campaign.ask, "more")
    assert campaign.top_up(1).purses[0].budget == "4.5"
    assert len(campaign.ask_many(9)) == 4
    for bad in (0, -1, math.nan, "much", [1, 2], 2**62):
        assert "amount=" in refusal(InvalidInput, campaign.top_up, bad)
    assert campaign.status().purses[0].budget == "4.5"


def test_a_top_up_of_several_resources() -> None:
    campaign = made(resources=["euros", "hours"], budget=[1, 2])
    assert [part.budget for part in campaign.top_up({"hours": 1, "euros": "0.5"}).purses] == [
        "1.5",
        "3",
    ]
    assert [part.budget for part in campaign.top_up([1, 2]).purses] == ["2.5", "5"]
    assert "'hours'" in refusal(InvalidInput, campaign.top_up, {"euros": 1})
    assert "'days'" in refusal(InvalidInput, campaign.top_up, {"euros": 1, "days": 2})


# pause, resume, close


def test_reports_are_always_taken_and_asks_only_while_it_runs() -> None:
    campaign = made()
    tickets = campaign.ask_many(4)
    assert campaign.pause().status == "paused"
    assert "resume" in refusal(CampaignPaused, campaign.ask)
    campaign.tell(tickets[0], 1, "0.5")
    campaign.void(tickets[1])
    assert campaign.resume().status == "running"
    assert campaign.ask().id == 5
    assert campaign.close().status == "closed"
    assert "closed" in refusal(CampaignClosed, campaign.ask)
    campaign.tell(tickets[2], 1, "0.5")
    campaign.void(tickets[3])
    refusal(CampaignClosed, campaign.resume)
    refusal(CampaignClosed, campaign.top_up, 1)
    assert issubclass(CampaignClosed, AskRefused)
    assert purse(campaign) == ("1", "1", "0", "8", "0")
    assert [entry.kind for entry in campaign.journal()][2:] == [
        "paused",
        "told",
        "voided",
        "resumed",
        "asked",
        "closed",
        "told",
        "voided",
    ]


def test_to_pause_twice_is_to_pause_once() -> None:
    campaign = made()
    campaign.pause()
    campaign.pause()
    campaign.resume()
    campaign.resume()
    campaign.close()
    campaign.close()
    assert [entry.kind for entry in campaign.journal()] == [
        "created",
        "paused",
        "resumed",
        "closed",
    ]


# many reports at once


def test_reports_of_a_batch_stand_alone() -> None:
    campaign = made()
    tickets = campaign.ask_many(4)
    campaign.tell(tickets[3], 1, 1)
    answers = campaign.tell_many(
        [
            (tickets[0], 1, "0.5"),
            (99, 1, 1),
            (tickets[1].id, 2, 1),
            (tickets[0], 1, "0.5"),
            (tickets[3], 0, 1),
            (tickets[2], 0, -1),
        ]
    )
    assert [type(answer).__name__ for answer in answers] == [
        "Receipt",
        "TicketError",
        "InvalidInput",
        "Receipt",
        "Conflict",
        "InvalidInput",
    ]
    first, again = answers[0], answers[3]
    assert not isinstance(first, PurseError)
    assert again == first._replace(duplicate=True)
    assert purse(campaign) == ("1.5", "2", "0", "6.5", "0")
    assert counts(campaign) == {"tickets": 4, "held": 2, "told": 2, "conflicts": 1}
    assert campaign.tell_many([]) == []


# what it says of itself


def test_status_in_words() -> None:
    house = MemoryHouse()
    campaign = made(house, resources=["euros"], expires_after=60)
    campaign.tell(campaign.ask(), 1, "0.25")
    house.clock += 5000
    campaign.ask()
    status = campaign.status()
    assert str(status) == "\n".join(
        [
            "test: running, uniform, round 2",
            "  euros: spent 0.25 of 10, held 1, presumed 0, left 8.75",
            "  tickets: 1 held, 1 told",
        ]
    )
    assert (status.name, status.policy, status.plays, status.arms, status.entries) == (
        "test",
        "uniform",
        1,
        ("red", "green"),
        4,
    )
    assert (status.created_at, status.changed_at, status.oldest_held) == (
        START / 1000,
        START / 1000 + 5,
        START / 1000 + 5,
    )
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


def test_alarms_are_part_of_the_status() -> None:
    house = MemoryHouse()
    campaign = made(house, expires_after=60, budget=2)
    campaign.tell(campaign.ask(), 1, 3)
    campaign.ask()
    house.clock += 60_000
    campaign.expire()
    text = str(campaign.status())
    assert {alarm.kind for alarm in campaign.status().alarms} == {
        "overrun",
        "presumed",
        "exhausted",
    }
    assert text.count("  ! ") == 3
    assert "overrun 2" in text
    facts = campaign.status().as_dict()
    assert {alarm["kind"] for alarm in facts["alarms"]} == {"overrun", "presumed", "exhausted"}


def test_no_set_of_arms_fits_where_only_the_cheapest_twice_would() -> None:
    campaign = made(arms={"red": 1, "green": 3}, cost_max=None, plays=2, budget=3)
    refusal(BudgetExhausted, campaign.ask)
    assert [alarm.kind for alarm in campaign.status().alarms] == ["exhausted"]


def test_probabilities_are_those_of_the_next_ticket() -> None:
    campaign = made(policy="exp3.bwk")
    for reward in (1, 0, 1):
        chances = campaign.probabilities()
        assert list(chances) == ["red", "green"]
        ticket = campaign.ask()
        assert ticket.probability == chances[ticket.arm or ""]
        campaign.tell(ticket, reward, "0.5")


def test_tickets_by_state() -> None:
    campaign = made()
    tickets = campaign.ask_many(5)
    campaign.tell(tickets[1], 1, 1)
    campaign.void(tickets[2])
    assert [ticket.id for ticket in campaign.tickets()] == [1, 4, 5]
    assert [ticket.id for ticket in campaign.tickets(limit=2)] == [1, 4]
    assert [ticket.id for ticket in campaign.tickets(states=("told", "void"))] == [2, 3]
    assert "states" in refusal(InvalidInput, campaign.tickets, states=("lost",))


def test_the_journal_tells_everything_in_order() -> None:
    campaign = made(arms=["red"])
    campaign.tell(campaign.ask("one"), 1, "1.5")
    entries = list(campaign.journal())
    assert [(entry.seq, entry.at, entry.kind, entry.ticket) for entry in entries] == [
        (1, START, "created", None),
        (2, START, "asked", None),
        (3, START, "told", 1),
    ]
    assert entries[1].request == "one"
    held = {"id": 1, "t": 1, "arms": [0], "probabilities": [1.0], "held": [1_000_000_000]}
    assert entries[1].body == {"n": 1, "deadline": START + 3_600_000, "tickets": [held]}
    shared = {"t": 1, "arms": [0], "probabilities": [1.0], "rewards": [1.0]}
    assert entries[2].body == {
        **shared,
        "costs": [1_500_000_000],
        "from": "held",
        "spent": [1_000_000_000],
        "overrun": [500_000_000],
    }
    assert [entry.seq for entry in campaign.journal(after=2)] == [3]


# caps and rounds that pass


def test_caps_are_kept_and_a_void_gives_a_pull_back() -> None:
    campaign = made(policy="b-kube", arms=["red", "green"], cost_min=1, costs=1, caps=[1, 2])
    tickets = [campaign.ask() for _ in range(2)]
    for ticket in tickets:
        campaign.tell(ticket, 1, 1)
    last = campaign.ask()
    assert sorted(ticket.arm or "" for ticket in (*tickets, last)) == ["green", "green", "red"]
    with pytest.raises(AskRefused):
        campaign.ask()
    campaign.void(last)
    assert campaign.ask().arm == "green"


def test_a_round_that_the_policy_lets_pass_holds_nothing() -> None:
    campaign = made(
        policy="bobw-primal-dual:eta=0.5", arms=["red"], cost_min="0.5", horizon=40, seed=8
    )
    tickets = []
    while not tickets or not tickets[-1].skipped:
        tickets.append(campaign.ask())
        if not tickets[-1].skipped:
            campaign.tell(tickets[-1], 1, 1)
    skipped, before = tickets[-1], len(tickets) - 1
    assert (skipped.arm, skipped.arms, skipped.held, skipped.state, skipped.deadline) == (
        None,
        (),
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
