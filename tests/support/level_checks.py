"""What accounts and periods promise, as checks of a place: each fails when the thing that it is
named for is broken.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import pytest

from purse import Account, BudgetExhausted, Campaign, Conflict, PurseError
from purse.base import amounts
from purse.errors import BudgetHeld
from tests.support.campaigns import TERMS
from tests.support.storages import START

Build = Callable[[], Any]
COLUMNS = ("spent", "held", "presumed", "overrun")
HOUR = 3_600_000  # ms
DAILY: dict[str, Any] = {**TERMS, "expires_after": None, "every": "day"}
MIDNIGHT = START + 16 * HOUR  # START is at 8:00 in UTC


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


def renewed(campaign: Any) -> list[int]:
    """The numbers of the boundaries that were made, in the order of the journal."""
    return [entry.body["number"] for entry in campaign.journal() if entry.kind == "renewed"]


def money(level: Any) -> str:
    """Budget, spent, held, presumed and left."""
    purse = level.status().purses[0]
    return f"{purse.budget} {purse.spent} {purse.held} {purse.presumed} {purse.left}"


def a_boundary_is_made_once(build: Build) -> None:
    """By whoever comes first, whatever clocks do."""
    harness = build()
    here = harness.create("test", **DAILY, carry="all")
    there = Campaign.open("test", storage=harness.storage())
    there.ask()
    harness.clock = MIDNIGHT
    for campaign in (here, there, here):
        campaign.ask()
        assert money(campaign).startswith("20 ")
    harness.clock -= HOUR  # a clock goes back, and the campaign stands still meanwhile
    here.ask()
    here.pause()
    here.resume()
    harness.clock = MIDNIGHT + HOUR
    there.ask()
    assert money(there) == "20 0 6 0 14"
    assert renewed(here) == [2]
    assert here.audit().findings == ()


def missed_boundaries_are_made_in_order(build: Build) -> None:
    """All that were slept through, with the first operation after them."""
    harness = build()
    campaign = harness.create("test", **{**DAILY, "every": "6h"}, carry="all")
    ticket = campaign.ask()
    harness.clock += 25 * HOUR
    assert money(campaign) == "50 0 1 0 49"  # what is left is kept, four times
    assert renewed(campaign) == []
    campaign.ask()
    assert renewed(campaign) == [2, 3, 4, 5]
    instants = [entry.body["at"] for entry in campaign.journal() if entry.kind == "renewed"]
    assert instants == [START + 6 * k * HOUR for k in range(1, 5)]
    campaign.tell(ticket, 1, "0.5")  # the rest of the hold comes back
    assert money(campaign) == "50 0.5 1 0 48.5"
    assert campaign.audit().findings == ()


def the_refund_of_an_ended_period_is_dropped(build: Build) -> None:
    """Under `none` all of it; what was asked for in this period comes back."""
    harness = build()
    campaign = harness.create("test", **DAILY, carry="none")
    told, gone = campaign.ask_many(2)
    harness.clock = MIDNIGHT
    new = campaign.ask()
    assert money(campaign) == "12 0 3 0 9"
    campaign.tell(told, 1, "0.25")
    assert money(campaign) == "11.25 0.25 2 0 9"
    campaign.void(gone)
    assert money(campaign) == "10.25 0.25 1 0 9"
    campaign.void(new)
    assert money(campaign) == "10.25 0.25 0 0 10"
    assert campaign.audit().findings == ()


def what_is_left_is_dropped_at_the_boundary(build: Build) -> None:
    """Under `none` all of it, and under `all` nothing."""
    harness = build()
    for carry, budget in (("all", "20"), ("none", "11")):
        harness.clock = START
        campaign = harness.create(f"test-{carry}", **DAILY, carry=carry)
        campaign.tell(campaign.ask(), 1, 1)
        harness.clock = MIDNIGHT - 1
        assert money(campaign) == "10 1 0 0 9"
        harness.clock = MIDNIGHT
        campaign.ask()
        assert money(campaign).startswith(f"{budget} 1 1 0 "), carry
        assert campaign.audit().findings == ()


def nothing_is_renewed_while_it_is_paused(build: Build) -> None:
    """Afterwards the next boundary is the first that comes; an ended one has none."""
    harness = build()
    campaign = harness.create("test", **DAILY, carry="all")
    ticket = campaign.ask()
    campaign.pause()
    harness.clock = MIDNIGHT + 50 * HOUR
    campaign.tell(ticket, 1, 1)
    assert money(campaign) == "10 1 0 0 9"
    campaign.resume()
    campaign.ask()
    assert money(campaign) == "10 1 1 0 8"
    harness.clock = MIDNIGHT + 72 * HOUR
    campaign.ask()
    assert money(campaign) == "20 1 2 0 17"
    campaign.end()
    harness.clock += 48 * HOUR
    campaign.expire()
    assert money(campaign).startswith("20 ")
    assert campaign.audit().findings == ()
