"""Exceptions that signals raise (Ctrl-C, `signal.alarm`, soft time limits): wherever they come,
no lock stays behind and nobody waits for what is gone.
"""

import _thread
import dis
import gc
import re
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from itertools import count
from types import CodeType, FrameType
from typing import Any

import pytest

from purse import Campaign
from tests.support.soak import SOAK
from tests.support.storages import StorageHarness

# the files that take and give back locks and connections, ours and Python's
WATCHED = ("campaign/run/committer.py", *(f"storage/{name}.py" for name in (
    "connection_pool", "file_identity", "file_lock", "postgres", "sqlite", "sqlite_file", "storage"
)), "contextlib.py", "threading.py")  # fmt: skip
# the functions that do, which the short form looks at, and there at each place once
LOCKING = re.compile(r"do|_lead|acquire|_?release|_(take|end)_turn|_take|_give_back|retried")
SIGNAL = signal.SIGUSR1
SOON = 5.0  # seconds within which others have to get on


class Interrupted(BaseException):
    """What the signal raises."""


class Pending:
    """`PENDING[signal]` lets a signal be pending, and nothing is called by it: Python looks for
    signals after each call, and would find it too early.
    """

    __getitem__ = staticmethod(_thread.interrupt_main)


PENDING: Any = Pending()


class Interrupter:
    """Lets a signal come at the n-th place where Python looks for signals in a watched file."""

    def __init__(self, at: int = 0) -> None:
        self.at, self.places = at, 0
        self._seen: set[tuple[CodeType, int]] = set()
        self._codes: dict[CodeType, frozenset[int]] = {}

    def __call__(self, frame: FrameType, _: str, __: Any) -> Any:
        code = frame.f_code
        if not code.co_filename.endswith(WATCHED) or not (SOAK or LOCKING.fullmatch(code.co_name)):
            return None
        if code not in self._codes:
            self._codes[code] = frozenset(
                step.offset
                for step in dis.get_instructions(code)
                if step.opname.startswith(("CALL", "RESUME", "JUMP_BACKWARD"))
            )
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self.count

    def count(self, frame: FrameType, event: str, _: Any) -> Any:
        place = frame.f_code, frame.f_lasti
        if event == "opcode" and place[1] in self._codes[place[0]] and place not in self._seen:
            self.places += 1
            if not SOAK:
                self._seen.add(place)
            if self.places == self.at:
                PENDING[SIGNAL]
        return self.count

    def during(self, work: Callable[[], Any]) -> int:
        """Do the work; return the number of places."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            work()
        finally:
            sys.settrace(before)
        return self.places


@pytest.fixture(autouse=True)
def interrupting() -> Iterator[None]:
    def interrupt(*_: Any) -> None:
        raise Interrupted

    before = signal.signal(SIGNAL, interrupt)
    yield
    signal.signal(SIGNAL, before)


def spend(campaign: Any) -> None:
    campaign.tell(campaign.ask(), 1, 1)
    campaign.status()


def others_get_on(*campaigns: Any) -> list[str]:
    """What keeps other threads from asking: nothing, or an error for each."""
    errors: list[str] = []

    def ask() -> None:
        for campaign in campaigns:
            try:
                campaign.ask()
            except Exception as error:  # told to the test
                errors.append(str(error))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(SOON)
    return errors or ["it waits for ever"] * thread.is_alive()


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of a connection that was just opened
# psycopg ends a pipeline as a generator, which the signal may leave behind
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("kind", ["memory", "sqlite", *["postgres"] * SOAK])
def test_an_interrupt_leaves_nothing_behind(
    make_harness: Callable[[str], StorageHarness], kind: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr("purse.campaign.storage.sqlite_file._LOCK_TIMEOUT_S", 0.5)
    harness = make_harness(kind)
    campaign = harness.create("test", arms={"red": 1}, budget=10**6, policy="uniform")
    other = Campaign.open("test", storage=harness.storage())  # as another process would
    spend(campaign)
    left, places = {}, 0
    for at in count(1):
        interrupter = Interrupter(at)
        with suppress(Interrupted):
            places = interrupter.during(lambda: spend(campaign))
            assert places < at, f"the signal at place {at} was lost"
            break
        if trouble := others_get_on(campaign, other):
            left[at] = trouble
            break  # whoever else comes would wait, too
    assert left == {}
    assert places > 10
    database = campaign.storage.db
    for pool in (getattr(database, name, None) for name in ("_readers", "_writers")):
        assert pool is None or not pool._leases
    assert other.audit().ok
    gc.collect()  # while the warnings of generators left behind are expected


@pytest.mark.parametrize("verb", ["ask", "status"])
def test_a_signal_amid_a_pipeline_is_not_lost(
    make_harness: Callable[[str], StorageHarness], verb: str, monkeypatch: Any
) -> None:
    """psycopg cannot end the pipeline and raises its own error, which looks like a lost connection:
    all would be done again as if no signal had come.
    """
    campaign = make_harness("postgres").create("test", arms={"red": 1}, budget=9, policy="uniform")
    turn, at = count(), -1

    def interrupted(steps: Generator[Any, Any, Any], _: float) -> Any:
        if next(turn) == at:
            raise Interrupted
        return (yield from steps)

    monkeypatch.setattr("purse.campaign.storage.postgres._until", interrupted)
    for number in count():
        turn, at = count(), number
        with suppress(Interrupted):
            getattr(campaign, verb)()
            break
    assert 1 < next(turn) <= at, "a signal was lost"
    at = -1
    assert others_get_on(campaign) == []
    assert campaign.audit().ok
