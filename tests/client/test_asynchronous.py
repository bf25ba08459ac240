"""Verbs that are awaited: many at once, cancelled ones, and those of a program that ends."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import purse
from purse import AsyncCampaign, Campaign
from purse.asynchronous import _MOST, in_thread
from purse.campaign.storage.connect import in_memory
from tests.support.processes import in_loop
from tests.support.service import LONG, served

TERMS: dict[str, Any] = {
    "arms": {"small": "0.01", "large": "0.05"},
    "budget": "25",
    "policy": "uniform",
}


@pytest.fixture(params=["file", "tcp"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a file, or of a server."""
    if request.param == "file":
        yield f"sqlite:///{tmp_path}/purse.db"
        return
    listens = {"socket": tmp_path / "purse.sock"} if request.param == "socket" else {}
    with served(storage=in_memory(), **listens) as at:
        yield at.url


class Slow:
    """Lets asks go on, after they are done and before they return, when a test wants it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done, self.go_on, real = threading.Event(), threading.Event(), Campaign._ask

        def slow(campaign: Any, *given: Any, **named: Any) -> Any:
            found = real(campaign, *given, **named)
            self.done.set()
            assert self.go_on.wait(LONG)
            return found

        monkeypatch.setattr(Campaign, "_ask", slow)


async def counted(campaign: AsyncCampaign, **wanted: int) -> None:
    """Wait until a campaign has counted so many."""
    until = time.monotonic() + LONG
    while True:
        counts = (await campaign.status()).counts
        if all(counts[name] == number for name, number in wanted.items()):
            return
        assert time.monotonic() < until, counts
        await asyncio.sleep(0.01)


def test_sixty_four_asks_at_once(place: str) -> None:
    async def use() -> None:
        async with await AsyncCampaign.create("prompts", **TERMS, storage=place) as campaign:
            tickets = await asyncio.gather(*(campaign.ask() for _ in range(_MOST)))
            assert sorted(ticket.id for ticket in tickets) == list(range(1, _MOST + 1))
            receipts = await asyncio.gather(
                *(campaign.tell(ticket, 0.5, "0.001") for ticket in tickets)
            )
            assert {receipt.state for receipt in receipts} == {"told"}
            status = await campaign.status()
            assert (status.counts["told"], status.purses[0].held) == (_MOST, "0")
            assert (await campaign.audit(full=True)).ok

    in_loop(use())


def test_an_open_campaign_is_awaited_too(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.campaign.budget.PAGE", 2)
    monkeypatch.setattr("purse.asynchronous.PAGE", 2)
    campaign = Campaign.create("prompts", **TERMS, storage=place)

    async def use() -> None:
        waited = AsyncCampaign(campaign)
        assert (waited.name, repr(waited)) == ("prompts", f"<Async{repr(campaign)[1:]}")
        for _ in range(4):
            await waited.ask()
        assert [entry.seq async for entry in waited.journal()] == [1, 2, 3, 4, 5]
        with pytest.raises(purse.errors.NotFound, match="there is no campaign 'other'"):
            await AsyncCampaign.open("other", storage=place)

    in_loop(use())


def cancelled(
    place: str, monkeypatch: pytest.MonkeyPatch, verb: str, *given: Any, late: bool = False
) -> AsyncCampaign:
    """A campaign of which an ask was cancelled: while it was under way, or `late`, when it was done
    and the event loop was busy.
    """
    campaign = AsyncCampaign(Campaign.create("prompts", **TERMS, storage=place))
    slow = Slow(monkeypatch)

    async def use() -> None:
        task = asyncio.ensure_future(getattr(campaign, verb)(*given))
        if late:
            slow.go_on.set()
            await asyncio.sleep(0)
            assert slow.done.wait(LONG)
            time.sleep(0.1)
        else:
            assert await asyncio.to_thread(slow.done.wait, LONG)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task  # at once, however long the ask takes
        if not late:
            await counted(campaign, held=given[0] if verb == "ask_many" else 1)
        slow.go_on.set()

    in_loop(use())
    return campaign


@pytest.mark.parametrize(
    ("verb", "given", "late"), [("ask", (), False), ("ask_many", (3,), False), ("ask", (), True)]
)
def test_a_cancelled_ask_is_void(
    place: str, monkeypatch: pytest.MonkeyPatch, verb: str, given: tuple[Any, ...], late: bool
) -> None:
    campaign = cancelled(place, monkeypatch, verb, *given, late=late)
    in_loop(counted(campaign, held=0, void=given[0] if given else 1))


def test_a_cancelled_ask_with_a_name_can_be_asked_for_again(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = cancelled(place, monkeypatch, "ask", "mine")
    ticket = in_loop(campaign.ask("mine"))
    assert (ticket.id, ticket.state) == (1, "held")
    in_loop(counted(campaign, tickets=1, void=0))


@pytest.mark.parametrize("how", ["ask", "spending"])
def test_a_cancelled_repeat_leaves_the_ticket_of_the_first(
    place: str, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    campaign = AsyncCampaign(Campaign.create("prompts", **TERMS, storage=place))

    async def repeat() -> None:
        if how == "ask":
            await campaign.ask(request_id="job")
        async with campaign.spending("job"):
            raise AssertionError("it was cancelled before")

    async def use() -> None:
        first = await campaign.ask(request_id="job")
        slow = Slow(monkeypatch)
        for seconds in (0.0, 0.001, 0.01, 0.1):  # before it begins, or while it is under way
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(repeat(), seconds)
        slow.go_on.set()
        await campaign.ask()
        await asyncio.sleep(0.1)  # what a repeat might undo, it undoes now
        await counted(campaign, tickets=2, held=2, void=0)
        receipt = await campaign.tell(first, 1, "0.05")
        assert (receipt.state, receipt.overrun) == ("told", ("0",))

    in_loop(use())


def test_calls_that_wait_keep_no_other_waiting(place: str) -> None:
    async def use() -> None:
        campaign, go_on = await AsyncCampaign.create("p", **TERMS, storage=place), threading.Event()
        busy = [asyncio.ensure_future(in_thread(go_on.wait)) for _ in range(_MOST - 1)]
        others = [asyncio.ensure_future(asyncio.to_thread(go_on.wait)) for _ in range(_MOST)]
        ticket = await asyncio.wait_for(campaign.ask(), LONG)
        await asyncio.wait_for(campaign.tell(ticket, 1, "0.001"), LONG)
        go_on.set()
        await asyncio.gather(*busy, *others)

    in_loop(use())


def test_a_cancelled_call_that_has_not_begun_never_begins() -> None:
    calls: list[int] = []

    def call() -> int:
        calls.append(1)
        return 1

    async def use() -> None:
        go_on = threading.Event()
        blocked = [asyncio.ensure_future(in_thread(go_on.wait)) for _ in range(_MOST)]
        late = asyncio.ensure_future(in_thread(call, calls.append))
        await asyncio.sleep(0)
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        go_on.set()
        await asyncio.wait(blocked)
        await asyncio.gather(*(in_thread(calls.copy) for _ in range(2 * _MOST)))

    in_loop(use())
    assert calls == []


ENDING = """
import asyncio, os, signal, sys, threading, time
from purse.campaign.campaign import Campaign
done, real = threading.Event(), Campaign._ask
def slow(*given, **named):
    found = real(*given, **named)
    done.set()
    time.sleep(0.2)
    return found
