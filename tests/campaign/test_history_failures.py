from __future__ import annotations

from typing import Any

import pytest

from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.storage.connect import in_memory
from purse.campaign.followed_history import FollowedHistory
from purse.campaign.history import History
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


def folded(campaign: Campaign) -> History:
    history = History(campaign.terms)
    history.fold(campaign.journal())
    return history


def counts(history: History, *names: str) -> dict[str, list[int]]:
    """The counts of each arm, by its name."""
    return {row["arm"]: [row[name] for name in names] for row in history.as_dict()["arms"]}


def restored(history: History) -> History:
    """A history that begins where another one stands."""
    other = History(history.terms)
    assert other.restore(history.checkpoint("digest"))
    assert other.as_dict() == history.as_dict()
    return other


def test_failed_pulls_are_counted_for_their_arm_and_paid() -> None:
    campaign = make()
    for number in range(6):
        ticket = campaign.ask(arms=["a" if number % 3 else "b"])
        campaign.fail(ticket, "0.001" if number == 5 else 0, "503")
    campaign.void(campaign.ask())
    campaign.tell(campaign.ask(arms=["a"]), 1, "0.01")
    history = folded(campaign)
    assert counts(history, "failed", "told", "settled") == {"a": [4, 1, 0], "b": [2, 0, 0]}
    assert history.as_dict()["purses"][0]["spent"][-1] == "0.011"
    assert campaign.status().counts["failed"] == 6


def test_a_late_failure_counts_once_and_gives_back_what_was_presumed() -> None:
    storage, now = in_memory(), START
    storage.now = lambda: now
    campaign = make(storage, expires_after=5)
    ticket = campaign.ask(arms=["b"])
    now += 6_000
    campaign.expire()
    campaign.fail(ticket)
    assert campaign.fail(ticket).duplicate
    history = folded(campaign)
    assert counts(history, "pulls", "failed") == {"a": [0, 0], "b": [1, 1]}
    assert history.as_dict()["purses"][0]["left"][-1] == "3"


def test_settled_pulls_wait_until_their_reward_comes() -> None:
    campaign = make()
    one, two, three = (campaign.ask(arms=["a"]) for _ in range(3))
    for ticket in (one, two):
        campaign.settle(ticket, "0.01")
    campaign.reward(three, 0.5)  # its cost comes later
    history = folded(campaign)
    assert counts(history, "settled", "told") == {"a": [2, 0], "b": [0, 0]}
    campaign.reward(one, 1)
    campaign.settle(three, "0.01")
    history.fold(campaign.journal(after=history.seq))
    assert counts(history, "settled", "told") == {"a": [1, 2], "b": [0, 0]}
    assert campaign.status().counts["settled"] == 1
    assert history.as_dict()["purses"][0]["spent"][-1] == "0.03"


def test_a_reward_that_does_not_come_in_time_is_waited_for_no_more() -> None:
    storage, now = in_memory(), START
    storage.now = lambda: now
    campaign = make(storage, reward_within=10, missing_reward=0)
    campaign.settle(campaign.ask(arms=["b"]), "0.01")
    campaign.settle(campaign.ask(arms=["a"]), "0.01")
    history = folded(campaign)
    now += 5_000
    campaign.settle(campaign.ask(arms=["a"]), "0.01")
    now += 6_000
    campaign.expire()
    history = restored(history)
    history.fold(campaign.journal(after=history.seq))
    assert counts(history, "settled", "told") == {"a": [1, 1], "b": [0, 1]}


def test_the_cost_of_a_voided_ticket_makes_no_pull_wait() -> None:
    campaign = make()
    ticket = campaign.ask(arms=["a"])
    campaign.void(ticket)
    campaign.settle(ticket, "0.01")
    history = folded(campaign)
    assert counts(history, "settled") == {"a": [0], "b": [0]}
    campaign.reward(ticket, 1)
    history.fold(campaign.journal(after=history.seq))
    assert counts(history, "settled", "told") == {"a": [0, 1], "b": [0, 0]}


def test_tickets_that_wait_for_ever_take_no_room() -> None:
    campaign = make(budget="100")
    for ticket in campaign.ask_many(500):
        campaign.settle(ticket, "0.01")
    history = folded(campaign)
    assert sum(row["settled"] for row in history.as_dict()["arms"]) == 500
    assert len(history.checkpoint("").body) < 20_000


def test_arms_that_are_added_have_rows_and_failures_of_their_own() -> None:
    campaign = make(capacity=4)
    ticket = campaign.ask(arms=["a"])
    history = folded(campaign)
    assert list(counts(history)) == ["a", "b"]
    campaign.add_arm("c")
    campaign.fail(ticket)
    campaign.fail(campaign.ask(arms=["c"]))
    campaign.retire_arm("c")
    history = restored(history)
    history.fold(campaign.journal(after=history.seq))
    assert counts(history, "failed") == {"a": [1], "b": [0], "c": [1]}
    assert counts(restored(history), "failed") == {"a": [1], "b": [0], "c": [1]}
    assert [row["arm"] for row in history.as_dict()["series"]["pulls"]] == ["a", "b", "c"]


def test_open_and_settled_tickets_outlive_a_checkpoint() -> None:
    campaign = make()
    failing, settling, told = (campaign.ask(arms=["b"]) for _ in range(3))
    campaign.settle(told, "0.01")
    history = restored(folded(campaign))
    campaign.fail(failing)
    campaign.settle(settling, "0.01")
    campaign.reward(told, 1)
    history.fold(campaign.journal(after=history.seq))
    assert counts(history, "failed", "settled", "told") == {"a": [0, 0, 0], "b": [1, 1, 1]}
    assert history.as_dict() == folded(campaign).as_dict()


def test_a_damaged_checkpoint_is_not_taken_over() -> None:
    made = folded(make()).checkpoint("digest")
    history = History(make().terms)
    assert not history.restore(made._replace(body=made.body + b" "))
    assert not history.restore(None)
    assert history.seq == 0


def test_a_history_goes_on_from_the_checkpoint_of_another_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("purse.campaign.followed_history.CHECKPOINT_EVERY", 5)
    campaign = make()
    ticket = campaign.ask(arms=["a"])
    for _ in range(6):
        campaign.fail(campaign.ask(arms=["b"]))
    FollowedHistory(campaign).follow()
    other = FollowedHistory(campaign)
    assert other.history.seq > 0
    campaign.fail(ticket)
    assert counts(other.follow(), "failed") == {"a": [1], "b": [6]}
