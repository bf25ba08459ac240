"""Storages of an earlier purse go on with this one; nothing of their journals is lost."""

from collections.abc import Callable
from typing import Any

import pytest

from purse import Account, AskRefused, Campaign, PurseError
from purse.base import amounts
from purse.campaign.api.states import ACCOUNT, CAMPAIGN
from purse.campaign.run.upgrade import upgrade
from tests.campaign.storage.test_migrate import bills, everything, rows
from tests.support.old_storages import VERSIONS, load
from tests.support.storages import StorageHarness


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
    upgrade(old.address)
    opened = levels(old)
    assert len(opened) in (17, 7)
    for level in opened:
        assert level.audit().findings == (), level.name
        for number, purse in enumerate(level.status().purses):
            spent = paid.get((level.name, "", "", number), 0)
            assert purse.spent == amounts.text(spent), level.name
        kinds = [entry.kind for entry in level.journal()]
        assert kinds.count("handed_over") == 1 or len(opened) == 7
    assert set(journals) <= set(rows(old, "SELECT level, seq, body FROM purse_journal"))


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
