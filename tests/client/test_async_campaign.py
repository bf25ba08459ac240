"""The twin for coroutines, on a server and in threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from purse.client.async_connection import AsyncConnection

import purse
from purse import AsyncCampaign, Campaign
from purse.campaign.storage.connect import in_memory
from tests.client.test_parity import ROOM, TERMS
from tests.support.server import Served


@pytest.fixture(params=["server", "threads"])
def place(request: pytest.FixtureRequest, at: Served) -> Any:
    """An address, or a storage of this process."""
    return at.url if request.param == "server" else in_memory()


def run(use: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine where no event loop runs: a browser's test may have left one here."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(lambda: asyncio.run(use())).result()


def test_fifty_asks_at_once(place: Any) -> None:
    async def use() -> None:
        async with await AsyncCampaign.create("prompts", **TERMS, storage=place) as campaign:
            tickets = await asyncio.gather(*(campaign.ask() for _ in range(50)))
            assert sorted(ticket.id for ticket in tickets) == list(range(1, 51))
            receipts = await asyncio.gather(
                *(campaign.tell(ticket, 0.5, "0.001") for ticket in tickets)
            )
            assert {receipt.state for receipt in receipts} == {"told"}
            status = await campaign.status()
            assert (status.counts["told"], status.purses[0].held) == (50, "0")
            assert (await campaign.audit(full=True)).ok

    run(use)


def test_every_verb_is_done(place: Any, tmp_path: Path) -> None:
    async def use() -> None:
        campaign = await AsyncCampaign.create("prompts", **TERMS, **ROOM, storage=place)
        assert await AsyncCampaign.names(storage=place) == ["prompts"]
        async with await AsyncCampaign.open("prompts", storage=place) as other:
            assert other.name == "prompts"
        assert sum((await campaign.probabilities(arms=["small"])).values()) == 1
        one, two, three, four = await campaign.ask_many(4, "batch")
        assert one == (await campaign.ask_many(4, request_id="batch"))[0]
        good, bad = await campaign.tell_many([(one, 1, "0.001"), (99, 1, 1)])
        assert isinstance(good, tuple)
        assert isinstance(bad, purse.errors.TicketError)
        assert (await campaign.settle(two, "0.001")).state == "settled"
        assert (await campaign.reward(two, 0.5)).state == "told"
        assert (await campaign.fail(three, reason="down")).state == "failed"
        assert (await campaign.void(four)).state == "void"
        assert (await campaign.top_up(1)).purses[0].budget == "26"
        assert (await campaign.add_arm("medium", cost_max="0.03")).arms[-1] == "medium"
        assert (await campaign.set_arm("medium", cost_max="0.02")).arms[-1] == "medium"
        assert (await campaign.retire_arm("medium")).retired == ("medium",)
        assert (await campaign.pause()).status == "paused"
        with pytest.raises(purse.errors.CampaignPaused):
            await campaign.ask()
        assert (await campaign.resume()).status == "running"
        assert await campaign.expire() == 0
        labelled = await campaign.ask(labels={"tenant": "x"})
        assert [each.held for each in await campaign.labels()] == [labelled.held]
        await campaign.void(labelled)
        assert [each.id for each in await campaign.tickets(["told"], after=1)] == [2]
        assert (await campaign.ticket(4)).state == "void"
        entries = [entry.seq async for entry in campaign.journal(after=2)]
        assert entries == list(range(3, (await campaign.status()).entries + 1))
        assert await campaign.export(tmp_path / "export.jsonl") == entries[-1]
        copy = await AsyncCampaign.restore(tmp_path / "export.jsonl", storage=in_memory())
        assert (await copy.audit()).digest == (await campaign.audit()).digest
        assert (await campaign.end()).status == "ended"
        await campaign.close()

    run(use)


def test_pages_of_a_journal(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.client.verbs.records.PAGE_SIZE", 2)

    async def use() -> None:
        async with await AsyncCampaign.create("prompts", **TERMS, storage=place) as campaign:
            for _ in range(4):
                await campaign.ask()
            assert [entry.seq async for entry in campaign.journal()] == [1, 2, 3, 4, 5]

    run(use)


def test_errors_are_those_of_a_campaign(at: Served) -> None:
    async def use() -> None:
        with pytest.raises(purse.errors.NotFound, match="there is no campaign 'other'"):
            await AsyncCampaign.open("other", storage=at.url)
        async with await AsyncCampaign.create("prompts", **TERMS, storage=at.url) as campaign:
            assert repr(campaign) == f"<AsyncCampaign 'prompts' at {at.url}>"
        with pytest.raises(purse.InvalidInput, match="token: must be left out"):
            await AsyncCampaign.open("prompts", storage="memory:", token="purse_secret")
        with pytest.raises(purse.InvalidInput, match="nonsense"):
            await AsyncCampaign.create("more", **TERMS, nonsense=1, storage=at.url)
        with pytest.raises(TypeError, match="nonsense"):
            await AsyncCampaign.create("more", **TERMS, nonsense=1, storage="memory:")

    run(use)


def test_a_lost_answer_is_asked_for_again(at: Served) -> None:
    Campaign.create("prompts", **TERMS, storage=at.url)

    class Losing(httpx.AsyncBaseTransport):
        def __init__(self) -> None:
            self.wire = httpx.AsyncHTTPTransport()
            self.lost = 2

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await self.wire.handle_async_request(request)
            await answer.aread()
            if self.lost and request.method == "POST":
                self.lost -= 1
                raise httpx.ReadError("cut", request=request)
            return answer

        async def aclose(self) -> None:
            await self.wire.aclose()

    async def use() -> None:
        losing = Losing()
        connection = AsyncConnection(at.url, transport=losing)
        async with await AsyncCampaign.open("prompts", storage=connection) as campaign:
            assert (await campaign.ask()).id == 1
            assert (await campaign.status()).counts["tickets"] == 1
        assert losing.lost == 0

    run(use)
