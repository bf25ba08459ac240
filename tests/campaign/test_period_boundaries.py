"""Boundaries in a campaign: made once, in order, by whoever comes first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest

from purse import Campaign
from purse.campaign import replay_journal, transaction
from purse.campaign.period import Calendar
from purse.campaign.storage.connect import in_memory
from purse.campaign.transaction import Transaction
from purse.errors import CampaignPaused
from tests.campaign.test_period_money import HOUR, begun, is_whole, period
from tests.support.campaigns import refusal
from tests.support.storages import START, MemoryHarness, StorageHarness

DAY = 24 * HOUR


def renewals(campaign: Any) -> list[Any]:
    return [entry for entry in campaign.journal() if entry.kind == "renewed"]


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "http"])
def test_five_that_were_slept_through_are_made_in_order(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    harness = make_harness(kind)
    campaign = begun(harness, carry="all")
    ticket = campaign.ask()
    harness.clock = START + 31 * HOUR
    assert period(campaign).number == 6
    campaign.tell(ticket, 1, 1)
    found = renewals(campaign)
    assert [entry.body["number"] for entry in found] == [2, 3, 4, 5, 6]
    assert [entry.body["at"] for entry in found] == [START + n * 6 * HOUR for n in range(1, 6)]
    assert [entry.body["next"] for entry in found] == [START + n * 6 * HOUR for n in range(2, 7)]
    assert {entry.at for entry in found} == {harness.clock}
    assert [entry.kind for entry in campaign.journal()][-1] == "told"
    assert campaign.status().purses[0].left == "59"
    before = campaign.status()
    again = harness.open("test")
    assert again.status() == before
    assert again.audit().ok


def test_a_clock_that_goes_back_makes_none_twice() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock = START + 13 * HOUR
    campaign.ask()
    for clock in (START + 5 * HOUR, START - DAY, START + 12 * HOUR, START + 17 * HOUR):
        harness.clock = clock
        campaign.ask()
        assert period(campaign).number == 3
    harness.clock = START + 18 * HOUR
    assert period(campaign).number == 4
    harness.clock = START  # nobody has made it
    assert period(campaign).number == 3
    harness.clock = START + 18 * HOUR
    campaign.ask()
    assert [entry.body["number"] for entry in renewals(campaign)] == [2, 3, 4]
    assert is_whole(campaign)


def test_who_only_looks_makes_none() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 12 * HOUR
    assert sum(campaign.probabilities().values()) == pytest.approx(1)
    assert renewals(campaign) == []


def test_a_paused_campaign_makes_none_and_goes_on_at_the_first_after_it_resumes() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    ticket = campaign.ask()
    campaign.pause()
    assert period(campaign).ends_at is None
    harness.clock = START + 13 * HOUR
    campaign.tell(ticket, 1, 1)
    refusal(CampaignPaused, campaign.ask)
    assert renewals(campaign) == []
    campaign.resume()
    assert (period(campaign).number, period(campaign).ends_at) == (1, (START + 18 * HOUR) / 1000)
    campaign.ask()
    assert renewals(campaign) == []
    harness.clock = START + 18 * HOUR
    campaign.ask()
    assert [entry.body["number"] for entry in renewals(campaign)] == [2]
    assert is_whole(campaign)


def test_a_short_pause_changes_nothing() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    campaign.pause()
    harness.clock += HOUR
    campaign.resume()
    assert next(e for e in campaign.journal() if e.kind == "resumed").body == {}
    harness.clock = START + 7 * HOUR
    campaign.pause()  # it was over before
    assert [entry.kind for entry in campaign.journal()][-2:] == ["renewed", "paused"]
    assert is_whole(campaign)


def test_an_ended_campaign_makes_none() -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    ticket = campaign.ask()
    campaign.end()
    harness.clock += DAY
    campaign.tell(ticket, 1, "0.5")
    assert (period(campaign).number, period(campaign).ends_at) == (1, None)
    assert renewals(campaign) == []
    assert is_whole(campaign)


def test_months_are_local() -> None:
    harness = MemoryHarness()
    harness.clock = round(datetime(2026, 1, 15, tzinfo=UTC).timestamp() * 1000)
    campaign = begun(harness, every="month", time_zone="Europe/Berlin")
    ends = []
    for _ in range(4):
        ends.append(period(campaign).ends_at)
        harness.clock = round(ends[-1] * 1000)
        campaign.ask()
    shown = [datetime.fromtimestamp(each, UTC).strftime("%m-%d %H:%M") for each in ends]
    assert shown == ["01-31 23:00", "02-28 23:00", "03-31 22:00", "04-30 22:00"]
    assert {entry.body["tz"] for entry in renewals(campaign)} == {campaign.terms.tz}
    assert is_whole(campaign)


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_of_many_threads_one_makes_it(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    harness = make_harness(kind)
    begun(harness, budget=100)
    harness.clock = START + 20 * HOUR
    barrier = threading.Barrier(4)
    opened = [Campaign.open("test", storage=harness.storage()) for _ in range(4)]

    def ask(campaign: Campaign) -> None:
        barrier.wait()
        campaign.ask()

    threads = [threading.Thread(target=ask, args=(each,)) for each in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry.body["number"] for entry in renewals(opened[0])] == [2, 3, 4]
    assert opened[0].audit(full=True).ok


def test_a_copy_goes_on_from_the_same_period() -> None:
    harness = MemoryHarness()
    campaign = begun(harness, carry="all")
    ticket = campaign.ask()
    harness.clock += 7 * HOUR
    campaign.ask()
    file = StringIO()
    campaign.export(file)
    file.seek(0)
    storage = in_memory()
    storage.now = lambda: harness.clock
    copy = Campaign.restore(file, storage=storage, name="copy")
    assert copy.status().period == period(campaign)
    assert copy.audit(full=True).digest == campaign.audit(full=True).digest
    harness.clock += 6 * HOUR
    for each in (copy, campaign):
        each.tell(ticket.id, 1, "0.25")
        assert each.audit().ok
    assert copy.status().purses == campaign.status().purses


def test_an_audit_finds_a_boundary_that_nobody_made(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 7 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "renew", lambda _: None)
        campaign.ask()
    assert any("was over" in each for each in campaign.audit(full=True).findings)


def test_an_audit_decides_on_a_boundary_again(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = MemoryHarness()
    campaign = begun(harness)
    harness.clock += 7 * HOUR
    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "end_after", lambda *_: {"next": START + 13 * HOUR})
        campaign.ask()
    assert any("would be" in each for each in campaign.audit(full=True).findings)


def test_other_time_zone_data_is_noted_and_only_the_order_is_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = MemoryHarness()
    campaign = begun(harness, every="day", time_zone="Europe/Berlin")
    campaign.pause()
    harness.clock += 3 * DAY
    campaign.resume()
    harness.clock += DAY
    campaign.ask()
    # a country has done away with summer time, say
    honest = Calendar.next_end
    monkeypatch.setattr(Calendar, "next_end", lambda *given: honest(*given) + HOUR)
    assert not campaign.audit(full=True).ok
    for module in (transaction, replay_journal):
        monkeypatch.setattr(module, "data_version", lambda _: "2099z")
    found = campaign.audit(full=True)
    assert (found.ok, len(found.notes)) == (True, 1)
    assert "2099z" in found.notes[0]
