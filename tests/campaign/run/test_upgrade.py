"""Storages of an earlier purse go on with this one; nothing of their journals is lost."""

import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from purse import Account, AskRefused, Campaign, InvalidInput, PurseError
from purse.base import amounts
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.run import local_level
from purse.campaign.run.upgrade import plan, upgrade
from purse.campaign.storage import schema
from purse.errors import StorageUnavailable
from purse.policies import replan
from tests.campaign.storage.test_migrate import bills, everything, rows, version
from tests.support.old_campaigns import DAY
from tests.support.old_storages import VERSIONS, load
from tests.support.processes import forked, printed
from tests.support.soak import scale
from tests.support.storages import SqliteHarness, StorageHarness

OVER = {  # by the version of the tables
    9: f"campaign 'forecast' from version 2 of replan to version {replan.VERSION} of replan",
    10: "campaign 'desk' from version 3 of replan:skip=0 to version "
    f"{replan.VERSION} of replan:skip=0",
}


@pytest.fixture
def old(shared: StorageHarness) -> StorageHarness:
    load(shared)
    return shared


@pytest.fixture(params=VERSIONS)
def any_old(shared: StorageHarness, request: pytest.FixtureRequest) -> StorageHarness:
    load(shared, request.param)
    return shared


def levels(harness: StorageHarness) -> list[Any]:
    """All campaigns and accounts of a storage."""
    storage = harness.storage()
    opened: list[Any] = [Campaign.open(name, storage=storage) for name in storage.names(CAMPAIGN)]
    return opened + [Account.open(name, storage=storage) for name in storage.names(ACCOUNT)]


def test_all_that_was_billed_is_spent_and_every_audit_is_clean(any_old: StorageHarness) -> None:
    old = any_old
    paid, journals = bills(old), rows(old, "SELECT level, seq, body FROM purse_journal")
    before, planned = everything(old), plan(old.address)
    assert everything(old) == before
    said = upgrade(old.address)
    opened = levels(old)
    over = OVER[planned.version]
    assert said == [f"handed over {over}"]
    assert planned[1:] == (len(opened), len(before["journal"]), [f"would hand over {over}"])
    for level in opened:
        assert level.audit().findings == (), level.name
        for number, purse in enumerate(level.status().purses):
            spent = paid.get((level.name, "", "", number), 0)
            assert purse.spent == amounts.text(spent), level.name
        kinds = [entry.kind for entry in level.journal()]
        assert kinds.count("handed_over") == 1 or planned.version == 10
    assert set(journals) <= set(rows(old, "SELECT level, seq, body FROM purse_journal"))


def test_campaigns_are_asked_and_told_on(any_old: StorageHarness) -> None:
    upgrade(any_old.address)
    any_old.clock += DAY
    told = []
    for campaign in levels(any_old):
        if isinstance(campaign, Campaign):
            options: dict[str, Any] = {}
            if campaign.terms.features:
                campaign.resume()
                options["context"] = {"length": 5, "kind": "chat", "x": 0.5}
            held = campaign.tickets(["held"])
            with suppress(AskRefused):
                held.append(campaign.ask(**options))
                told.append(campaign.name)
            campaign.tell_many([(one, 1, one.held) for one in held if not one.skipped])
        assert campaign.audit().findings == (), campaign.name
    assert {"chat", "forecast", "contexts"} <= set(told) or {"desk", "contexts"} <= set(told)


def test_what_is_personal_gets_salts_and_all_else_keeps_its_digest(any_old: StorageHarness) -> None:
    query = "SELECT level, seq, body, digest FROM purse_journal"
    before = {(level, seq): bytes(digest) for level, seq, _, digest in rows(any_old, query)}
    upgrade(any_old.address)
    after = sorted(rows(any_old, query.replace("FROM", ", salt FROM")), key=lambda row: row[:2])
    changed = set[int]()  # levels, from their first salt on
    for level, seq, body, digest, salt in after:
        is_personal = any(f'"{name}":' in body for name in ("labels", "note", "context", "value"))
        assert (salt is not None) is (is_personal and seq > 1)
        changed |= {level} if salt else set()
        if (level, seq) in before:
            assert (before[level, seq] != bytes(digest)) is (level in changed)
    salts = [bytes(salt) for *_, salt in after if salt]
    assert len(set(salts)) == len(salts) > 5


def test_what_was_overspent_by_the_first_rules_asks_for_no_more(old: StorageHarness) -> None:
    """Twenty calls of 0.03 were made with a budget of 0.2, whose arm was said to cost 0.01."""
    upgrade(old.address)
    campaign = old.open("mispriced")
    (purse,) = campaign.status().purses
    assert (purse.budget, purse.spent, purse.left) == ("0.2", "0.6", "-0.4")
    with pytest.raises(AskRefused, match=r"may cost 0\.03 units and -0\.4 is left"):
        campaign.ask()
    campaign.top_up("0.45")
    assert campaign.ask().held == ("0.03",)
    assert campaign.audit(full=True).findings == ()


