"""A clock that was ahead, or behind, for one report: alerts and periods go on as if it had not
been, nothing is granted for its return, and somebody is told.
"""

from __future__ import annotations

from io import StringIO
from itertools import product
from typing import Any

from purse import Account, Campaign
from purse.campaign.run.audit import audit
from tests.support import storages
from tests.support.storages import START

HOUR = 3_600_000  # ms
DAY = 24 * HOUR
YEAR = 365 * DAY
TERMS: dict[str, Any] = {
    "arms": {"small": 1},
    "budget": 5,
    "policy": "uniform",
    "cooldown": 1,
    "expires_after": 60,
}


def of(level: Any, kind: str) -> list[Any]:
    """The entries of a kind."""
    return [entry for entry in level.journal() if entry.kind == kind]


def keys(level: Any) -> list[str]:
    return [entry.body["key"] for entry in of(level, "event")]


def spend(harness: Any, campaign: Any, at: int, cost: Any = 1) -> None:
    """One call by a clock that shows a time."""
    harness.clock = at
    campaign.tell(campaign.ask(), 1, cost)


def check(harness: Any, *levels: Any) -> None:
    """Audits agree under any clock, and a copy of what is no account comes to the same."""
    now, found = harness.clock, [audit(level.storage, level.name) for level in levels]
    assert all(each.ok for each in found), found
    for clock in (now - YEAR, now + 2 * YEAR):
        harness.clock = clock
        assert [audit(level.storage, level.name) for level in levels] == found
    for level, before in zip(levels, found, strict=True):
        if isinstance(level, Campaign) and not level.status().account:
            file, other = StringIO(), storages.MemoryHarness()
            level.export(file)
            file.seek(0)
            other.clock = now - YEAR
            assert Campaign.restore(file, storage=other.storage()).audit(full=True) == before
    harness.clock = now


def alarms(level: Any) -> list[str]:
    return [alarm.text for alarm in level.status().alarms if alarm.kind == "clock"]


def test_events_go_on_after_a_clock_that_was_ahead() -> None:
    harness = storages.MemoryHarness()
    Account.create("team", budget=10_000, alerts=["overrun"], storage=harness.storage())
    rules = ["overrun", "expired", "cooling-down"]
    terms = {**TERMS, "budget": 1_000, "alerts": rules, "account": "team"}
    campaign: Any = harness.create_at(harness.place(), "test", **terms)
    team = Account.open("team", storage=harness.place())

    def hour(at: int) -> None:
        spend(harness, campaign, at, 2)  # an overrun
        campaign.ask()
        campaign.fail(campaign.ask())
        harness.clock += 60_000
        campaign.expire()

    hour(START + YEAR)
    for number in range(48):
        hour(START + number * HOUR)
        hour(START + number * HOUR + 120_000)
    assert alarms(campaign) == [] == alarms(team)  # a day is over
    assert len(keys(campaign)) == len(set(keys(campaign))) == 3 * 49
    assert len(keys(team)) == len(set(keys(team))) == 49
    first, second = START // HOUR, (START + YEAR) // HOUR
    assert keys(team)[:3] == [f"overrun/{second}", f"overrun/{first}/1", f"overrun/{first + 1}/1"]
    check(harness, campaign, team)


def test_somebody_is_told_for_a_day() -> None:
    harness = storages.MemoryHarness()
    Account.create("team", budget=9, storage=harness.storage())
    campaign: Any = harness.create_at(harness.place(), "test", **TERMS, account="team")
    team = Account.open("team", storage=harness.place())
    for ahead, cost in ((HOUR, 1), (0, 1), (YEAR, 2), (0, 1)):  # an hour is no jump
        spend(harness, campaign, START + ahead, cost)
    said = "the clock was more than an hour ahead, 1 time: deadlines and periods may have ended"
    for level in (campaign, team):
        harness.clock = START
        assert alarms(level) == [f"{said} early"]
        assert "overrun" in {alarm.kind for alarm in level.status().alarms}
        harness.clock = START + DAY - 1
        assert alarms(level)
        harness.clock = START + DAY
        assert not level.status().alarms  # that of the overrun is no longer shown either
    check(harness, campaign, team)


