import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest

from purse import Campaign
from purse.campaign.storage.connect import connect, in_memory
from purse.campaign.storage.storage import Storage
from purse.errors import StorageUnavailable
from purse.service import live_view
from purse.service.live_view import LiveViews, _LiveView
from tests.support.processes import in_loop
from tests.support.service import LONG, PROMPTS, TestClient, problem, running, served, service

TERMS = {**PROMPTS, "name": "prompts"}


def campaign_in(storage: Any, **terms: Any) -> Campaign:
    given: Any = {**TERMS, **terms}
    return Campaign.create(given.pop("name"), **given, storage=storage)


def pull(campaign: Campaign, cost: str = "0.005") -> None:
    campaign.tell(campaign.ask(), 0.5, cost)


def events_of(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    return (json.loads(line[5:]) for line in answer.iter_lines() if line.startswith("data:"))


@pytest.fixture
def storage() -> Storage:
    return in_memory()


def test_a_picture_shows_status_history_and_open_tickets(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_700_000_000_000
    storage.now = lambda: now
    client = running(storage)
    campaign = Campaign.open("prompts", storage=storage)
    pull(campaign)
    now += 20_000
    pull(campaign)
    ticket = campaign.ask()
    now += 30_000
    facts = client.get("/campaigns/prompts/picture").json()
    assert facts["status"] == json.loads(json.dumps(campaign.status().as_dict()))
    assert facts["history"]["seq"] == facts["status"]["entries"] == 6
    assert facts["history"]["purses"][0]["spent"][-1] == "0.01"
    assert [(each["id"], each["age"]) for each in facts["tickets"]] == [(ticket.id, 30.0)]
    assert facts["now"] == now / 1000
    campaign.ask_many(live_view._OLDEST + 20)
    monkeypatch.setattr(live_view, "_FRESH", 0.0)
    oldest = client.get("/campaigns/prompts/picture").json()["tickets"]
    assert [each["id"] for each in oldest] == list(range(3, live_view._OLDEST + 3))
    campaign.fail(campaign.ask(arms=["small"]), 0)
    campaign.retire_arm("small")
    shown = client.get("/campaigns/prompts/picture").json()["status"]
    assert (shown["cooling"], shown["alarms"], shown["retired"]) == ([], [], ["small"])


def test_news_that_no_entry_brings(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ticket becomes overdue; then a period begins."""
    monkeypatch.setattr(live_view, "_FRESH", 0.0)
    now = 1_700_000_000_000
    storage.now = lambda: now
    campaign, views = campaign_in(storage, expires_after=10, every="day"), LiveViews(storage)
    campaign.ask()
    before = views.version("prompts").version
    now += 11_000
    overdue = views.version("prompts").version
    now += 86_400_000
    after = views.version("prompts").version
    assert (before[0], before[3]) == (overdue[0], overdue[3]) == (after[0], 1)
    assert len({before, overdue, after}) == 3
    assert after[3] == 2


def test_what_happens_while_a_picture_is_taken_is_in_the_next_one(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = campaign_in(storage)
    view, read = _LiveView(campaign), campaign.status

    def status() -> Any:
        found = read()
        pull(campaign)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(campaign, "status", status)
        first = view.version()
    monkeypatch.setattr(live_view, "_FRESH", 0.0)
    second = view.version()
    assert first.version != second.version
    assert json.loads(second.body)["status"]["rounds"] == 1


class Spied:
    """A storage that notes from where its journal is read."""

    def __init__(self, inner: Storage) -> None:
        self.inner = inner
        self.read: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def entries(self, name: str, after: int, limit: int) -> Any:
        self.read.append(after)
        return self.inner.entries(name, after, limit)


def test_however_many_look_a_journal_is_read_twice_a_second_and_only_its_end(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)
    campaign = campaign_in(storage)
    pull(campaign)
    spied: Any = Spied(storage)
    views = LiveViews(spied)
    views.version("prompts")
    spied.read.clear()
    threads = [threading.Thread(target=views.version, args=("prompts",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert spied.read == []
    pull(campaign)
    clock += 0.4
    assert views.version("prompts").version == (3, 0, 0, 0, "running")
    clock += 0.2
    assert views.version("prompts").version == (5, 0, 0, 0, "running")
    assert spied.read == [3, 5]


def test_histories_that_nobody_looks_at_are_let_go(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_view, "_VIEW_LIMIT", 2)
    views = LiveViews(storage)
    for name in ("a", "b", "c"):
        campaign_in(storage, name=name)
        views.version(name)
    views.version("b")
    views.version("a")
    assert list(views._views) == ["b", "a"]


def test_a_stream_tells_what_is_new_and_otherwise_that_it_lives(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_BEAT", 0.001), ("_HEARTBEAT", 3), ("_FRESH", 0.0)):
        monkeypatch.setattr(live_view, name, value)
    campaign, views = campaign_in(storage), LiveViews(storage)

    async def watch() -> list[str]:
        heard, stream = [], views.events("prompts")
        heard.append(await anext(stream))
        assert views.viewers == 1
        heard.append(await anext(stream))
        pull(campaign)
        heard.append(await anext(stream))
        views.close()
        heard.extend([event async for event in stream])
        return heard

    first, alive, second = in_loop(watch())
    assert re.fullmatch(r"id: 1\nevent: picture\ndata: \{[^\n]*\}\n\n", first)
    assert alive == ": still here\n\n"
    assert re.fullmatch(r"id: 3\nevent: picture\ndata: \{[^\n]*\}\n\n", second)
    assert views.viewers == 0


def test_streams_end(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the token is revoked, when too many look, after a while, and without a storage."""
    monkeypatch.setattr(live_view, "_BEAT", 0.001)
    campaign, views = campaign_in(storage), LiveViews(storage)
    allowed = [True, True]

    async def until_revoked() -> list[str]:
        heard = []
        async for event in views.events("prompts", lambda: bool(allowed and allowed.pop())):
            heard.append(event)
            pull(campaign)
        return heard

    async def two() -> list[str]:
        first, second = views.events("prompts"), views.events("prompts")
        heard = [await anext(first), *[event async for event in second]]
        views.close()
        return [*heard, *[event async for event in first]]

    async def events() -> list[str]:
        return [event async for event in views.events("prompts")]

    def gone(name: str, span: str) -> Any:
        raise StorageUnavailable("gone")

    assert len(in_loop(until_revoked())) <= 2
    assert allowed == []
    with monkeypatch.context() as patch:
        patch.setattr(live_view, "VIEWER_LIMIT", 1)
        assert len(in_loop(two())) == 1
    views.closed = False
    monkeypatch.setattr(live_view, "_LONGEST", 4)
    assert len(in_loop(events())) == 1
    monkeypatch.setattr(views, "version", gone)
    assert in_loop(events()) == []
    assert views.viewers == 0


def test_too_many_viewers_are_told_when_to_come_again(
    untouched: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_view, "VIEWER_LIMIT", 0)
    answer = untouched.get("/campaigns/prompts/events")
    assert "0 viewers are here already" in problem(answer, 429, "too-many-requests")
    assert answer.headers["Retry-After"] == "10"


def test_one_token_cannot_take_the_streams_of_all(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_view, "TOKEN_VIEWER_LIMIT", 2)
    campaign_in(storage)
    views = LiveViews(storage)

    async def heard() -> list[int]:
        streams = [views.events("prompts", sender=name) for name in ("ann", "ann", "ann", "bob")]
        events = [await anext(stream, None) for stream in streams]
        assert views.is_full("ann")
        assert not views.is_full("bob")
        for stream in streams:
            await stream.aclose()  # type: ignore[attr-defined]
        return [event is not None for event in events]

    assert in_loop(heard()) == [True, True, False, True]
    assert views.viewers == 0


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'purse.db'}"


def test_a_viewer_sees_what_happens_and_nobody_waits_for_him(file: str) -> None:
    kept = connect(file)
    campaign = campaign_in(kept)
    client = httpx.Client(timeout=LONG)
    with served(storage=file) as at:
        with client.stream("GET", f"{at.url}/campaigns/prompts/events") as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            assert answer.headers["Cache-Control"] == "no-store"
            events = events_of(answer)
            assert next(events)["status"]["rounds"] == 0
            begun = time.monotonic()
            for _ in range(20):
                pull(campaign)
            assert time.monotonic() - begun < LONG / 2
            rounds = 0
            while rounds < 20:
                rounds = next(events)["status"]["rounds"]
            assert at.views.viewers == 1
        ends = time.monotonic() + LONG
        while at.views.viewers and time.monotonic() < ends:
            pull(campaign)
            time.sleep(0.05)
        assert at.views.viewers == 0, "whoever leaves is no longer counted"
        last = client.send(
            client.build_request("GET", f"{at.url}/campaigns/prompts/events"), stream=True
        )
        events = events_of(last)
        next(events)
    list(events)  # a server that stops ends its streams properly: no connection breaks
    client.close()
    kept.close()


def test_no_lock_of_a_writer_keeps_a_picture_from_being_made(file: str) -> None:
    kept = connect(file)
    campaign = campaign_in(kept)
    pull(campaign)
    client = service(kept)
    writer = apsw.Connection(file.removeprefix("sqlite:///"))
    writer.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    assert client.get("/campaigns/prompts/picture").json()["status"]["rounds"] == 1
    assert client.get("/").status_code == 200
    assert time.monotonic() - begun < LONG / 2  # a lock is waited for much longer
    writer.execute("ROLLBACK")
    writer.close()
    kept.close()