def test_a_journal_that_comes_to_something_else_is_left_as_it_is(old: StorageHarness) -> None:
    this = "(SELECT id FROM purse_levels WHERE name = 'chat')"
    old.execute(f"UPDATE purse_balances SET spent = spent - 1 WHERE key = '' AND level = {this}")
    before = everything(old)
    with pytest.raises(PurseError, match="campaign 'chat' does not come to what is stored"):
        upgrade(old.address)
    assert everything(old) == before


def test_both_databases_hold_the_same_journals(
    make_harness: Callable[[str], StorageHarness],
) -> None:
    journals = []
    for kind in ("sqlite", "postgres"):
        harness = make_harness(kind)
        load(harness)
        upgrade(harness.address)
        journals.append(
            [(each.name, entry[:6]) for each in levels(harness) for entry in each.journal()]
        )
    assert journals[0] == journals[1]
    assert {kind for _, (_, _, kind, *_) in journals[0]} == {
        "created", "asked", "told", "settled", "rewarded", "failed", "voided", "expired",
        "conflict", "topped_up", "renewed", "clock", "paused", "resumed", "ended", "arm_added",
        "arm_retired", "arm_changed", "alerts_set", "event", "joined", "handed_over",
    }  # fmt: skip


def test_a_small_storage_is_upgraded_when_it_is_opened(
    old: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large one is not: one line names the command."""
    monkeypatch.setattr("purse.campaign.run.upgrade.FEW", 100)
    with pytest.raises(StorageUnavailable) as refused:
        Campaign.names(storage=old.address)
    said = f"has schema version 9 and this version of purse knows {schema.VERSION}: "
    assert f"{said}`purse storage migrate` takes it there" in str(refused.value)
    assert version(old) == 9
    monkeypatch.undo()
    campaign = Campaign.open("forecast", storage=old.address)
    assert version(old) == schema.VERSION
    assert campaign.audit(full=True).findings == ()


def test_a_policy_that_cannot_play_keeps_nobody_waiting(
    old: StorageHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replan, "VERSION", 1)
    (said,) = plan(old.address).said
    assert said == (
        "campaign 'forecast': campaign 'forecast' was played by version 2 of replan, and this is "
        "version 1: upgrade purse"
    )
    assert upgrade(old.address) == [said]
    campaign = Campaign.open("forecast", storage=old.address)
    with pytest.raises(InvalidInput, match="this is version 1: upgrade purse"):
        campaign.ask()
    monkeypatch.undo()
    assert local_level.hand_over_all(campaign.storage) == [f"handed over {OVER[9]}"]
    assert local_level.hand_over_all(campaign.storage) == []
    assert campaign.audit(full=True).findings == ()


UPGRADE = """
import sys
from unittest.mock import patch
import psycopg
from purse.campaign.run.upgrade import upgrade
from tests.support.fault_injection import Disk, KillPoint, always
address, stop = sys.argv[1], int(sys.argv[2])
point = KillPoint("step", stop)
if address.startswith("sqlite"):  # anything that is asked of the disk
    disk = Disk()
    disk.watch = lambda *_: point("step")
    address += f"?vfs={disk.name}"
else:
    point.wrap(psycopg.Connection, "execute", always("step"), always("step"))
upgrade(address)
print(stop - point.n)
"""


def test_killed_anywhere_it_is_old_or_new(
    make_harness: Callable[[str], StorageHarness], shared: StorageHarness, tmp_path: Path
) -> None:
    other = make_harness("sqlite" if isinstance(shared, SqliteHarness) else "postgres")
    load(other)
    steps = int(printed(UPGRADE, other.address, 10**9, out=tmp_path / "steps"))
    load(shared)
    before, places = everything(shared), scale(4, 50)
    found = []
    for place in range(places):
        stop = 1 + place * (steps - 1) // (places - 1)
        process = forked(UPGRADE, shared.address, stop, out=tmp_path / "out")
        process.join(120)
        assert process.exitcode == -signal.SIGKILL, (stop, (tmp_path / "out").read_text())
        found.append(version(shared))
        if found[-1] == 9:
            assert everything(shared) == before
        else:
            assert all(level.audit().findings == () for level in levels(shared))
            shared.close()
            if isinstance(shared, SqliteHarness) and place < places - 1:
                for path in shared.path.parent.glob(f"{shared.path.name}*"):
                    path.unlink()
                load(shared)
    print(found.count(9), found.count(schema.VERSION), steps)
    assert found == sorted(found)
    assert set(found) == {9, schema.VERSION}
    upgrade(shared.address)
    assert not list(tmp_path.glob("*-before-*"))  # copies
