"""Short checks of what campaigns promise, in what a database has stored, whatever was answered:
each notices a deliberate fault. `build` makes a new storage.
"""

import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest

from purse import Campaign, Policy, PurseError
from purse.base import amounts
from purse.campaign.ledger.records import _SEAL
from purse.campaign.run import committer
from purse.campaign.run.learner import Learner
from purse.errors import BudgetHeld
from tests.support import limit_books
from tests.support.campaigns import TERMS
from tests.support.level_checks import add_up, tree, units
from tests.support.storages import SqliteHarness

Build = Callable[[], Any]


def the_budget_holds(build: Build) -> None:
    """P1 in what is stored, whatever was answered."""
    harness = build()
    for turn in range(3):
        campaign = harness.create(f"test-{turn}", **{**TERMS, "budget": 2})
        for _ in range(4):
            try:
                campaign.ask()
            except PurseError:
                break
        for purse in campaign.status().purses:
            taken = map(Decimal, (purse.spent, purse.held, purse.presumed))
            assert sum(taken) <= Decimal(purse.budget), purse


def no_limit_is_passed(build: Build) -> None:
    """P1 of labels in what is stored, and at every ask, whatever was answered."""
    campaign = build().create("test", **limit_books.TERMS)
    for _ in range(12):
        with suppress(PurseError):
            campaign.ask(arms=["small"], labels={"user": "x"})
    limit_books.check(campaign)


def a_report_counts_once(build: Build) -> None:
    """P3 in the journal, whatever was answered."""
    campaign = build().create("test", **TERMS)
    tickets = campaign.ask_many(3)
    for _ in range(2):
        with suppress(PurseError):
            campaign.tell(tickets[0], 1, "0.5")
    assert [entry.kind for entry in campaign.journal()].count("told") == 1


def a_request_is_answered_once(build: Build) -> None:
    """P4 in the journal, whatever was answered."""
    campaign = build().create("test", **TERMS)
    for _ in range(2):
        with suppress(PurseError):
            campaign.ask("once")
    assert [entry.kind for entry in campaign.journal()] == ["created", "asked"]


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


def a_boundary_is_in_the_journal_once(build: Build) -> None:
    """Whatever was answered."""
    harness = build()
    campaign = harness.create("test", **TERMS, every="day")
    harness.clock += 86_400_000
    for _ in range(2):
        with suppress(PurseError):
            campaign.ask()
    numbers = [entry.body["number"] for entry in campaign.journal() if entry.kind == "renewed"]
    assert len(set(numbers)) == len(numbers)


def a_refusal_says_that_the_rest_is_held(build: Build) -> None:
    campaign = build().create("test", **{**TERMS, "budget": 1})
    campaign.ask()
    with pytest.raises(BudgetHeld):
        campaign.ask()


def two_objects_share_a_budget(build: Build) -> None:
    harness = build()
    here = harness.create("test", **{**TERMS, "budget": 2})
    there = Campaign.open("test", storage=harness.storage())
    here.ask()
    there.ask()
    for campaign in (here, there):
        with pytest.raises(BudgetHeld):
            campaign.ask()
    assert here.audit().ok


def what_is_acknowledged_is_seen_by_others(build: Build) -> None:
    harness = build()
    campaign = harness.create("test", **TERMS)
    ticket = campaign.ask()
    campaign.tell(ticket, 1, 1)
    assert [entry.kind for entry in Campaign.open("test", storage=harness.storage()).journal()] == [
        "created",
        "asked",
        "told",
    ]


def a_late_report_is_weighed_by_its_own_probability(build: Build) -> None:
    """The campaign learns what a policy in memory learns that is told the same, out of order."""
    campaign = build().create("test", **{**TERMS, "policy": "exp3.bwk", "expires_after": None})
    policy = Policy("exp3.bwk", n_arms=2, budget=10, cost_min="0.1", cost_max=1)
    pairs: list[Any] = []
    for reward in (1, 0.5, 0, 1):
        pairs += [(campaign.ask(), policy.ask()) for _ in range(2)]
        ticket, twin = pairs.pop(-1)
        campaign.tell(ticket, reward, "0.5")
        policy.tell(twin, reward, "0.5")
    for ticket, twin in reversed(pairs):
        campaign.tell(ticket, 1, "0.25")
        policy.tell(twin, 1, "0.25")
    assert list(campaign.probabilities().values()) == policy.probabilities().tolist()