def test_periods_go_on_after_a_clock_that_was_ahead() -> None:
    for carry, of_account in product(["none", "all"], [False, True]):
        harness: Any = storages.MemoryHarness()
        renewed: dict[str, Any] = {"every": "day", "carry": carry}
        place, terms = harness.storage(), {**TERMS, "horizon": 5, **renewed}
        if of_account:
            Account.create("team", budget=5, **renewed, storage=place)
            terms = {**TERMS, "budget": 1_000, "account": "team"}
        campaign = harness.create_at(place, "test", **terms)
        level: Any = Account.open("team", storage=place) if of_account else campaign
        spend(harness, campaign, START)
        spend(harness, campaign, START + YEAR)
        before = len(of(level, "renewed"))
        for day in range(20):
            harness.clock = START + day * DAY
            shown = level.status().period
            assert (shown.number, shown.begun_at * 1000 <= harness.clock) == (
                before + 1 + day,
                True,
            )
            assert shown.ends_at == (START // DAY + day + 1) * DAY / 1000
            for _ in range(4 + (day > 0)):  # all that a day has, but for what the jump has spent
                spend(harness, campaign, START + day * DAY)
        assert (len(of(level, "renewed")), len(of(level, "clock"))) == (before + 19, 1)
        # under `all` one grant for each boundary of the jump, and for each since
        granted = 5 * (1 + before + 19) if carry == "all" else 1 + 5 + 19 * 5
        assert level.status().purses[0].budget == str(granted)
        check(harness, campaign, level)


def test_a_clock_that_comes_and_goes_grants_nothing_again() -> None:
    """Two processes with clocks of their own, in turn; one may be behind, by years."""
    for carry, away in product(["none", "all"], [-3 * YEAR, -2 * HOUR, 2 * HOUR, 30 * DAY]):
        harness: Any = storages.MemoryHarness()
        terms = {**TERMS, "budget": 50, "every": "6h", "carry": carry, "alerts": ["overrun"]}
        campaign = harness.create("test", **terms)
        at = START + 7 * HOUR
        spend(harness, campaign, at)
        spend(harness, campaign, at + away)
        granted = len(of(campaign, "renewed"))
        for _ in range(5):
            spend(harness, campaign, at)
            spend(harness, campaign, at + away, 2)
        spend(harness, campaign, at)
        assert len(of(campaign, "renewed")) == granted
        assert len(set(keys(campaign))) == len(keys(campaign)) > 0
        spend(harness, campaign, at + 6 * HOUR)
        assert of(campaign, "renewed")[granted:][0].body["at"] == START + 12 * HOUR
        assert len(of(campaign, "renewed")) == granted + 1
        check(harness, campaign)


def test_a_period_that_was_begun_too_early_begins_in_its_turn() -> None:
    """The clock comes to it day after day: it is granted like all others."""
    harness = storages.MemoryHarness()
    campaign: Any = harness.create("test", **{**TERMS, "every": "day", "carry": "none"})
    spend(harness, campaign, START + 3 * DAY)
    for day in range(6):
        for _ in range(4 if day == 0 else 5):
            spend(harness, campaign, START + day * DAY)
    assert len(of(campaign, "renewed")) == 3 + 5
    check(harness, campaign)


def test_a_pause_under_a_clock_that_was_ahead() -> None:
    harness = storages.MemoryHarness()
    campaign: Any = harness.create("test", **{**TERMS, "every": "day", "carry": "all"})
    spend(harness, campaign, START + YEAR)
    before = len(of(campaign, "renewed"))
    campaign.pause()
    harness.clock = START
    campaign.resume()
    assert campaign.status().period.ends_at == (START // DAY + 1) * DAY / 1000
    spend(harness, campaign, START + DAY)
    assert len(of(campaign, "renewed")) == before + 1
    campaign.pause()
    harness.clock = START + 2 * YEAR  # what passes in a pause is not granted
    campaign.resume()
    assert campaign.status().period.number == before + 2
    assert campaign.status().period.ends_at == ((START + 2 * YEAR) // DAY + 1) * DAY / 1000
    check(harness, campaign)
