"""Threads, tasks and processes at once: nothing is overspent, no ticket comes twice, and the
journal holds together.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from purse import BudgetExhausted, BudgetHeld
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.storage.base import ReadSet
from tests.support.soak import scale
from tests.support.storages import StorageHarness

TERMS: dict[str, Any] = {
    "arms": {"red": 1, "green": 1},
    "budget": 20,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
}
THREADS = 8


def spend(campaign: Campaign) -> list[int]:
    """Ask and tell until the budget is gone; the tickets that were told."""
    told: list[int] = []
    while True:
        try:
            tickets = campaign.ask_many(2)
        except BudgetHeld:
            continue  # another thread will tell soon
        except BudgetExhausted:
            return told
        for ticket in tickets:
            campaign.tell(ticket, 0.5, "0.5")
            told.append(ticket.id)


def check_books(campaign: Campaign, told: list[int]) -> None:
    """All that was told is there, once, and nothing else."""
    status = campaign.status()
    # at 0.5 each; the last 0.5 cannot cover a hold of 1
    assert len(set(told)) == len(told) == status.counts["told"] == status.counts["tickets"] == 39
    (purse,) = status.purses
    assert (purse.spent, purse.held, purse.left, purse.overrun) == ("19.5", "0", "0.5", "0")
    audit = campaign.audit()
    assert not audit.findings
    assert audit.ok


def test_threads_share_a_campaign(harness: StorageHarness) -> None:
    campaign = harness.create("test", **TERMS)
    with ThreadPoolExecutor(THREADS) as pool:
        told = [
            number
            for future in [pool.submit(spend, campaign) for _ in range(THREADS)]
            for number in future.result()
        ]
    check_books(campaign, told)


def test_threads_with_campaigns_of_their_own(harness: StorageHarness) -> None:
    harness.create("test", **TERMS)
    campaigns = [Campaign.open("test", storage=harness.storage()) for _ in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        told = [number for numbers in pool.map(spend, campaigns) for number in numbers]
    check_books(campaigns[0], told)


def test_tasks_share_a_campaign(harness: StorageHarness) -> None:
    campaign = harness.create("test", **TERMS)

    async def everyone() -> list[int]:
        return [
            number
            for numbers in await asyncio.gather(
                *(asyncio.to_thread(spend, campaign) for _ in range(4))
            )
            for number in numbers
        ]

    # where no event loop runs: a browser's test may have left one in this thread
    with ThreadPoolExecutor(1) as thread:
        told = thread.submit(lambda: asyncio.run(everyone())).result()
    check_books(campaign, told)


def test_a_request_is_answered_once_to_all_threads(harness: StorageHarness) -> None:
    campaign = harness.create("test", **TERMS)
    start = threading.Barrier(THREADS)

    def ask(turn: int) -> Any:
        start.wait()
        return campaign.ask(f"request {turn}")

    with ThreadPoolExecutor(THREADS) as pool:
        for turn in range(scale(5, 500)):
            tickets = list(pool.map(ask, [turn] * THREADS))
            assert tickets == [tickets[0]] * THREADS
            campaign.tell(tickets[0], 1, "0.1" if turn < 10 else 0)
    assert campaign.status().counts["held"] == 0
    assert campaign.audit().ok


@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, make_harness: Callable[[str], StorageHarness]) -> Any:
    """A harness that several processes can share."""
    return make_harness(request.param)


class Lingering(threading.Thread):
    """A thread that stays in the middle of a transaction until it is let go, or for so many
    seconds.
    """

    def __init__(self, campaign: Campaign, seconds: float) -> None:
        super().__init__()
        self.campaign, self.seconds = campaign, seconds
        self.inside, self.leave = threading.Event(), threading.Event()

    def run(self) -> None:
        self.campaign.storage.change("test", ReadSet(), self.linger)

    def linger(self, _: Any) -> None:
        self.inside.set()
        self.leave.wait(self.seconds)

    def __enter__(self) -> None:
        self.start()
        assert self.inside.wait(60)

    def __exit__(self, *_: object) -> None:
        self.leave.set()
        self.join()


def test_readers_wait_for_no_writer(shared: StorageHarness) -> None:
    campaign = shared.create("test", **TERMS)
    campaign.ask()
    other = Campaign.open("test", storage=shared.storage())
    with Lingering(campaign, 60):
        for reader in (campaign, other):
            assert reader.status().counts["held"] == 1
            assert len(reader.tickets()) == 1
            assert len(list(reader.journal())) == 2


# processes


def started(work: Callable[[], Any]) -> int:
    """A plain fork that does something, and ends with 0 where it went well; it does not hang for
    ever.
    """
    child = os.fork()
    if child == 0:
        signal.alarm(100)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_fork_goes_on_with_the_same_campaign(shared: StorageHarness) -> None:
    campaign = shared.create("test", **TERMS)
    campaign.tell(campaign.ask(), 1, "0.5")

    def work() -> None:
        campaign.tell(campaign.ask("child"), 1, "0.5")
        assert campaign.status().counts["told"] == 2

    assert ended(started(work)) == 0
    campaign.tell(campaign.ask("parent"), 1, "0.5")
    assert campaign.ask("child").id == 2
    assert campaign.status().counts["told"] == 3
    assert campaign.audit().ok


def test_a_fork_while_another_thread_is_in_a_transaction(shared: StorageHarness) -> None:
    """The child inherits neither the thread's locks nor its half of a transaction."""
    campaign = shared.create("test", **TERMS)
    with Lingering(campaign, 0.3):
        child = started(lambda: (campaign.status(), campaign.tell(campaign.ask(), 1, "0.5")))
    assert ended(child) == 0
    campaign.tell(campaign.ask(), 1, "0.5")
    assert campaign.status().counts["told"] == 2
    assert campaign.audit().ok


