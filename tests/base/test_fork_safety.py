"""Forks and threads: a child inherits neither locks nor half a transaction nor SQLite's view of a
file. In memory it begins with a copy.
"""

import importlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from purse import Campaign
from purse.base.fork_safety import cached_property
from purse.campaign.storage.sql import ReadRequest
from purse.compiler.jit import _COMPILING
from tests.support.soak import SOAK, scale
from tests.support.storages import MemoryHarness, StorageHarness, counts, kinds

TERMS: dict[str, Any] = {
    "arms": {"red": 1, "green": 1},
    "budget": 10_000,
    "cost_min": "0.1",
    "policy": "exp3.bwk",
}


class Lingering(threading.Thread):
    """A thread that stays in the middle of a transaction until it is let go, or for so many
    seconds.
    """

    def __init__(self, campaign: Any, seconds: float) -> None:
        super().__init__()
        self.campaign, self.seconds = campaign, seconds
        self.inside, self.leave = threading.Event(), threading.Event()

    def run(self) -> None:
        self.campaign.storage.change("test", ReadRequest(), self.linger)

    def linger(self, _: Any) -> None:
        self.inside.set()
        self.leave.wait(self.seconds)

    def __enter__(self) -> None:
        self.start()
        assert self.inside.wait(60)

    def __exit__(self, *_: object) -> None:
        self.leave.set()
        self.join()


def started(work: Callable[[], Any], seconds: int = 100) -> int:
    """A plain fork that does something, and ends with 0 if it went well; it does not hang for
    ever.
    """
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def pair(campaign: Any) -> None:
    campaign.tell(campaign.ask(), 1, "0.5")


def test_readers_wait_for_no_writer(shared: StorageHarness) -> None:
    campaign = shared.create("test", **TERMS)
    campaign.ask()
    other = Campaign.open("test", storage=shared.storage())
    with Lingering(campaign, 60):
        for reader in (campaign, other):
            assert counts(reader)["held"] == 1
            assert len(reader.tickets()) == 1
            assert kinds(reader) == ["created", "asked"]


def test_a_fork_goes_on_with_the_same_campaign(shared: StorageHarness) -> None:
    campaign = shared.create("test", **TERMS)
    pair(campaign)

    def work() -> None:
        campaign.tell(campaign.ask("child"), 1, "0.5")
        assert counts(campaign)["told"] == 2

    assert ended(started(work)) == 0
    pair(campaign)
    assert campaign.ask("child").id == 2
    assert counts(campaign)["told"] == 3
    assert campaign.audit().ok


def test_a_fork_while_another_thread_is_in_a_transaction(harness: StorageHarness) -> None:
    """The child inherits neither the thread's locks nor its half of a transaction."""
    campaign = harness.create("test", **TERMS)
    with Lingering(campaign, 0.3):
        child = started(lambda: (kinds(campaign), pair(campaign)))
    assert ended(child) == 0
    pair(campaign)
    assert counts(campaign)["told"] == (1 if isinstance(harness, MemoryHarness) else 2)
    assert campaign.audit().ok


def test_what_a_child_was_acknowledged_outlives_its_parent(shared: StorageHarness) -> None:
    """The child goes on after the parent has let go of the storage: neither takes the other's files
    away.
    """
    campaign = shared.create("test", **TERMS)
    (to_parent, from_child), (to_child, from_parent) = os.pipe(), os.pipe()

    def work() -> None:
        pair(campaign)
        os.write(from_child, b".")
        os.read(to_child, 1)
        for _ in range(5):
            pair(campaign)

    child = started(work)
    os.read(to_parent, 1)
    campaign.storage.close()
    os.write(from_parent, b".")
    assert ended(child) == 0
    for end in (to_parent, from_child, to_child, from_parent):
        os.close(end)
    assert counts(shared.open("test"))["told"] == 6
    assert shared.open("test").audit().ok


