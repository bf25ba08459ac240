"""The rules of asks, reports and operators without a storage: what they add, or why they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from purse.base.amounts import LARGEST
from purse.campaign import asks, operators, reports
from purse.campaign.ask_inputs import Mask
from purse.errors import (
    AskRefused,
    BudgetExhausted,
    BudgetHeld,
    CampaignEnded,
    CampaignPaused,
    Conflict,
    HorizonReached,
    InvalidInput,
    PurseError,
    TicketError,
)
from tests.support.game import START, USD, Game, account_terms, money


def refused(error: type[PurseError], text: str, game: Game, rule: Any, *values: Any) -> None:
    """Check that a rule refuses, in these words, and adds nothing."""
    before = len(game.entries)
    with pytest.raises(error) as caught:
        game.do(rule, *values)
    assert type(caught.value) is error
    assert str(caught.value) == text
    assert len(game.entries) == before


def test_an_ask_holds_the_most_that_its_arm_may_cost() -> None:
    game = Game(script=(0, 1))
    tickets = game.do(asks.ask, 2, "both")
    assert [ticket.held for ticket in tickets] == [[4 * USD], [USD]]
    assert game.last().body == {
        "t": 2, "arm": 1, "p": 0.5, "held": [USD], "deadline": START + 60_000, "n": 2, "of": "both",
    }  # fmt: skip
    mask = Mask((0, 1), ((0, (USD // 2,)), (1, (USD // 4,))))
    (ticket,) = game.do(asks.ask, 1, "less", mask)
    assert (ticket.held, money(game.campaign)) == ([USD // 2], "10 0 5.5 0 0 4.5")


def test_an_ask_for_many_gets_as_many_as_fit() -> None:
    game = Game(script=(0,))
    tickets = game.do(asks.ask, 9, "many")
    assert [ticket.arm for ticket in tickets] == [0, 0]  # then red does not fit any more
    assert game.policy.saw[-1].allowed == [1]  # and the policy could choose green alone


def test_why_nothing_can_be_held_and_on_which_level() -> None:
    game = Game(account_terms("team", 9), script=(0,), arms={"red": 4})
    game.do(asks.ask, 2, "both")
    refused(BudgetHeld, "'red' may cost 4 USD and 2 is left; 8 is held for open tickets; "
            "tell or void them", game, asks.ask, 1, "third")  # fmt: skip
    game.do(reports.tell, 1, 1.0, [4 * USD])
    game.top_up(game.campaign, 9, "more")
    refused(BudgetHeld, "'red' may cost 4 USD and account 'team' has 1 left; 4 is held for open "
            "tickets; tell or void them", game, asks.ask, 1, "third")  # fmt: skip
    game.now += 60_000
    game.do(reports.expire, [game.campaign.tickets[2]])
    refused(BudgetExhausted, "'red' may cost 4 USD and account 'team' has 1 left; 4 is presumed "
            "spent, for tickets without a report", game, asks.ask, 1, "third")  # fmt: skip


def test_a_level_that_stands_still_stops_those_below() -> None:
    game = Game(account_terms("company", 20), account_terms("team", 9))
    company, team = game.accounts
    game.do(operators.set_status, "paused", "paused", level=team)
    refused(CampaignPaused, "account 'team' is paused; resume it first", game, asks.ask, 1, "first")
    game.do(operators.set_status, "ended", "ended", level=company)
    refused(CampaignEnded, "account 'company' has ended", game, asks.ask, 1, "first")
    with pytest.raises(CampaignEnded, match="account 'company' has ended"):
        game.do(operators.set_status, "resumed", "running", level=company)


def test_a_request_is_answered_once() -> None:
    game = Game(script=(1,))
    first = game.do(asks.ask, 2, "once")
    assert game.do(asks.ask, 2, "once") == first
    assert game.kinds() == ["created", "asked", "asked"]
    text = "request_id='once' was used before for another request: 2 tickets"
    refused(Conflict, text, game, asks.ask, 1, "once")
    refused(Conflict, text, game, operators.top_up, [USD], "once")
    for ticket in first:
        game.do(reports.void, ticket.id)
    refused(Conflict, "request_id='once' was answered with ticket 1, which is void by now: nothing "
            "is held for it; ask with another request_id", game, asks.ask, 2, "once")  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "late", "first"),
    [
        ([(reports.tell, 1.0, [USD])], (reports.tell, 0.0, [USD]), "told: reward 1, cost 1"),
        ([(reports.tell, 1.0, [USD])], (reports.settle, [2 * USD]), "told: reward 1, cost 1"),
        ([(reports.tell, 1.0, [USD])], (reports.void,), "told: reward 1, cost 1"),
        ([(reports.settle, [USD])], (reports.tell, 1.0, [2 * USD]), "settled: cost 1"),
        ([(reports.reward, 0.5)], (reports.tell, 1.0, [USD]), "rewarded: reward 0.5"),
        ([(reports.fail, [USD], "")], (reports.tell, 1.0, [USD]), "failed: cost 1"),
        ([(reports.settle, [USD])], (reports.fail, [USD], ""), "settled: cost 1"),
    ],
)
def test_the_first_report_stands_and_another_is_kept(
    rules: list[tuple[Any, ...]], late: tuple[Any, ...], first: str
) -> None:
    game = Game(script=(0,))
    game.do(asks.ask, 1, "first")
    for rule, *values in rules:
        made = game.do(rule, 1, *values)
        again = game.do(rule, 1, *values)
        assert (made.duplicate, again.duplicate) == (False, True)
        assert made[3:] == again[3:]
    balances, entries = money(game.campaign), len(game.entries)
    rule, *values = late
    with pytest.raises(Conflict) as caught:
        game.do(rule, 1, *values)
    state, said = first.split(": ")
    begins = f"ticket 1 was {state} before with another report: {said}; the first report stands"
    assert str(caught.value).startswith(begins)
    assert (game.last().kind, len(game.entries)) == ("conflict", entries + 1)
    assert money(game.campaign) == balances


def test_whatever_comes_last_teaches_once() -> None:
    for parts in (
        [(reports.settle, [USD]), (reports.reward, 0.5)],
        [(reports.reward, 0.5), (reports.settle, [USD])],
        [(reports.settle, [USD]), (reports.tell, 0.5, [USD])],
        [(reports.tell, 0.5, [USD])],
    ):
        game = Game(script=(0,))
        game.do(asks.ask, 1, "first")
        for rule, *values in parts:
            game.do(rule, 1, *values)
        assert [kind for kind in game.kinds() if kind == "told"] == ["told"]
        body = game.last("told").body
        assert (body["reward"], body["costs"], body["from"]) == (0.5, [USD], "held")
        assert money(game.campaign) == "10 1 0 0 0 9"


def test_a_reward_that_does_not_come_counts_as_the_terms_say() -> None:
    game = Game(script=(0,), reward_within=20, missing_reward=0.25)
    game.do(asks.ask, 1, "first")
    game.do(reports.settle, 1, [USD])
    game.now += 20_000
    assert game.do(reports.expire, [game.campaign.tickets[1]]) == 1
    assert game.last().body == {
        "t": 1, "arm": 0, "p": 0.5, "reward": 0.25, "costs": [USD], "from": "held", "missing": True,
    }  # fmt: skip
    with pytest.raises(Conflict, match=r"was told before with another report: reward 0\.25"):
        game.do(reports.reward, 1, 1.0)


def test_what_is_not_due_does_not_expire() -> None:
    game = Game(script=(0,))
    game.do(asks.ask, 1, "first")
    game.now += 59_999
    assert game.do(reports.expire, [game.campaign.tickets[1]]) == 0
    game.now += 1
    assert game.do(reports.expire, [game.campaign.tickets[1]]) == 1
    assert money(game.campaign) == "10 0 0 4 0 6"


def test_refusals_before_anything_is_written() -> None:
    game = Game(script=(0,), capacity=3, horizon=2)
    refused(TicketError, "ticket 1 is not one that campaign 'test' issued", game, reports.void, 1)
    game.do(asks.ask, 2, "both")
    refused(
        HorizonReached, "all 2 rounds of the horizon have been asked for", game, asks.ask, 1, ""
    )
    game.do(operators.retire_arm, "red")
    refused(InvalidInput, "arms: arm 'red' is retired", game, asks.ask, 1, "r", Mask((0,)))
    refused(InvalidInput, "name='green': cannot be retired: no arm would be left",
            game, operators.retire_arm, "green")  # fmt: skip
    mask = Mask((1,), ((1, (2 * USD,)),))
    refused(InvalidInput, "arms['green']=2: must be at most the arm's maximum, 1",
            game, asks.ask, 1, "r", mask)  # fmt: skip


def test_an_overrun_that_cannot_be_counted_is_refused() -> None:
    game = Game(script=(0,))
    game.do(asks.ask, 2, "both")
    game.do(reports.tell, 1, 1.0, [LARGEST])
    with pytest.raises(InvalidInput, match="with it the overrun would exceed what can be counted"):
        game.do(reports.tell, 2, 1.0, [LARGEST])
    assert game.campaign.tickets[2].state == "held"


def test_a_policy_that_stops_or_chooses_nonsense_is_refused() -> None:
    for choice, error, text in (
        (-2, AskRefused, "uniform has ended the game after 0 rounds"),
        (-1, AskRefused, "uniform has ended the game after 0 rounds"),
        (7, PurseError, "uniform chose no arm, or one that does not exist or is not allowed, in "
         "round 1"),
    ):  # fmt: skip
        refused(error, text, Game(script=(choice,)), asks.ask, 1, "first")
    skipped = Game(script=(-1,), horizon=5)
    (ticket,) = skipped.do(asks.ask, 1, "first")
    assert (ticket.state, ticket.held, money(skipped.campaign)) == (
        "skipped", [0], "10 0 0 0 0 10",
    )  # fmt: skip
    refused(TicketError, "ticket 1 skipped its round: there is nothing to tell",
            skipped, reports.tell, 1, 1.0, [0])  # fmt: skip


def test_arms_come_and_go() -> None:
    game = Game(script=(0, 1, 2), capacity=3, policy="ucb-bv1", cost_ceiling=8)
    game.do(operators.add_arm, "blue", None, [2 * USD])
    assert game.last().body == {
        "arm": 2, "name": "blue", "cost_min": [10**6], "cost_max": [2 * USD],
    }  # fmt: skip
    assert game.campaign.head.owed == [0, 1, 2]
    game.do(operators.set_arm, "green", None, [3 * USD])
    (ticket,) = game.do(asks.ask, 1, "first", Mask((1,)))
    game.do(operators.retire_arm, "red")
    assert game.campaign.arms.there == [1, 2]
    game.do(operators.add_arm, "red", None, None)
    assert game.campaign.arms.there == [0, 1, 2]
    with pytest.raises(InvalidInput, match="there is no place for another arm"):
        game.do(operators.add_arm, "white", None, None)
    with pytest.raises(InvalidInput, match="must lie between the cost_min of arm"):
        game.do(operators.set_arm, "red", None, [9 * USD])
    assert ticket.t == 1