def a_damaged_checkpoint_is_not_used(build: Build) -> None:
    harness = build()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(committer, "CHECKPOINT_EVERY", 8)
        campaign = harness.create("test", **{**TERMS, "policy": "exp3.bwk"})
        for turn in range(8):
            campaign.tell(campaign.ask(), turn % 2, "0.5")
    expected, stored = campaign.probabilities(), campaign.storage.checkpoint("test", "policy")
    blank = Learner(campaign.terms)
    blank.seq, blank.digest = stored[:2]
    forged = (bytes(_SEAL) + blank.stored()[-1][_SEAL:]).hex()
    literal = f"x'{forged}'" if isinstance(harness, SqliteHarness) else f"decode('{forged}', 'hex')"
    harness.execute(f"UPDATE purse_checkpoints SET body = {literal}")
    assert harness.open("test").probabilities() == expected


def an_audit_decides_every_hold_again(build: Build) -> None:
    """By the rule, whatever is written."""
    campaign = build().create("test", **TERMS)
    campaign.tell(campaign.ask(), 1, "0.5")
    campaign.ask()
    assert campaign.audit().findings == ()


def what_is_spent_is_what_the_entries_say(build: Build) -> None:
    """P6 from the journal alone: all of it is spent, and what is above the hold is overrun."""
    campaign = build().create("test", **TERMS)
    for cost in ("0.5", "0.25", "1.5"):
        campaign.tell(campaign.ask(), 1, cost)
    bodies = {(entry.kind, entry.ticket): entry.body for entry in campaign.journal()}
    costs = [bodies["told", ticket]["costs"][0] for ticket in (1, 2, 3)]
    within = [min(costs[n - 1], *bodies["asked", n]["held"]) for n in (1, 2, 3)]
    (purse,) = campaign.status().purses
    assert (purse.spent, purse.overrun) == (
        amounts.text(sum(costs)),
        amounts.text(sum(costs) - sum(within)),
    )


def the_journal_stays_as_it_is(build: Build) -> None:
    harness = build()
    harness.create("test", **TERMS).ask()
    for change in (
        "UPDATE purse_journal SET body = '{}' WHERE seq = 2",
        "DELETE FROM purse_journal WHERE seq = 2",
    ):
        with pytest.raises(Exception, match="append-only"):
            harness.execute(change)


def two_at_once_wait_for_each_other(build: Build) -> None:
    """One asks while the other is deciding: both get a ticket, one after the other."""
    harness = build()
    first, second = (
        harness.create("test", **TERMS),
        Campaign.open("test", storage=harness.storage()),
    )
    ask_within_an_ask(first, second)
    assert first.status().counts["held"] == 3
    assert first.audit().ok


def campaigns_of_an_account_take_turns(build: Build) -> None:
    """While one is in its transaction the other waits: both are counted above."""
    harness = build()
    made = tree(harness, 9, 9)
    ask_within_an_ask(made.one, Campaign.open("two", storage=harness.storage()))
    assert units(made.company, "held") == 3 * 10**9
    add_up(made)
    assert [level.audit().findings for level in made.levels] == [()] * 4


def ask_within_an_ask(first: Any, second: Any) -> None:
    """The second campaign asks once before, and once while the first one is deciding."""
    second.ask()  # it knows its policy and has its connection
    decide, waiting = first._local.committer._decide, threading.Thread(target=second.ask)

    def slowly(*arguments: Any) -> Any:
        if not waiting.ident:
            waiting.start()
            waiting.join(1)  # it cannot be done before this is
        return decide(*arguments)

    first._local.committer._decide = slowly
    first.ask()
    waiting.join()
