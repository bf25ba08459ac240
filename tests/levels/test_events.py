"""Events: made once, by the entry that causes them, on every level that wants them."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign import asks, operators, reports
from purse.campaign.ledger import Level
from purse.errors import BudgetExhausted
from tests.support.levels import HOUR, START, USD, Game, account_terms


def keys(game: Game, level: Level | None = None) -> list[str]:
    """Return the keys of a level's events, in the order of the journal."""
    wanted = level or game.campaign
    return [entry.body["key"] for at, entry in game.entries
            if at is wanted and entry.kind == "event"]  # fmt: skip


def spend(game: Game, cost: float, **ask: Any) -> None:
    """Ask, and tell a cost."""
    number = game.campaign.head.counts.get("tickets", 0) + 1
    game.do(asks.ask, 1, f"ask {number}", *ask.values())
    game.do(reports.tell, number, 1.0, [int(cost * USD)])


def test_a_part_of_the_budget_makes_one_event_until_there_is_a_top_up() -> None:
    game = Game(account_terms("team", 4, alerts=["50%"]), alerts=["20%", "50%"], script=(1,))
    for _ in range(3):
        spend(game, 1)
    assert keys(game) == ["20%:0/0/0"]
    assert keys(game, game.accounts[0]) == ["50%:0/0/0"]
    event = game.last("event")
    assert (event.request, event.body["resource"]) == ("\nalert 50%:0/0/0", "USD")
    game.top_up(game.campaign, 2, "more")  # 3 of 12 is still more than a fifth
    assert keys(game) == ["20%:0/0/0", "20%:0/0/1"]


def test_an_event_says_what_the_balances_were_when_it_was_made() -> None:
    game = Game(alerts=["30%"], script=(1,))
    for _ in range(4):
        spend(game, 1)
    assert game.last("event").body["balances"] == [[10 * USD, 3 * USD, 0, 0, 0]]


def test_a_new_period_makes_it_again() -> None:
    game = Game(alerts=["20%"], script=(1,), every="day", carry="none")
    spend(game, 1)
    spend(game, 1)
    game.now = START + 16 * HOUR
    spend(game, 1)
    assert keys(game) == ["20%:0/1/0"]  # 1 of 10 in this period
    spend(game, 1)
    assert keys(game) == ["20%:0/1/0", "20%:0/2/0"]


def test_overruns_and_expiries_make_one_event_an_hour() -> None:
    game = Game(account_terms("team", 90, alerts=["overrun"]), alerts=["overrun", "expired"])
    hour = START // HOUR
    game.do(asks.ask, 4, "first")
    game.do(reports.tell, 1, 1.0, [5 * USD])
    game.do(reports.settle, 2, [5 * USD])
    game.now += HOUR
    game.do(reports.expire, [game.campaign.tickets[number] for number in (3, 4)])
    game.do(reports.fail, 3, [9 * USD], "")
    assert keys(game) == [f"overrun/{hour}", f"expired/{hour + 1}", f"overrun/{hour + 1}"]
    assert keys(game, game.accounts[0]) == [f"overrun/{hour}", f"overrun/{hour + 1}"]


def test_an_arm_that_cools_down_makes_an_event() -> None:
    game = Game(alerts=["cooling-down"])
    game.do(asks.ask, 2, "first")
    game.do(reports.fail, 1, [0], "429")
    game.do(reports.fail, 2, [0], "429")
    hour = START // HOUR
    assert keys(game) == [f"cooling-down:0/{hour}", f"cooling-down:1/{hour}"]
    assert game.last("event").body["arm"] == "green"


def test_a_refused_ask_makes_an_event_and_nothing_else() -> None:
    game = Game(account_terms("team", 3, alerts=["100%"]), alerts=["100%"], arms={"red": 4})
    with pytest.raises(BudgetExhausted):
        game.do(asks.ask, 1, "first")
    with pytest.raises(BudgetExhausted):
        game.do(asks.ask, 1, "second")
    assert keys(game) == []
    assert keys(game, game.accounts[0]) == ["refused:0/0/0"]
    assert game.last("event").body["refused"] == [4 * USD]
    assert game.kinds() == ["created"]


def test_rules_of_alerts_can_be_changed() -> None:
    game = Game(script=(1,))
    spend(game, 1)
    game.do(operators.set_alerts, ["10%"])
    assert keys(game) == ["10%:0/0/0"]  # it is so already
    game.do(operators.set_alerts, [])
    game.top_up(game.campaign, 1, "more")
    assert game.kinds()[-1] == "topped_up"
    assert game.campaign.head.top_ups == 1  # so that another rule does not repeat old events
