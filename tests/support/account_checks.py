"""What accounts promise, as checks of a place: each fails when the thing that it is named for is
broken.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from purse import Account, BudgetExhausted, Campaign, Conflict, PurseError
from purse.base import amounts
from purse.errors import BudgetHeld
from tests.support.campaigns import TERMS

Build = Callable[[], Any]
COLUMNS = ("spent", "held", "presumed", "overrun")


class Tree(NamedTuple):
    """Two campaigns: one in a team, one beside it; a company above all."""

    company: Any
    team: Any
    one: Any
    two: Any

    @property
    def levels(self) -> tuple[Any, ...]:
        return tuple(self)


def tree(harness: Any, company: int, team: int, end: str = "", **changes: Any) -> Tree:
    """With these budgets of the accounts, and names that end so; calls cost 1 at most."""
    place = harness.place()
    terms = {**TERMS, **changes}
    return Tree(
        Account.create(f"company{end}", budget=company, storage=place),
        Account.create(f"team{end}", budget=team, account=f"company{end}", storage=place),
        harness.create_at(place, f"one{end}", **terms, account=f"team{end}"),
        harness.create_at(place, f"two{end}", **terms, account=f"company{end}"),
    )


def units(level: Any, column: str) -> int:
    return amounts.to_units(column, getattr(level.status().purses[0], column))


def add_up(made: Tree) -> None:
    """On each level P1 holds, and an account has what is below it."""
    for level in made.levels:
        taken = sum(units(level, column) for column in ("spent", "held", "presumed"))
        assert taken <= units(level, "budget"), level.name
        assert taken + units(level, "left") == units(level, "budget"), level.name
    for column in COLUMNS:
        company, team, one, two = (units(level, column) for level in made.levels)
        assert (team, company) == (one, one + two), column


def an_account_has_what_is_below_it(build: Build) -> None:
    """After each verb that moves money."""
    harness = build()
    made = tree(harness, 9, 9, expires_after=60)
    held, told, gone, failed = made.one.ask_many(4)
    made.two.ask()
    add_up(made)
    made.one.tell(told, 1, "0.25")
    add_up(made)
    made.one.void(gone)
    made.one.fail(failed, "0.125")
    add_up(made)
    harness.clock += 60_000
    made.one.expire()
    made.two.expire()
    add_up(made)
    assert units(made.company, "presumed") == 2 * 10**9
    made.one.settle(held, 3)  # 1 spent, 2 overrun
    made.two.settle(1, "0.5")
    add_up(made)
    assert units(made.company, "overrun") == 2 * 10**9
    assert [level.audit().findings for level in made.levels] == [()] * 4


def no_level_is_overspent(build: Build) -> None:
    """P1 on each level in what is stored, whatever was answered."""
    harness = build()
    for end, company, team in (("-1", 2, 9), ("-2", 9, 2)):
        made = tree(harness, company, team, end)
        for campaign in (made.one, made.two) * 3:
            with suppress(PurseError):
                campaign.ask()
        for level in made.levels:
            taken = sum(units(level, column) for column in ("spent", "held", "presumed"))
            assert taken <= units(level, "budget"), level.name


def a_refusal_names_the_level_that_lacks(build: Build) -> None:
    """And says whether the rest is held there, by whomever."""
    made = tree(build(), 3, 2)
    tickets = made.one.ask_many(5)
    assert len(tickets) == 2
    with pytest.raises(BudgetHeld, match="team"):
        made.one.ask()
    other = made.two.ask()
    with pytest.raises(BudgetHeld, match="company"):
        made.two.ask()
    made.two.tell(other, 1, 1)
    with pytest.raises(BudgetHeld, match="company"):
        made.two.ask()  # what is held in the team could be enough
    for ticket in tickets:
        made.one.tell(ticket, 1, 1)
    with pytest.raises(BudgetExhausted, match="company"):
        made.two.ask()
    assert [level.audit().findings for level in made.levels] == [()] * 4


def the_policy_sees_the_least_that_is_left(build: Build) -> None:
    """Where an account binds, the entry says so, and what does not fit is not chosen."""
    made = tree(build(), 9, 2, arms={"dear": 2, "cheap": "0.5"})
    made.one.ask(arms=["cheap"])
    assert {made.one.ask().arm for _ in range(3)} == {"cheap"}
    asked = [entry.body for entry in made.one.journal() if entry.kind == "asked"]
    assert [body.get("left") for body in asked] == [[2 * 10**9 - k * 5 * 10**8] for k in range(4)]
    assert made.two.ask(arms=["dear"]).arm == "dear"
    assert [level.audit().findings for level in made.levels] == [()] * 4


def campaigns_of_an_account_take_turns(build: Build) -> None:
    """While one is in its transaction the other waits: both are counted above."""
    harness = build()
    made = tree(harness, 9, 9)
    second = Campaign.open("two", storage=harness.storage())
    second.ask()  # it knows its policy and has its connection
    decide, waiting = made.one._kept.committer._decide, threading.Thread(target=second.ask)

    def slowly(*arguments: Any) -> Any:
        if not waiting.ident:
            waiting.start()
            waiting.join(0.5)  # it cannot be done before this is
        return decide(*arguments)

    made.one._kept.committer._decide = slowly
    made.one.ask()
    waiting.join()
    assert units(made.company, "held") == 3 * 10**9
    add_up(made)
    assert [level.audit().findings for level in made.levels] == [()] * 4


def a_paused_account_gives_nothing_out(build: Build) -> None:
    """Nor does one that has ended; reports are taken."""
    made = tree(build(), 9, 9)
    tickets = made.one.ask_many(2)
    made.company.pause()
    for campaign in (made.one, made.two):
        with pytest.raises(PurseError, match=r"company.*paused"):
            campaign.ask()
    made.one.tell(tickets[0], 1, 1)
    made.company.resume()
    made.team.end()
    with pytest.raises(PurseError, match=r"team.*ended"):
        made.one.ask()
    made.two.ask()
    made.one.tell(tickets[1], 1, 1)
    add_up(made)
    assert [level.audit().findings for level in made.levels] == [()] * 4


def a_top_up_of_an_account_counts_once(build: Build) -> None:
    """For each request, whatever was answered."""
    made = tree(build(), 2, 9)
    for amount in (3, 3, 4):
        with suppress(PurseError):
            made.company.top_up(amount, "once")
    assert units(made.company, "budget") == 5 * 10**9
    with pytest.raises(Conflict):
        made.company.top_up(4, "once")
    assert not made.company.top_up(3, "once").alarms
    assert [entry.kind for entry in made.company.journal()] == ["created", "topped_up"]


def locks_are_taken_from_the_top_down(build: Build) -> None:
    """In PostgreSQL, by every verb: nobody waits for one who waits for them."""
    import psycopg

    made = tree(build(), 9, 9)
    ticket = made.one.ask()
    order: list[str] = []
    execute = psycopg.Connection.execute

    def noted(db: Any, query: Any, params: Any = None, **named: Any) -> Any:
        if "FOR UPDATE" in str(query):
            order.append(str(params[0]))
        return execute(db, query, params, **named)

    verbs: list[tuple[Callable[[], Any], list[str]]] = [
        (made.one.ask, ["company", "team", "one"]),
        (lambda: made.one.tell(ticket, 1, 1), ["company", "team", "one"]),
        (made.two.ask, ["company", "two"]),
        (made.two.pause, ["company", "two"]),
        (lambda: made.team.top_up(1), ["company", "team"]),
        (made.company.pause, ["company"]),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.Connection, "execute", noted)
        for verb, expected in verbs:
            order.clear()
            verb()
            assert order == expected
