"""Operations of several threads share a transaction, and none is acknowledged before it is
durable.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from purse.campaign.storage.base import LockedState, ReadSet, WriteSet

from purse import StorageUnavailable
from purse.campaign.learner import Learner
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.storage.connect import in_memory

TERMS: dict[str, Any] = {
    "arms": {"a": 1, "b": 3},
    "budget": 1_000,
    "cost_min": "0.5",
    "policy": "ucb-bv1",
}


class Slow(Memory):
    """A storage whose next change waits until it is let go, and which counts."""

    def __init__(self) -> None:
        super().__init__()
        self.changes = 0
        self.busy, self.go = threading.Event(), threading.Event()
        self.go.set()
        self.failure: Exception | None = None

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        self.changes += 1
        self.busy.set()
        assert self.go.wait(60)
        super().change(name, wants, decide)
        if self.failure is not None:
            raise self.failure


def together(campaign: Campaign, storage: Slow, acts: list[Callable[[], Any]]) -> list[Any]:
    """Let the acts wait behind one that is under way; what each returned or raised."""
    results: list[Any] = [None] * (len(acts) + 1)

    def work(place: int, act: Callable[[], Any]) -> None:
        try:
            results[place] = act()
        except Exception as error:  # told to the test
            results[place] = error

    storage.go.clear()
    storage.busy.clear()
    threads = [threading.Thread(target=work, args=(0, campaign.expire), name="first")]
    threads[0].start()
    assert storage.busy.wait(60)
    for place, act in enumerate(acts, 1):
        threads.append(threading.Thread(target=work, args=(place, act)))
        threads[-1].start()
        # until it has joined the queue, behind the one under way
        while len(campaign._committer._queue) <= place:
            threads[-1].join(0.001)
    storage.go.set()
    for thread in threads:
        thread.join()
    return results[1:]


def test_those_who_wait_share_the_next_transaction() -> None:
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)
    campaign.ask()
    before = storage.changes
    tickets = together(campaign, storage, [campaign.ask] * 8)
    assert storage.changes == before + 2
    assert sorted(ticket.id for ticket in tickets) == list(range(2, 10))
    assert campaign.audit().ok


def test_a_report_that_shares_a_transaction_with_an_ask_comes_after_it() -> None:
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)
    first, second = campaign.ask(), campaign.ask()
    together(
        campaign,
        storage,
        [
            lambda: campaign.tell(first, 1, "0.5"),
            lambda: campaign.tell(second, 0, 3),
            campaign.ask,
            campaign.ask,
        ],
    )
    assert [entry.kind for entry in campaign.journal()][3:] == ["asked", "asked", "told", "told"]
    assert campaign.audit().ok


def test_each_gets_its_own_error() -> None:
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)
    ticket = campaign.ask()
    acts = [
        lambda: campaign.tell(99, 1, 1),
        lambda: campaign.tell(ticket, 1, 1),
        lambda: campaign.tell(ticket, 0, 1),
        lambda: campaign.void(ticket),
    ]
    unknown, told, conflict, late = together(campaign, storage, acts)
    assert type(unknown).__name__ == "TicketError"
    assert told.state == "told"
    assert type(conflict).__name__ == type(late).__name__ == "Conflict"
    assert campaign.status().counts["conflicts"] == 2


def test_where_the_commit_fails_nobody_is_told_otherwise() -> None:
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)
    campaign.ask()
    storage.failure = StorageUnavailable("the disk is gone")
    results = together(
        campaign, storage, [campaign.ask, campaign.expire, lambda: campaign.tell(1, 1, 1)]
    )
    assert [str(result) for result in results] == ["the disk is gone"] * 3
    storage.failure = None
    assert campaign.tell(1, 1, 1).duplicate, "it was written, and may be told again"
    assert campaign.audit().ok


def test_who_came_while_the_storage_was_stuck_is_refused_with_the_one_who_waited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise each would wait for as long again."""
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)
    campaign.ask()
    before = storage.changes
    storage.failure = StorageUnavailable("another process has held it for 30 seconds")
    monkeypatch.setattr("purse.campaign.group_commit.STUCK_S", 0)
    results = together(campaign, storage, [campaign.ask, lambda: campaign.tell(1, 1, 1)])
    assert {type(result).__name__ for result in results} == {"StorageUnavailable"}
    assert storage.changes == before + 1
    storage.failure = None
    assert campaign.audit().ok


def test_an_interrupted_transaction_is_an_error_for_those_who_shared_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(storage, "change", interrupted)
    with pytest.raises(KeyboardInterrupt):
        campaign.expire()
    monkeypatch.undo()
    assert campaign.expire() == 0


def test_whoever_shared_an_interrupted_transaction_is_told_at_once() -> None:
    storage = Slow()
    campaign = Campaign.create("c", **TERMS, storage=storage)
    campaign.ask()
    change, broken = storage.change, threading.Event()

    def interrupted(
        name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        if broken.is_set() or threading.current_thread().name == "first":
            change(name, wants, decide)
        else:
            broken.set()
            raise SystemExit  # as a KeyboardInterrupt would, it ends the thread that leads

    storage.change = interrupted  # type: ignore[method-assign]

    def ask() -> Any:
        try:
            return campaign.ask()
        except SystemExit:
            return "interrupted"

    results = together(campaign, storage, [ask] * 4)
    assert results.count("interrupted") == 1
    assert sum(isinstance(result, StorageUnavailable) for result in results) == 3
    assert campaign.ask().id == 2


def test_what_takes_long_to_compile_is_compiled_before_the_campaign_is_locked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    campaign = Campaign.create("c", **{**TERMS, "policy": "exp3.bwk"}, storage=in_memory())
    done: list[str] = []
    compiled, change = Learner.compile_look, campaign.storage.change
    monkeypatch.setattr(
        Learner, "compile_look", lambda learner: done.append("compiled") or compiled(learner)
    )
    monkeypatch.setattr(
        campaign.storage, "change", lambda *wanted: done.append("locked") or change(*wanted)
    )
    before = campaign._committer.recovered().state
    campaign.probabilities()
    assert done == ["compiled", "locked"]
    assert all((part == before[name]).all() for name, part in Learner(campaign.terms).state.items())
