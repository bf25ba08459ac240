"""Requests that are repeated, pauses, and many reports at once."""

from __future__ import annotations

import math

from purse import AskRefused, Conflict, InvalidInput, PurseError
from purse.errors import BudgetHeld, CampaignEnded, CampaignPaused
from tests.support.campaigns import counts, made, purse, refusal


def test_a_request_is_answered_once() -> None:
    campaign = made()
    first = campaign.ask("one")
    assert campaign.ask("one") == first
    batch = campaign.ask_many(3, "three")
    assert campaign.ask_many(3, "three") == batch
    campaign.tell(batch[0], 1, 1)
    assert [ticket.state for ticket in campaign.ask_many(3, "three")] == ["told", "held", "held"]
    assert purse(campaign) == ("1", "3", "0", "6", "0")
    entries = campaign.status().entries
    for n, request_id in ((2, "one"), (1, "three"), (4, "three")):
        assert request_id in refusal(Conflict, campaign.ask_many, n, request_id)
    refusal(Conflict, campaign.top_up, 1, "one")
    assert "request_id=''" in refusal(InvalidInput, campaign.ask, "")
    assert campaign.status().entries == entries


def test_a_repeat_is_answered_when_nothing_more_would_be() -> None:
    campaign = made(budget=1)
    ticket = campaign.ask("one")
    refusal(BudgetHeld, campaign.ask, "two")
    assert campaign.ask("one") == ticket
    campaign.pause()
    assert campaign.ask("one") == ticket
    campaign.end()
    assert campaign.ask("one") == ticket


def test_a_repeat_does_not_hand_out_tickets_for_which_nothing_is_held() -> None:
    campaign = made(budget=3)
    batch = campaign.ask_many(2, "two")
    campaign.void(batch[0])
    assert [(each.state, each.held) for each in campaign.ask_many(2, "two")] == [
        ("void", ("0",)),
        ("held", ("1",)),
    ]
    campaign.void(batch[1])
    assert "ticket 1, which is void by now" in refusal(Conflict, campaign.ask_many, 2, "two")
    assert campaign.ticket(1).held == ("0",)
    assert purse(campaign) == ("0", "0", "0", "3", "0")


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


def test_reports_are_always_taken_and_asks_only_while_it_runs() -> None:
    campaign = made()
    tickets = campaign.ask_many(4)
    assert campaign.pause().status == "paused"
    assert "resume" in refusal(CampaignPaused, campaign.ask)
    campaign.tell(tickets[0], 1, "0.5")
    campaign.void(tickets[1])
    assert campaign.resume().status == "running"
    assert campaign.ask().id == 5
    assert campaign.end().status == "ended"
    assert "ended" in refusal(CampaignEnded, campaign.ask)
    campaign.tell(tickets[2], 1, "0.5")
    campaign.void(tickets[3])
    refusal(CampaignEnded, campaign.resume)
    refusal(CampaignEnded, campaign.top_up, 1)
    assert issubclass(CampaignEnded, AskRefused)
    assert purse(campaign) == ("1", "1", "0", "8", "0")
    assert [entry.kind for entry in campaign.journal()][5:] == [
        "paused",
        "told",
        "voided",
        "resumed",
        "asked",
        "ended",
        "told",
        "voided",
    ]


def test_to_pause_twice_is_to_pause_once() -> None:
    campaign = made()
    campaign.pause()
    campaign.pause()
    campaign.resume()
    campaign.resume()
    campaign.end()
    campaign.end()
    assert [entry.kind for entry in campaign.journal()] == [
        "created",
        "paused",
        "resumed",
        "ended",
    ]


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
