"""Audits that go on from the last one."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign.account import Account
from purse.campaign.campaign import Campaign
from purse.campaign.learner import Learner
from purse.campaign.records import AUDIT
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage

TERMS: dict[str, Any] = {
    "arms": {"a": "0.02", "b": "0.05"},
    "budget": "30",
    "cost_min": "0.001",
    "policy": "ucb-bv1",
    "capacity": 3,
    "account": "team",
    "every": "1h",
}


def made(name: str, storage: Storage) -> Campaign:
    return Campaign.create(name, **TERMS, storage=storage)


@pytest.fixture
def storage() -> Storage:
    """A storage with an account and two campaigns below it that have been audited."""
    kept = in_memory()
    Account.create("team", budget="100", alerts=["1%"], storage=kept)
    for name in ("one", "two"):
        play(made(name, kept))
    one = opened("one", kept)
    one.add_arm("c", cost_max="0.04")
    assert one.audit().ok
    return kept


def opened(name: str, storage: Storage) -> Campaign:
    return Campaign.open(name, storage=storage)


def play(campaign: Campaign) -> None:
    tickets = campaign.ask_many(6, labels={"user": "x"})
    campaign.tell(tickets[0], 1, "0.03")
    campaign.settle(tickets[1], "0.02")
    campaign.fail(tickets[2])
    campaign.void(tickets[3])


def test_the_next_audit_decides_only_what_came_since(storage: Storage) -> None:
    one, two = opened("one", storage), opened("two", storage)
    before = one.status().entries
    again = one.audit()
    assert (again.after, again.findings) == (before, ())
    open_tickets = one.tickets(states=["held", "settled"])
    for ticket in open_tickets:
        one.tell(ticket, 0.5, "0.02")
    one.tell(4, 0, "0.01")  # it was void
    play(two)
    made("three", storage)
    play(opened("three", storage))
    found = one.audit()
    assert (found.after, found.findings) == (before, ())
    assert opened("three", storage).audit().after == opened("three", storage).status().entries
    assert one.audit(full=True).after == 0
    assert Account.open("team", storage=storage).audit().ok


def test_what_was_changed_since_is_found(storage: Storage) -> None:
    one = opened("one", storage)
    play(one)
    for statement, words in (
        ("UPDATE purse_balances SET spent = spent + 1 WHERE level = 2 AND key = ''", "balances"),
        ("UPDATE purse_balances SET tickets = tickets + 1 WHERE key = 'user'", "sums of labels"),
        ("DELETE FROM purse_open_tickets WHERE level = 2", "open tickets"),
    ):
        with storage.db.writing() as session:
            session.read([(statement, ())])
        found = one.audit()
        assert found.after > 0
        assert any(words in text for text in found.findings), found.findings


@pytest.mark.parametrize("name", ["team", "two"])
@pytest.mark.parametrize("body", [b"", b"x" * 40])
def test_a_damaged_checkpoint_sends_the_audit_back_to_the_first_entry(
    storage: Storage, name: str, body: bytes
) -> None:
    kept = storage.checkpoint(name, AUDIT)
    assert kept is not None
    storage.keep(name, AUDIT, kept.seq, kept.digest, body)
    found = opened("one", storage).audit()
    assert (found.after, found.findings) == (0, ())


def test_a_policy_of_other_code_sends_the_audit_back_to_the_first_entry(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Learner, "begin_at", lambda *_: False)
    found = opened("one", storage).audit()
    assert (found.after, found.findings) == (0, ())
