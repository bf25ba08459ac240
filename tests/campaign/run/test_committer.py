"""Operations of several threads share a transaction, and none is acknowledged before it is
durable.
"""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from purse import InvalidInput
from purse.campaign.campaign import Campaign
from purse.campaign.rules import asks
from purse.campaign.run.committer import _QueuedOperation
from purse.campaign.storage.sql import LockedLevels, ReadRequest, Writes
from purse.campaign.storage.sqlite import Memory
from purse.campaign.storage.storage import Storage
from purse.errors import StorageUnavailable
from tests.support import storages
from tests.support.storages import MemoryHarness, counts, kinds

TERMS: dict[str, Any] = {**storages.TERMS, "budget": 1_000, "policy": "ucb-bv1"}


# a policy file that brings no code of its own: nothing has to be compiled
MINE = "from purse.policies.exp3_bwk import *\n"


class Slow(Storage):
    """A storage whose next change waits until it is let go, and which counts."""

    def __init__(self) -> None:
        super().__init__(Memory())
        self.changes = 0
        self.busy, self.go = threading.Event(), threading.Event()
        self.go.set()
        self.failure: Exception | None = None

    def change(
        self, name: str, wants: ReadRequest, decide: Callable[[LockedLevels], Writes | None]
    ) -> None:
        self.changes += 1
        self.busy.set()
        assert self.go.wait(60)
        super().change(name, wants, decide)
        if self.failure is not None:
            raise self.failure


@pytest.fixture
def storage() -> Slow:
    return Slow()


@pytest.fixture
def campaign(storage: Slow) -> Campaign:
    return Campaign.create("c", **TERMS, storage=storage)


def together(campaign: Any, storage: Slow, acts: list[Callable[[], Any]]) -> list[Any]:
    """Let the acts wait behind one that is under way; return what each returned or raised."""
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
        while len(campaign._local.committer._queue) <= place:
            threads[-1].join(0.001)
    storage.go.set()
    for thread in threads:
        thread.join()
    return results[1:]


def test_those_who_wait_share_the_next_transaction(storage: Slow, campaign: Any) -> None:
    campaign.ask()
    before = storage.changes
    tickets = together(campaign, storage, [campaign.ask] * 8)
    assert storage.changes == before + 2
    assert sorted(ticket.id for ticket in tickets) == list(range(2, 10))
    assert campaign.audit().ok


def test_a_report_that_shares_a_transaction_with_an_ask_comes_after_it(
    storage: Slow, campaign: Any
) -> None:
    """The policy has learnt what is in the journal, not the reports beside it."""
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
    assert kinds(campaign)[3:] == ["asked", "asked", "told", "told"]
    assert campaign.audit().ok


def test_each_gets_its_own_error(storage: Slow, campaign: Any) -> None:
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
    assert counts(campaign)["conflicts"] == 2


def test_where_the_commit_fails_nobody_is_told_otherwise(storage: Slow, campaign: Any) -> None:
    campaign.ask()
    storage.failure = StorageUnavailable("the disk is gone")
    results = together(
        campaign, storage, [campaign.ask, campaign.expire, lambda: campaign.tell(1, 1, 1)]
    )
    assert [str(result) for result in results] == ["the disk is gone"] * 3
    storage.failure = None
    assert campaign.tell(1, 1, 1).duplicate, "it was written, and may be told again"
    assert campaign.audit().ok


def test_after_a_batch_that_failed_its_operations_are_done_one_by_one(
    storage: Slow, campaign: Any
) -> None:
    """No operation suffers from the mistake of another."""
    ticket = campaign.ask()

    def mistaken(transaction: Any) -> None:
        raise ZeroDivisionError("a mistake in a rule")

    results = together(
        campaign,
        storage,
        [
            lambda: campaign.tell(ticket, 1, 1),
            lambda: campaign._local.committer.do(mistaken),
            campaign.ask,
        ],
    )
    assert results[0].state == "told"
    assert isinstance(results[1], ZeroDivisionError)
    assert results[2].id == 2
    assert kinds(campaign)[2:] == ["asked", "told"]
    assert campaign.audit().ok


def test_one_ask_that_fails_does_not_refuse_the_report_beside_it(tmp_path: Path) -> None:
    policy, harness = tmp_path / "mine.py", MemoryHarness()
    policy.write_text(MINE)
    harness.create("c", **{**TERMS, "policy": str(policy)}).ask()
    policy.unlink()
    campaign = harness.open("c")
    ask = _QueuedOperation(
        lambda transaction: asks.ask(transaction, 1, "r", None, None, None),
        requests=("r",),
        asks=True,
        expires=True,
    )
    campaign._local.committer._queue.append(ask)
    assert campaign.tell(1, 1, 1).state == "told"
    assert isinstance(ask.error, InvalidInput)


def test_who_came_while_the_storage_was_stuck_is_refused_with_the_one_who_waited(
    monkeypatch: pytest.MonkeyPatch, storage: Slow, campaign: Any
) -> None:
    """Otherwise each would wait for as long again."""
    campaign.ask()
    before = storage.changes
    storage.failure = StorageUnavailable("another process has held it for 30 seconds")
    monkeypatch.setattr("purse.campaign.run.committer._STUCK_S", 0)
    results = together(campaign, storage, [campaign.ask, lambda: campaign.tell(1, 1, 1)])
    assert {type(result).__name__ for result in results} == {"StorageUnavailable"}
    assert storage.changes == before + 1
    storage.failure = None
    assert campaign.audit().ok


def test_whoever_shared_an_interrupted_transaction_is_told_at_once(
    storage: Slow, campaign: Any
) -> None:
    campaign.ask()
    change, broken = storage.change, threading.Event()

    def interrupted(
        name: str, wants: ReadRequest, decide: Callable[[LockedLevels], Writes | None]
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


def test_an_interrupt_while_the_policy_learns_teaches_it_nothing_twice() -> None:
    """Control-C in the middle of the reports of others; whoever catches it may go on."""
    harness = MemoryHarness()
    here = harness.create("c", **{**TERMS, "policy": "exp3.bwk"})
    there = Campaign.open("c", storage=harness.storage())
    there.probabilities()  # it has learnt nothing yet
    for ticket in here.ask_many(6):
        here.tell(ticket, 1, "0.5")
    policy, calls = there._local.committer.policy, iter(range(1, 99))
    steps = policy._steps

    class Interrupted:
        def tell(self, t: int) -> int:
            if next(calls) == 4:
                raise KeyboardInterrupt
            return int(steps.tell(t))

    policy._steps = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        there.ask("again")
    assert there.ask("again").id == 7
    assert there.probabilities() == Campaign.open("c", storage=harness.storage()).probabilities()
    assert there.audit().ok


def test_who_only_looks_writes_nothing() -> None:
    harness = MemoryHarness()
    campaign = harness.create("c", **TERMS, every="1h")
    harness.clock += 3 * 3_600_000  # three periods are due
    before = campaign.storage.level("c")[-1]
    campaign.probabilities()
    assert campaign.storage.level("c")[-1] == before
    campaign.ask()
    assert kinds(campaign) == ["created", "renewed", "renewed", "renewed", "asked"]