def test_memory_is_a_copy_in_a_child(make_harness: Callable[[str], StorageHarness]) -> None:
    campaign = make_harness("memory").create("test", **TERMS)
    pair(campaign)

    def work() -> None:
        assert campaign.ask("child").id == 2
        pair(campaign)
        assert counts(campaign) == {"tickets": 3, "told": 2, "held": 1}
        assert campaign.audit().ok

    assert ended(started(work)) == 0
    assert counts(campaign) == {"tickets": 1, "told": 1}
    assert campaign.ask("parent").id == 2
    assert campaign.audit().ok


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_forks_while_threads_work_without_a_pause(
    make_harness: Callable[[str], StorageHarness], kind: str
) -> None:
    """Whatever the threads were doing at a fork, the child finds whole transactions, and parent
    and child go on.
    """
    harness, terms = make_harness(kind), {**TERMS, "budget": 10**6}
    for turn in range(scale(1, 10)):  # anew: journals grow as long as children audit them
        fork_amid_work([harness.create(f"test-{turn}-{k}", **terms) for k in range(3)])


def fork_amid_work(campaigns: list[Any]) -> None:
    """Fork three times while a thread works on each campaign."""
    pair(campaigns[0])
    over, errors = threading.Event(), list[BaseException]()

    def work(mine: Any) -> None:
        try:
            while not over.is_set():
                pair(mine)
        except BaseException as error:  # told to the test
            errors.append(error)

    def check() -> None:
        for each in campaigns:
            pair(each)
            assert each.audit().ok

    threads = [threading.Thread(target=work, args=(each,)) for each in campaigns]
    for thread in threads:
        thread.start()
    children = [ended(started(check)) for _ in range(3)]
    over.set()
    for thread in threads:
        thread.join()
    assert (set(children), errors) == ({0}, [])
    for each in campaigns:
        assert each.audit().ok


def test_a_child_can_import_what_a_thread_of_the_parent_imported_at_the_fork(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_module.py").write_text("import time\nbegun.set()\ntime.sleep(0.2)\n")
    monkeypatch.syspath_prepend(tmp_path)
    begun = threading.Event()
    monkeypatch.setattr("builtins.begun", begun, raising=False)
    thread = threading.Thread(target=lambda: importlib.import_module("slow_module"))
    thread.start()
    assert begun.wait(10)
    child = started(lambda: importlib.import_module("slow_module"), seconds=5)
    thread.join()
    assert ended(child) == 0


def test_a_child_computes_what_a_thread_of_the_parent_computed_at_the_fork() -> None:
    begun, finish = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, waits: bool) -> None:
            self.waits = waits

        @cached_property
        def value(self) -> int:
            if self.waits:
                begun.set()
                finish.wait(10)
            return 1

    thread = threading.Thread(target=lambda: Slow(True).value)
    thread.start()
    assert begun.wait(10)
    child = started(lambda: Slow(False).value, seconds=5)
    finish.set()
    thread.join()
    assert ended(child) == 0


FIRST_ASKS = """
import os, sys, threading, time
import purse
from purse.engine import steps
steps._PATIENCE_S = 0.0  # what is asked of is compiled at once
POLICIES = ["exp3.bwk", "ucb-bv1", "kube"]
def ask(number, policy):
    campaign = purse.Campaign.create(
        f"c{number}", arms={"a": 1, "b": 1}, budget=100, cost_min=1, policy=policy,
        storage=f"memory:{threading.get_ident()}")
    for _ in range(3):
        campaign.tell(campaign.ask(), 1, 1)
def asks():
    for number in range(10**9):
        ask(number, POLICIES[number % 3])
for _ in range(4):
    threading.Thread(target=asks, daemon=True).start()
for number in range(int(sys.argv[1])):
    time.sleep(number % 7 / 100)
    child = os.fork()
    if child == 0:
        import signal
        signal.alarm(60)
        ask("child", POLICIES[number % 3])
        os._exit(0)
    if status := os.waitpid(child, 0)[1]:
        print(f"child {number} ended with {os.waitstatus_to_exitcode(status)}")
        break
os._exit(0)
"""


@pytest.mark.skipif(not SOAK, reason="200 forks take minutes")
def test_forks_while_threads_ask_for_the_first_time() -> None:
    """They import and compile, and so do the children."""
    run = subprocess.run(
        [sys.executable, "-c", FIRST_ASKS, "200"], capture_output=True, text=True, timeout=1800
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_a_child_can_compile_whatever_a_thread_of_the_parent_compiled_at_the_fork() -> None:
    compiling, finish = threading.Event(), threading.Event()

    def compile_for_a_while() -> None:
        with _COMPILING:
            compiling.set()
            finish.wait(0.2)

    thread = threading.Thread(target=compile_for_a_while)
    thread.start()
    assert compiling.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if _COMPILING.acquire(timeout=5) else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with _COMPILING:  # and so can the parent
        pass
