from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pytest

from purse.campaign import group_commit, operations
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.operations import OPERATIONS, Operation
from purse.campaign.server import commit_queues
from purse.campaign.server.commit_queues import Call, CommitQueue, CommitQueues, answer
from purse.campaign.storage.memory import Memory
from purse.campaign.storage.remote.unix_socket import HEADER
from tests.support.campaigns import TERMS

SOON, LATE = 60.0, -60.0


def made(storage: Memory, name: str = "test") -> Campaign:
    return Campaign.create(name, **TERMS, storage=storage)


def call(number: int = 1, left: float = SOON) -> Call:
    return Call("client", number, time.monotonic() + left)


def queued(campaign: Campaign, *waiting: tuple[Call, Operation]) -> CommitQueue:
    queue = CommitQueue(campaign.name, campaign.terms.id)
    queue.waiting.extend(waiting)
    return queue


def said(found: bytes) -> Any:
    return orjson.loads(found[HEADER.size :])


def committed(queue: CommitQueue, storage: Any) -> list[Any]:
    return [said(found) for _, found in queue.commit(storage)]


def test_what_waits_shares_a_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Memory()
    campaign = made(storage)
    queue = queued(campaign, *((call(n), operations.ask(1, str(n))) for n in range(5)))
    queue.waiting.append((call(5), operations.tell([[9, [1.0], [1]]])))
    changes: list[int] = []
    change = storage.change
    monkeypatch.setattr(storage, "change", lambda *given: (changes.append(1), change(*given))[1])
    found = committed(queue, storage)
    assert [number for number, *_ in found] == [0, 1, 2, 3, 4, 5]
    assert [answer[1][0][0] for answer in found[:5]] == [1, 2, 3, 4, 5]
    assert found[5][1][0]["error"] == "TicketError"
    assert len(changes) == 1


def test_a_transaction_takes_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Memory()
    monkeypatch.setattr(commit_queues, "MAX_BATCH", 2)
    queue = queued(made(storage), *((call(n), operations.expire()) for n in range(3)))
    assert committed(queue, storage) == [[0, 0], [1, 0]]
    assert committed(queue, storage) == [[2, 0]]


def test_what_is_past_its_deadline_is_not_done() -> None:
    storage = Memory()
    campaign = made(storage)
    waiting = ((call(1, LATE), operations.ask(1, "a")), (call(2), operations.ask(1, "b")))
    late, done = committed(queued(campaign, *waiting), storage)
    assert late[2]["error"] == "StorageUnavailable"
    assert "the deadline passed" in late[2]["text"]
    assert done[1][0][0] == 1
    assert [entry.request for entry in campaign.journal(1)] == ["b"]
    # all of them
    assert committed(queued(campaign, waiting[0]), storage)[0][2]["error"] == "StorageUnavailable"


def test_deadlines_count_after_the_policy_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have to be compiled first."""
    storage = Memory()
    campaign = made(storage)
    recovered = group_commit.GroupCommitter.recovered

    def slowly(self: Any) -> Any:
        time.sleep(0.1)
        return recovered(self)

    monkeypatch.setattr(group_commit.GroupCommitter, "recovered", slowly)
    queue = queued(campaign, (call(1, 0.05), operations.ask(1, "a")))
    assert committed(queue, storage)[0][2]["error"] == "StorageUnavailable"
    assert campaign.status().entries == 1


def test_a_campaign_that_is_not_there_is_looked_for_again() -> None:
    storage = Memory()
    queue = CommitQueue("test", "0" * 16)
    queue.waiting.append((call(), operations.expire()))
    assert committed(queue, storage)[0][2]["error"] == "NoSuchCampaign"
    campaign = made(storage)
    queue = queued(campaign, (call(), operations.expire()))
    assert committed(queue, storage) == [[1, 0]]
    assert queue.committer is not None
    del storage._campaigns["test"]
    queue.waiting.append((call(), operations.expire()))
    assert committed(queue, storage)[0][2]["error"] == "NoSuchCampaign"
    assert queue.committer is None


def test_a_mistake_is_the_answer_to_it_alone(caplog: pytest.LogCaptureFixture) -> None:
    storage = Memory()
    wrong = OPERATIONS["tell"]([[1, 0.5, 7]])
    queue = queued(made(storage), (call(1), operations.ask(1, "a")), (call(2), wrong))
    asked, failed = committed(queue, storage)
    assert asked[1][0][0] == 1
    assert failed[2]["error"] == "PurseError"
    assert "the server failed" in failed[2]["text"]
    assert "failed" in caplog.text


def test_an_answer_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.campaign.storage.remote.unix_socket.MOST_BYTES", 200)
    assert said(answer(call(), "a" * 300))[2]["error"] == "InvalidInput"


def test_campaigns_that_were_not_used_for_longest_are_let_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(commit_queues, "MOST_CAMPAIGNS", 2)
    storage = Memory()
    campaigns = {name: made(storage, name) for name in "abc"}

    async def play() -> list[list[str]]:
        answers: asyncio.Queue[Any] = asyncio.Queue()
        queues = CommitQueues(storage, answers.put_nowait)
        kept = []
        for name in "abacb":
            queues.add(name, campaigns[name].terms.id, call(), operations.expire())
            assert said((await answers.get())[0][1]) == [1, 0]
            kept.append([known for known, _ in queues._queues])
        # busy ones stay
        for queue in queues._queues.values():
            queue.is_busy = True
        queues.add("a", campaigns["a"].terms.id, call(), operations.expire())
        await answers.get()
        kept.append([known for known, _ in queues._queues])
        queues.threads.shutdown()
        return kept

    with ThreadPoolExecutor(1) as thread:  # a browser of other tests may run a loop in this one
        played = thread.submit(lambda: asyncio.run(play())).result()
    assert [*map("".join, played)] == ["a", "ab", "ba", "ac", "cb", "cba"]
