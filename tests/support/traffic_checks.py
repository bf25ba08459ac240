"""Short checks of the rules of real traffic, each of which notices a deliberate fault. `build`
makes a new storage.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from purse import AskRefused, InvalidInput
from purse.errors import ArmsCoolingDown, CampaignEnded
from tests.support.campaigns import TERMS
from tests.support.storages import START, StorageHarness

Build = Callable[[], StorageHarness]
LEARNING: dict[str, Any] = {**TERMS, "policy": "exp3.bwk", "expires_after": None}


def rewards_of(campaign: Any) -> list[float]:
    """Return the rewards of whole reports, in the order of the journal."""
    return [entry.body["reward"] for entry in campaign.journal() if entry.kind == "told"]


def the_maximum_of_a_call_is_at_most_that_of_its_arm(build: Build) -> None:
    campaign = build().create("test", **TERMS)
    with pytest.raises(InvalidInput):
        campaign.ask(arms={"red": "1.25"})


def asks_end_and_reports_are_still_taken(build: Build) -> None:
    """To the millisecond, by the clock; a request that was answered is answered again."""
    harness = build()
    campaign = harness.create("test", **TERMS, until="2027-01-17T08:00", time_zone="Europe/Berlin")
    end = START + 47 * 3_600_000  # 8:00 in Berlin, 7:00 in UTC
    harness.clock = end - 1
    first, second = campaign.ask("first"), campaign.ask()
    assert campaign.status().status == "running"
    harness.clock = end
    with pytest.raises(CampaignEnded, match="'test' has ended: it was to last until 2027-01-17 08"):
        campaign.ask()
    assert campaign.ask("first").id == first.id
    assert campaign.tell(first, 1, "0.5").state == "told"
    status = campaign.status()
    assert (status.status, status.until) == ("ended", end / 1000)
    assert "until 2027-01-17 08:00:00 Europe/Berlin" in str(status)
    harness.clock = end - 1  # the clock was ahead
    assert campaign.ask().id == second.id + 1
    assert campaign.audit(full=True).findings == ()


def a_cool_down_doubles_and_ends(build: Build) -> None:
    """1 s, 2 s, 4 s while the probes fail; after each the arm is tried again."""
    harness = build()
    campaign = harness.create("test", **TERMS, cooldown=1)
    only: Any = {"arms": ["red"]}
    for seconds in (1, 2, 4):
        campaign.fail(campaign.ask(**only), 0)
        with pytest.raises(ArmsCoolingDown) as caught:
            campaign.ask(**only)
        assert caught.value.seconds == seconds
        harness.clock += 1000 * seconds
    campaign.tell(campaign.ask(**only), 1, "0.1")
    campaign.fail(campaign.ask(**only), 0)
    with pytest.raises(ArmsCoolingDown) as caught:
        campaign.ask(**only)
    assert caught.value.seconds == 1, "a success lies between"


def calls_in_flight_are_one_failure(build: Build) -> None:
    harness = build()
    campaign = harness.create("test", **TERMS)
    for ticket in campaign.ask_many(5, arms=["red"]):
        campaign.fail(ticket, 0)
        harness.clock += 100
    (cooling,) = campaign.status().cooling
    assert cooling.length == 1
    harness.clock += 600
    assert campaign.ask(arms=["red"]).arm == "red"


def one_probe_at_a_time_tries_an_arm(build: Build) -> None:
    harness = build()
    campaign = harness.create("test", **TERMS)
    only: Any = {"arms": ["red"]}
    campaign.fail(campaign.ask(**only), 0)
    harness.clock += 1000
    probes = campaign.ask_many(3, **only)
    assert len(probes) == 1
    with pytest.raises(ArmsCoolingDown):
        campaign.ask(**only)
    campaign.void(probes[0])
    probe = campaign.ask(**only)
    campaign.settle(probe, "0.1")
    assert len(campaign.ask_many(3, **only)) == 3
    assert campaign.status().cooling == ()


def a_missing_reward_is_learnt_once_with_its_value(build: Build) -> None:
    """As if it had been told."""
    harness = build()
    terms = {**LEARNING, "reward_within": 60, "missing_reward": 0.25}
    campaign, twin = (harness.create(name, **terms) for name in ("test", "twin"))
    for _ in range(4):
        ticket, other = campaign.ask(), twin.ask()
        assert (ticket.arm, ticket.probability) == (other.arm, other.probability)
        campaign.settle(ticket, "0.1")
        twin.tell(other, 0.25, "0.1")
        harness.clock += 60_000
        assert campaign.expire() == 1
    assert campaign.probabilities() == twin.probabilities()
    assert rewards_of(campaign) == [0.25] * 4


def an_ask_learns_what_its_transaction_gives_up(build: Build) -> None:
    harness = build()
    campaign = harness.create("test", **LEARNING, reward_within=60, missing_reward=1)
    for _ in range(4):
        for ticket in campaign.ask_many(2):
            campaign.settle(ticket, "0.1")
        harness.clock += 60_000
    campaign.ask()
    assert campaign.status().counts["told"] == 8
    assert campaign.audit(full=True).findings == ()
    expected = campaign.probabilities()
    assert harness.open("test").probabilities() == expected


def a_reward_outside_the_range_is_seen_as_its_end(build: Build) -> None:
    harness = build()
    terms = {**LEARNING, "reward_range": (0, 10)}
    campaign, twin = (harness.create(name, **terms) for name in ("test", "twin"))
    for reward in (25, -5, 25):
        campaign.tell(campaign.ask(), reward, "0.1")
        twin.tell(twin.ask(), min(max(reward, 0), 10), "0.1")
    assert campaign.probabilities() == twin.probabilities()
    assert rewards_of(campaign) == [25, -5, 25]


def the_ticket_carries_the_chance_of_exploration(build: Build) -> None:
    """A fifth of the money: 0.1 for the cheap arm, a quarter of that for the dear one."""
    terms = {**TERMS, "arms": {"red": 1, "green": "0.25"}, "explore": 0.2}
    campaign = build().create("test", **terms)
    chances = {ticket.arm: ticket.probability for ticket in campaign.ask_many(9)}
    assert chances == pytest.approx({"red": 0.025 + 0.4375, "green": 0.1 + 0.4375})


def a_new_arm_gets_its_first_pull(build: Build) -> None:
    campaign = build().create("test", **{**TERMS, "policy": "primal-dual-bwk", "capacity": 3})
    for _ in range(2):
        campaign.tell(campaign.ask(), 1, "0.1")
    campaign.add_arm("blue")
    assert campaign.ask().arm == "blue"


def a_silent_arm_gets_a_fifth(build: Build) -> None:
    """One arm brings rewards and is asked for by name at first; the other never does."""
    campaign = build().create("test", **{**TERMS, "budget": 1000})
    campaign.tell(campaign.ask(arms=["green"]), 1, "0.1")
    campaign.ask_many(25, arms=["red"])
    arms = [ticket.arm for ticket in campaign.ask_many(100)]
    assert arms[:90] == ["green"] * 90
    with suppress(AskRefused):
        arms += [ticket.arm for ticket in campaign.ask_many(400)]
    assert 0.1 < arms[90:].count("red") / len(arms[90:]) < 0.23
    assert {alarm.kind for alarm in campaign.status().alarms} == {"silent"}
