from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import anyio
import httpx
import pytest

from purse.campaign.storage.sqlite import Memory
from purse.campaign.storage.storage import Storage
from purse.service import threads
from purse.service.app import Service
from purse.service.settings import Settings
from tests.support.processes import in_loop
from tests.support.service import HERE, LONG, PROMPTS, problem

ASKS = 60
AT = "/campaigns/prompts"
READS = (f"{AT}/tickets", f"{AT}/journal", f"{AT}/picture")


class Locked(Storage):
    """A storage whose lock another process holds until `free` is set."""

    def __init__(self) -> None:
        super().__init__(Memory())
        self.free = threading.Event()

    def change(self, *wanted: Any) -> None:
        assert self.free.wait(LONG)
        super().change(*wanted)


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(LONG):
        while not true():
            await anyio.sleep(0.01)


def test_asks_that_wait_for_the_storage_delay_no_reader_and_too_many_are_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(threads, "_MOST_WAITING", ASKS - threads._WRITERS)
    storage = Locked()
    app = Service(Settings(storage=storage))
    answers: list[httpx.Response] = []

    async def main() -> None:
        async with (
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client,
            anyio.create_task_group() as group,
        ):
            assert (await client.post("/campaigns", json=PROMPTS)).status_code == 201

            async def ask() -> None:
                answers.append(await client.post("/campaigns/prompts/asks"))

            try:
                for _ in range(ASKS):
                    group.start_soon(ask)
                waiting = ASKS - threads._WRITERS
                await until(lambda: app.threads.waiting == waiting)
                with anyio.fail_after(LONG):
                    for path in ("/readyz", "/metrics", "/campaigns", "/", AT, *READS):
                        assert (await client.get(path)).status_code == 200, path
                    refused = await client.post("/campaigns/prompts/asks")
                said = problem(refused, 503, "storage-unavailable")
                assert said.startswith("20 requests wait for the storage already")
                assert refused.headers["Retry-After"] == "1"
                assert not answers
            finally:
                storage.free.set()

    in_loop(main())
    assert [answer.status_code for answer in answers] == [200] * ASKS