def test_what_a_child_was_acknowledged_outlives_its_parent(shared: StorageHarness) -> None:
    """The child goes on after the parent has let go of the storage: neither takes the other's files
    away.
    """
    campaign = shared.create("test", **TERMS)
    (to_parent, from_child), (to_child, from_parent) = os.pipe(), os.pipe()

    def work() -> None:
        campaign.tell(campaign.ask(), 1, "0.5")
        os.write(from_child, b".")
        os.read(to_child, 1)
        for _ in range(5):
            campaign.tell(campaign.ask(), 1, "0.5")

    child = started(work)
    os.read(to_parent, 1)
    campaign.storage.close()
    os.write(from_parent, b".")
    assert ended(child) == 0
    for end in (to_parent, from_child, to_child, from_parent):
        os.close(end)
    assert shared.open("test").status().counts["told"] == 6
    assert shared.open("test").audit().ok


def spend_apart(address: str, results: Any) -> None:
    """What a process does that knows nothing but the address."""
    results.put(spend(Campaign.open("test", storage=address)))


@pytest.mark.parametrize(
    ("kind", "method", "children"),
    [("sqlite", "fork", 3), ("sqlite", "spawn", 1), ("postgres", "fork", 3)],
)
def test_processes_share_a_budget(
    make_harness: Callable[[str], Any], kind: str, method: str, children: int
) -> None:
    harness = make_harness(kind)
    campaign = harness.create("test", **TERMS)
    context: Any = multiprocessing.get_context(method)
    results = context.Queue()
    processes = [
        context.Process(target=spend_apart, args=(harness.address, results))
        for _ in range(children)
    ]
    for process in processes:
        process.start()
    told = [*spend(campaign), *(number for _ in processes for number in results.get(timeout=120))]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    check_books(campaign, told)


def test_memory_is_not_shared_with_a_child(make_harness: Callable[[str], StorageHarness]) -> None:
    campaign = make_harness("memory").create("test", **TERMS)
    assert ended(started(lambda: campaign.tell(campaign.ask(), 1, 1))) == 0
    assert campaign.status().counts["tickets"] == 0