Campaign._ask = slow
from purse import AsyncCampaign
async def main():
    campaign = await AsyncCampaign.open("prompts", storage=sys.argv[1])
    asks = [asyncio.ensure_future(campaign.ask()) for _ in range(3)]
    await asyncio.to_thread(done.wait)
    if sys.argv[2] == "cancel":
        [ask.cancel() for ask in asks]
    elif sys.argv[2] == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("place", "how"),
    [("file", "cancel"), ("tcp", "leave"), ("socket", "interrupt")],
    indirect=["place"],
)
def test_the_end_of_a_program_leaves_no_hold(place: str, how: str) -> None:
    """Asks that are on their way when `asyncio.run` ends are cancelled by it."""
    campaign = Campaign.create("prompts", **TERMS, storage=place)
    ended = subprocess.run(
        [sys.executable, "-c", ENDING, place, how], capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == (-signal.SIGINT if how == "interrupt" else 0), ended.stderr
    assert "Exception ignored" not in ended.stderr
    counts = campaign.status().counts
    assert counts["held"] == 0
    assert counts["void"] == counts["tickets"] >= 1


def test_a_child_of_a_fork_has_threads_of_its_own() -> None:
    async def seven() -> int:
        return await in_thread(lambda: 7)

    assert in_loop(seven()) == 7
    child = os.fork()
    if child == 0:
        signal.alarm(int(LONG))
        with suppress(BaseException):
            os._exit(0 if in_loop(seven()) == 7 else 1)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_report_is_made_even_if_it_is_cancelled_before_it_begins() -> None:
    campaign = AsyncCampaign(Campaign.create("prompts", **TERMS, storage=in_memory()))
    free = threading.Event()

    async def use() -> None:
        tickets = [await campaign.ask() for _ in range(3)]
        busy = [asyncio.ensure_future(in_thread(lambda: free.wait(LONG))) for _ in range(_MOST)]
        calls = campaign.settle(tickets[0], "0.001"), campaign.status(), end(tickets[1])
        waiting = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0.05)
        for call in waiting:
            call.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        free.set()
        await asyncio.gather(*busy)
        await counted(campaign, settled=2, held=1)

    async def end(ticket: Any) -> None:
        call = campaign.spending()
        call.ticket = ticket
        call.settle("0.002")
        await call.__aexit__(None, None, None)

    in_loop(use())
    assert campaign.blocking.status().purses[0].spent == "0.003"
