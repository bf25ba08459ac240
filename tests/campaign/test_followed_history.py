"""The history of a campaign as it grows: what is counted of each arm, and checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign.campaign import Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage
from purse.campaign.views import history
from purse.campaign.views.history import FollowedHistory, History
from tests.support.storages import START


def make(storage: Storage | None = None, **terms: Any) -> Campaign:
    given: Any = {
        "arms": {"a": "0.02", "b": "0.05"},
        "budget": "3",
        "cost_min": "0.001",
        "policy": "uniform",
        "cooldown": None,
        "storage": storage or in_memory(),
        **terms,
    }
    return Campaign.create("c", **given)


def counts_of(found: History, *names: str) -> dict[str, list[int]]:
    """Return the counts_of of each arm, by its name."""
    return {row["arm"]: [row[name] for name in names] for row in found.as_dict()["arms"]}


def restarted(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, followed: FollowedHistory
) -> FollowedHistory:
    """Return a history that begins where another one leaves a checkpoint."""
    monkeypatch.setattr(history, "_CHECKPOINT_EVERY", 1)
    before = followed.follow()
    other = FollowedHistory(campaign.terms, campaign.storage)
    assert other.history.seq == before.seq > 0
    assert other.history.as_dict() == before.as_dict()
    return other


def test_what_becomes_of_pulls_is_counted_for_their_arm() -> None:
    storage, now = in_memory(), START
    storage.now = lambda: now
    campaign = make(storage, expires_after=5, reward_within=10, missing_reward=0)
    followed = FollowedHistory(campaign.terms, campaign.storage)

    def asked(arm: str) -> Any:
        return campaign.ask(arms=[arm])

    def counted() -> dict[str, list[int]]:
        return counts_of(followed.follow(), "failed", "settled", "told")

    late, void, rewarded, waits, gone = map(asked, "baaab")
    campaign.fail(asked("a"), "0.001", "503")
    campaign.tell(asked("a"), 1, "0.01")
    campaign.reward(rewarded, 0.5)  # its cost comes later
    for ticket in (waits, gone):
        campaign.settle(ticket, "0.01")
    campaign.void(void)
    campaign.settle(void, "0.01")  # nobody waits for its reward
    assert counted() == {"a": [1, 1, 1], "b": [0, 1, 0]}
    now += 6_000
    campaign.expire()
    assert not campaign.fail(late).duplicate
    assert campaign.fail(late).duplicate
    campaign.settle(rewarded, "0.01")
    campaign.reward(waits, 1)
    campaign.reward(void, 1)
    assert counted() == {"a": [1, 0, 4], "b": [1, 1, 0]}
    now += 6_000
    campaign.expire()  # one reward did not come in time
    assert counted() == {"a": [1, 0, 4], "b": [1, 0, 1]}
    spent, left = (followed.history.as_dict()["purses"][0][name][-1] for name in ("spent", "left"))
    assert (spent, left) == (campaign.status().purses[0].spent, campaign.status().purses[0].left)


def test_tickets_that_wait_for_ever_take_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_MOST_TICKETS", 100)
    campaign = make(budget="100")
    tickets = campaign.ask_many(500)
    for ticket in tickets:
        campaign.settle(ticket, "0.01")
    followed = FollowedHistory(campaign.terms, campaign.storage)
    assert sum(row["settled"] for row in followed.follow().as_dict()["arms"]) == 500
    assert len(followed.history.to_json()) < 20_000
    assert len(followed.history.level.tickets) <= 100
    campaign.reward(tickets[0], 1)
    assert sum(row["settled"] for row in followed.follow().as_dict()["arms"]) == 499


def test_arms_that_are_added_have_rows_and_failures_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = make(capacity=4)
    ticket = campaign.ask(arms=["a"])
    followed = FollowedHistory(campaign.terms, campaign.storage)
    assert list(counts_of(followed.follow())) == ["a", "b"]
    campaign.add_arm("c")
    campaign.fail(ticket)
    campaign.fail(campaign.ask(arms=["c"]))
    campaign.retire_arm("c")
    followed = restarted(campaign, monkeypatch, followed)
    assert counts_of(followed.follow(), "failed") == {"a": [1], "b": [0], "c": [1]}
    rows = followed.history.as_dict()["series"]["pulls"]
    assert [row["arm"] for row in rows] == ["a", "b", "c"]


def test_open_and_settled_tickets_outlive_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make()
    failing, settling, told = (campaign.ask(arms=["b"]) for _ in range(3))
    campaign.settle(told, "0.01")
    followed = restarted(campaign, monkeypatch, FollowedHistory(campaign.terms, campaign.storage))
    campaign.fail(failing)
    campaign.settle(settling, "0.01")
    campaign.reward(told, 1)
    found = followed.follow()
    assert counts_of(found, "failed", "settled", "told") == {"a": [0, 0, 0], "b": [1, 1, 1]}
    whole = History(campaign.terms)
    whole.fold(campaign.journal())
    assert found.as_dict() == whole.as_dict()


def test_a_checkpoint_that_is_damaged_or_of_another_journal_is_not_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = make()
    campaign.ask()
    restarted(campaign, monkeypatch, FollowedHistory(campaign.terms, campaign.storage))
    kept = campaign.storage.checkpoint("c", "history")
    assert kept is not None
    seq, digest, body = kept
    for row in ((seq, digest, bytes(body) + b" "), (seq, "0" * 32, bytes(body)), (9, digest, b"")):
        campaign.storage.keep("c", "history", *row)
        assert FollowedHistory(campaign.terms, campaign.storage).history.seq == 0
        assert FollowedHistory(campaign.terms, campaign.storage).follow().seq == seq
