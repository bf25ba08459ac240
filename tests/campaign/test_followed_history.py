"""What fails, what waits for its reward, and checkpoints of histories."""

from __future__ import annotations

from typing import Any

import pytest

from purse.campaign import history
from purse.campaign.campaign import Campaign
from purse.campaign.history import FollowedHistory, History
from purse.campaign.storage.connect import in_memory
from purse.campaign.storage.storage import Storage

START = 1_700_000_000_000


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


def counts(found: History, *names: str) -> dict[str, list[int]]:
    """Return the counts of each arm, by its name."""
    return {row["arm"]: [row[name] for name in names] for row in found.as_dict()["arms"]}


def restarted(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, followed: FollowedHistory
) -> FollowedHistory:
    """Return a history that begins where another one leaves a checkpoint."""
    monkeypatch.setattr(history, "CHECKPOINT_EVERY", 1)
    before = followed.follow()
    other = FollowedHistory(campaign)
    assert other.history.seq == before.seq > 0
    assert other.history.as_dict() == before.as_dict()
    return other


def test_failed_pulls_are_counted_for_their_arm_and_paid() -> None:
    campaign = make()
    for number in range(6):
        ticket = campaign.ask(arms=["a" if number % 3 else "b"])
        campaign.fail(ticket, "0.001" if number == 5 else 0, "503")
    campaign.void(campaign.ask())
    campaign.tell(campaign.ask(arms=["a"]), 1, "0.01")
    found = FollowedHistory(campaign).follow()
    assert counts(found, "failed", "told", "settled") == {"a": [4, 1, 0], "b": [2, 0, 0]}
    assert found.as_dict()["purses"][0]["spent"][-1] == "0.011"


def test_a_late_failure_counts_once_and_gives_back_what_was_presumed() -> None:
    storage, now = in_memory(), START
    storage.now = lambda: now
    campaign = make(storage, expires_after=5)
    ticket = campaign.ask(arms=["b"])
    now += 6_000
    campaign.expire()
    campaign.fail(ticket)
    assert campaign.fail(ticket).duplicate
    found = FollowedHistory(campaign).follow()
    assert counts(found, "pulls", "failed") == {"a": [0, 0], "b": [1, 1]}
    assert found.as_dict()["purses"][0]["left"][-1] == "3"


def test_settled_pulls_wait_until_their_reward_comes() -> None:
    campaign = make()
    one, two, three = (campaign.ask(arms=["a"]) for _ in range(3))
    for ticket in (one, two):
        campaign.settle(ticket, "0.01")
    campaign.reward(three, 0.5)  # its cost comes later
    followed = FollowedHistory(campaign)
    assert counts(followed.follow(), "settled", "told") == {"a": [2, 0], "b": [0, 0]}
    campaign.reward(one, 1)
    campaign.settle(three, "0.01")
    assert counts(followed.follow(), "settled", "told") == {"a": [1, 2], "b": [0, 0]}
    assert followed.history.as_dict()["purses"][0]["spent"][-1] == "0.03"


def test_a_reward_that_does_not_come_in_time_is_waited_for_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage, now = in_memory(), START
    storage.now = lambda: now
    campaign = make(storage, reward_within=10, missing_reward=0)
    campaign.settle(campaign.ask(arms=["b"]), "0.01")
    campaign.settle(campaign.ask(arms=["a"]), "0.01")
    followed = restarted(campaign, monkeypatch, FollowedHistory(campaign))
    now += 5_000
    campaign.settle(campaign.ask(arms=["a"]), "0.01")
    now += 6_000
    campaign.expire()
    assert counts(followed.follow(), "settled", "told") == {"a": [1, 1], "b": [0, 1]}


def test_the_cost_of_a_voided_ticket_makes_no_pull_wait() -> None:
    campaign = make()
    ticket = campaign.ask(arms=["a"])
    campaign.void(ticket)
    campaign.settle(ticket, "0.01")
    followed = FollowedHistory(campaign)
    assert counts(followed.follow(), "settled") == {"a": [0], "b": [0]}
    campaign.reward(ticket, 1)
    assert counts(followed.follow(), "settled", "told") == {"a": [0, 1], "b": [0, 0]}


def test_tickets_that_wait_for_ever_take_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MOST_TICKETS", 100)
    campaign = make(budget="100")
    tickets = campaign.ask_many(500)
    for ticket in tickets:
        campaign.settle(ticket, "0.01")
    followed = FollowedHistory(campaign)
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
    followed = FollowedHistory(campaign)
    assert list(counts(followed.follow())) == ["a", "b"]
    campaign.add_arm("c")
    campaign.fail(ticket)
    campaign.fail(campaign.ask(arms=["c"]))
    campaign.retire_arm("c")
    followed = restarted(campaign, monkeypatch, followed)
    assert counts(followed.follow(), "failed") == {"a": [1], "b": [0], "c": [1]}
    rows = followed.history.as_dict()["series"]["pulls"]
    assert [row["arm"] for row in rows] == ["a", "b", "c"]


def test_open_and_settled_tickets_outlive_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = make()
    failing, settling, told = (campaign.ask(arms=["b"]) for _ in range(3))
    campaign.settle(told, "0.01")
    followed = restarted(campaign, monkeypatch, FollowedHistory(campaign))
    campaign.fail(failing)
    campaign.settle(settling, "0.01")
    campaign.reward(told, 1)
    found = followed.follow()
    assert counts(found, "failed", "settled", "told") == {"a": [0, 0, 0], "b": [1, 1, 1]}
    whole = History(campaign.terms)
    whole.fold(campaign.journal())
    assert found.as_dict() == whole.as_dict()


def test_a_checkpoint_that_is_damaged_or_of_another_journal_is_not_taken_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = make()
    campaign.ask()
    restarted(campaign, monkeypatch, FollowedHistory(campaign))
    kept = campaign.storage.checkpoint("c", "history")
    assert kept is not None
    seq, digest, body = kept
    for row in ((seq, digest, bytes(body) + b" "), (seq, "0" * 32, bytes(body)), (9, digest, b"")):
        campaign.storage.keep("c", "history", *row)
        assert FollowedHistory(campaign).history.seq == 0
        assert FollowedHistory(campaign).follow().seq == seq
