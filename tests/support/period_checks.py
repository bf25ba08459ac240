"""What periods promise, as checks of a place: each fails when the thing that it is named for is
broken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from purse import Account, Campaign
from tests.support.campaigns import TERMS
from tests.support.storages import START

Build = Callable[[], Any]
HOUR = 3_600_000  # ms
DAILY: dict[str, Any] = {**TERMS, "expires_after": None, "every": "day"}
MIDNIGHT = START + 16 * HOUR  # START is at 8:00 in UTC


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


def so_is_that_of_an_ended_period_of_an_account(build: Build) -> None:
    """By the account's period in which it was asked for; the campaign's own budget stays."""
    harness = build()
    place = harness.place()
    team = Account.create("team", budget=10, every="day", carry="none", storage=place)
    terms = {**TERMS, "expires_after": None, "budget": 100}
    campaign = harness.create_at(place, "test", **terms, account="team")
    told, gone = campaign.ask_many(2)
    harness.clock = MIDNIGHT
    new = campaign.ask()
    assert money(team) == "12 0 3 0 9"
    campaign.tell(told, 1, "0.25")
    campaign.void(gone)
    assert money(team) == "10.25 0.25 1 0 9"
    campaign.void(new)
    assert (money(team), money(campaign)) == ("10.25 0.25 0 0 10", "100 0.25 0 0 99.75")
    assert renewed(team) == [2]
    assert (team.audit().findings, campaign.audit().findings) == ((), ())


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
