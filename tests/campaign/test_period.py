"""Budgets that are renewed, on any level: computed by hand."""

from __future__ import annotations

import pytest

from purse.base.amounts import LARGEST
from purse.campaign import asks, operators, reports
from purse.campaign.ledger import Level
from purse.campaign.period import Period
from purse.campaign.records import Balance
from purse.errors import BudgetExhausted
from tests.support.game import HOUR, START, USD, Game, account_terms, money

MIDNIGHT = START + 16 * HOUR


def begun(game: Game, level: Level | None = None) -> list[int]:
    """Return the numbers of the periods that began, in the order of the journal."""
    wanted = level or game.campaign
    return [entry.body["number"] for at, entry in game.entries
            if at is wanted and entry.kind == "renewed"]  # fmt: skip


def test_what_a_period_has_and_what_earlier_ones_have_taken() -> None:
    first = Period(1, START, MIDNIGHT, 0, [0], [0], [0])
    balances = [Balance(10, spent=3, held=2, presumed=1)]
    for carry, budget, carried in (("all", 20, 4), ("none", 16, 0)):
        period, after = first.next(balances, [10], carry, MIDNIGHT + 24 * HOUR, 5)
        assert after == [Balance(budget, 3, 2, 1)]
        assert period == Period(2, MIDNIGHT, MIDNIGHT + 24 * HOUR, 5, [carried], [6], [2])
        assert (period.budget(after), period.spent(after)) == ([10 + carried], [0])
    # a ticket of the first period for which 2 were held costs 1
    paid, back = [Balance(held=-2, spent=1)], {"all": (5, 0), "none": (0, 1)}
    for carry, (carried, dropped) in back.items():
        period, after = first.next(balances, [10], carry, MIDNIGHT + 24 * HOUR, 5)
        assert period.after_hold(paid, carry) == (
            Period(2, MIDNIGHT, MIDNIGHT + 24 * HOUR, 5, [carried], [5], [0])
            if carry == "none"
            else period._replace(carried=[carried], before=[5], held=[0]),
            [dropped],
        )


def test_a_budget_stays_within_what_can_be_counted() -> None:
    first = Period(1, START, MIDNIGHT, 0, [0], [0], [0])
    _, after = first.next([Balance(LARGEST - 1)], [10], "all", MIDNIGHT + 1, 0)
    assert after == [Balance(LARGEST)]


def test_refunds_of_ended_periods_are_dropped_or_carried_over() -> None:
    for carry, amounts in (
        ("none", ["15 0 5 0 0 10", "13 2 1 0 0 10", "12 2 0 0 0 10"]),
        ("all", ["20 0 5 0 0 15", "20 2 1 0 0 17", "20 2 0 0 0 18"]),
    ):
        game = Game(every="day", carry=carry)
        game.do(asks.ask, 2, "before")
        game.now = MIDNIGHT
        game.do(reports.expire, [])
        seen = [money(game.campaign)]
        game.do(reports.tell, 1, 1.0, [2 * USD])
        seen.append(money(game.campaign))
        game.do(reports.void, 2)
        assert [*seen, money(game.campaign)] == amounts
        assert begun(game) == [2]


def test_each_level_drops_by_the_period_in_which_it_was_asked_for() -> None:
    game = Game(
        account_terms("company", 20, every="1h", carry="none"),
        account_terms("team", 20, every="day", carry="none"),
    )
    (ticket,) = game.do(asks.ask, 1, "first")
    company, team = game.accounts
    assert ticket.asked["periods"] == {team.head.id: 1, company.head.id: 1}
    game.now += HOUR
    game.do(reports.void, 1)
    assert begun(game, company) == [2]
    assert begun(game, team) == []
    assert [money(each) for each in (game.campaign, team, company)] == [
        "10 0 0 0 0 10",
        "20 0 0 0 0 20",
        "20 0 0 0 0 20",  # 24 after the boundary, and the refund of 4 was dropped
    ]


def test_missed_periods_begin_in_order_from_the_top_down() -> None:
    game = Game(account_terms("team", 20, every="1h", carry="all"), every="1h", carry="all")
    game.now += 3 * HOUR
    game.do(reports.expire, [])
    assert (begun(game), begun(game, game.accounts[0])) == ([2, 3, 4], [2, 3, 4])
    order = [level.kind for level, entry in game.entries if entry.kind == "renewed"]
    assert order == ["account"] * 3 + ["campaign"] * 3
    requests = [entry.request for _, entry in game.entries if entry.kind == "renewed"]
    assert requests[:3] == ["\nperiod 2", "\nperiod 3", "\nperiod 4"]


def test_periods_stand_still_while_a_budget_is_paused() -> None:
    game = Game(every="day", carry="all")
    game.do(operators.set_status, "paused", "paused")
    game.now = MIDNIGHT + 50 * HOUR
    game.do(reports.expire, [])
    assert begun(game) == []
    game.do(operators.set_status, "resumed", "running")
    assert game.last().body["next"] == MIDNIGHT + 72 * HOUR
    assert money(game.campaign) == "10 0 0 0 0 10"
    game.now = MIDNIGHT + 72 * HOUR
    game.do(asks.ask, 1, "first")
    assert begun(game) == [2]
    assert money(game.campaign) == "20 0 4 0 0 16"


def test_a_refusal_says_when_the_next_period_begins() -> None:
    game = Game(every="day", script=(0,), arms={"red": 8})
    game.do(reports.tell, game.do(asks.ask, 1, "first")[0].id, 1.0, [8 * USD])
    with pytest.raises(BudgetExhausted, match="the next period begins 2027-01-16 00:00:00 UTC"):
        game.do(asks.ask, 1, "second")
