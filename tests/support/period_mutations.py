"""Deliberate faults in the rules of periods, and short checks that notice them. `build` makes a new
storage.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from purse.campaign.periods.calendar import HOUR
from purse.campaign.periods.rules import PeriodRules
from purse.campaign.rules import Transaction
from purse.campaign.storage import memory_accounts, schema
from tests.support.campaigns import TERMS
from tests.support.storages import StorageHarness

Build = Callable[[], StorageHarness]
Patch = pytest.MonkeyPatch
ONE_RENEWAL = "UNIQUE INDEX purse_one_renewal"


def begin_a_period_twice(patch: Patch) -> None:
    """Whoever comes begins the same period twice, and the journal takes it."""

    def twice(rules: PeriodRules) -> None:
        if (period := rules.ended()) is not None:
            body = rules.renewal(period)
            rules.add("renewed", body)
            rules.add("renewed", body)

    patch.setattr(Transaction, "renew", twice)
    patch.setattr(memory_accounts, "begun_in", lambda _: [])
    for dialect in ("SQLITE", "POSTGRES"):
        scripts = getattr(schema, dialect)
        assert any(ONE_RENEWAL in script for script in scripts)
        patch.setattr(
            schema, dialect, [each.replace(ONE_RENEWAL, ONE_RENEWAL[7:]) for each in scripts]
        )


def begin_only_the_last_period(patch: Patch) -> None:
    """Periods that were slept through are left out."""
    end_after = PeriodRules.end_after

    def late(rules: PeriodRules, known: int, instant: int) -> dict[str, Any]:
        return end_after(rules, known, max(instant, rules.now))

    patch.setattr(PeriodRules, "end_after", late)


def keep_every_refund(patch: Patch) -> None:
    """What comes back from an ended period is money of this one."""
    patch.setattr(PeriodRules, "refund", lambda *_: {})


def begin_periods_in_a_pause(patch: Patch) -> None:
    """A paused campaign goes on in time."""
    honest = PeriodRules.ended

    def ended(rules: PeriodRules) -> Any:
        head: Any = rules.ledger.head
        status, head.status = head.status, "running"
        found = honest(rules)
        head.status = status
        return found

    patch.setattr(PeriodRules, "ended", ended)


def begun(build: Build, **changes: Any) -> tuple[StorageHarness, Any]:
    harness = build()
    terms = {**TERMS, "every": "6h", "expires_after": None, **changes}
    return harness, harness.create("test", **terms)


def each_period_has_its_allowance_once(build: Build) -> None:
    harness, campaign = begun(build, carry="all")
    harness.clock += 6 * HOUR
    campaign.ask()
    assert campaign.status().purses[0].budget == "20"


def no_period_is_left_out(build: Build) -> None:
    harness, campaign = begun(build, carry="all")
    harness.clock += 31 * HOUR
    campaign.ask()
    assert campaign.status().purses[0].budget == "60"


def what_an_ended_period_gives_back_is_dropped(build: Build) -> None:
    harness, campaign = begun(build)
    ticket = campaign.ask()
    harness.clock += 6 * HOUR
    campaign.void(ticket)
    assert campaign.status().purses[0].left == "10"


def a_pause_brings_no_money(build: Build) -> None:
    harness, campaign = begun(build, carry="all")
    campaign.pause()
    harness.clock += 31 * HOUR
    campaign.resume()
    assert campaign.status().purses[0].budget == "10"
