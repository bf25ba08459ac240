"""Threads, tasks and processes at once: nothing is overspent, no ticket comes twice, and the
journal holds together.
"""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from purse import BudgetExhausted
from purse.campaign.campaign import Campaign
from purse.errors import BudgetHeld
from tests.support.soak import scale
from tests.support.storages import StorageHarness, balance, counts

TERMS: dict[str, Any] = {
    "arms": {"red": 1, "green": 1},
    "budget": 20,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
}
THREADS = 8


def spend(campaign: Any) -> list[int]:
    """Ask and tell until the budget is gone; return the tickets that were told."""
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


def check_books(campaign: Any, told: list[int]) -> None:
    """All that was told is there, once, and nothing else."""
    # at 0.5 each; the last 0.5 cannot cover a hold of 1
    assert len(set(told)) == len(told) == 39
    assert counts(campaign) == {"tickets": 39, "told": 39}
    assert balance(campaign) == (20 * 10**9, 195 * 10**8, 0, 0, 0, 0)
    audit = campaign.audit()
    assert audit.ok, audit.findings


@pytest.mark.parametrize("apart", [False, True], ids=["one-object", "objects-of-their-own"])
def test_threads_share_a_campaign(harness: StorageHarness, apart: bool) -> None:
    campaign = harness.create("test", **TERMS)
    campaigns = [
        Campaign.open("test", storage=harness.storage()) if apart else campaign
        for _ in range(THREADS)
    ]
    with ThreadPoolExecutor(THREADS) as pool:
        told = [number for numbers in pool.map(spend, campaigns) for number in numbers]
    check_books(campaign, told)


def test_threads_on_levels_of_one_tree(harness: StorageHarness) -> None:
    """Each locks the accounts above it, from the top down, so that nobody waits for ever."""
    harness.account("top", budget=20)
    harness.account("mid", budget=15, account="top")
    above = ["top", "mid", "mid", "top"]
    campaigns = [
        harness.create(f"c{number}", **TERMS, account=name) for number, name in enumerate(above)
    ]
    with ThreadPoolExecutor(len(above)) as pool:
        told = [len(numbers) for numbers in pool.map(spend, campaigns)]
    storage = harness.storage()
    top, mid = (storage.level(name)[-1].balances[0] for name in ("top", "mid"))
    assert top[1:] == (sum(told) * 5 * 10**8, 0, 0, 0, 0)
    assert mid[1:] == ((told[1] + told[2]) * 5 * 10**8, 0, 0, 0, 0)
    assert top.left < 10**9
    audit = campaigns[0].audit()
    assert audit.ok, audit.findings


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
    assert "held" not in counts(campaign)
    assert campaign.audit().ok


def spend_apart(address: str, results: Any) -> None:
    """What a process does that knows nothing but the address."""
    results.put(spend(Campaign.open("test", storage=address)))


@pytest.mark.parametrize(
    ("kind", "method", "children"),
    [("sqlite", "fork", 3), ("sqlite", "spawn", 1), ("postgres", "fork", 3)],
)
def test_processes_share_a_budget(
    make_harness: Callable[[str], StorageHarness], kind: str, method: str, children: int
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
