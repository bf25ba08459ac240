from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import apsw
import httpx
import pytest
from served import LONG, served
from service_helpers import HERE, PROMPTS, problem, running, service

from purse import Campaign
from purse.campaign.storage.base import connect
from purse.campaign.storage.memory import Memory
from purse.errors import StorageUnavailable
from purse.service import live_view as feeding
from purse.service.live_view import LiveViews
from purse.service.routes import dashboard
from purse.service.schemas.picture import PICTURE, Picture

TERMS = {**PROMPTS, "name": "prompts"}


def campaign_in(storage: Any, **terms: Any) -> Campaign:
    given: Any = {**TERMS, **terms}
    return Campaign.create(given.pop("name"), **given, storage=storage)


def pull(campaign: Campaign, cost: str = "0.005") -> None:
    campaign.tell(campaign.ask(), 0.5, cost)


def in_a_loop(work: Callable[[], Awaitable[Any]]) -> Any:
    """Run it in another thread: a browser that another test has opened keeps a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work).result(LONG)


class Events:
    """The events of a stream, one after the other."""

    def __init__(self, answer: httpx.Response) -> None:
        self.lines = answer.iter_lines()

    def __next__(self) -> dict[str, Any]:
        for line in self.lines:
            if line.startswith("data:"):
                return dict(json.loads(line[5:]))
        raise StopIteration


@pytest.fixture
def storage() -> Memory:
    return Memory()


def test_a_picture_shows_status_history_and_open_tickets(storage: Memory) -> None:
    now = 1_700_000_000_000
    storage.now = lambda: now
    client = running(storage)
    campaign = Campaign.open("prompts", storage=storage)
    pull(campaign)
    ticket = campaign.ask()
    now += 90_000
    facts = client.get("/campaigns/prompts/picture").json()
    Picture.model_validate(facts)
    assert facts["status"] == json.loads(json.dumps(campaign.status().as_dict()))
    assert facts["history"]["seq"] == facts["status"]["entries"] == 4
    assert facts["history"]["purses"][0]["spent"] == ["0", "0.005"]
    assert [(each["id"], each["age"]) for each in facts["tickets"]] == [(ticket.id, 90.0)]
    assert facts["now"] == now / 1000


def test_the_oldest_open_tickets_are_shown(storage: Memory) -> None:
    client = running(storage)
    Campaign.open("prompts", storage=storage).ask_many(feeding.OLDEST + 20)
    assert [
        each["id"] for each in client.get("/campaigns/prompts/picture").json()["tickets"]
    ] == list(range(1, feeding.OLDEST + 1))


class Spied:
    """A storage that notes from where its journal is read."""

    def __init__(self, inner: Memory) -> None:
        self.inner = inner
        self.read: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def entries(self, name: str, after: int, limit: int) -> Any:
        self.read.append(after)
        return self.inner.entries(name, after, limit)


def test_however_many_look_a_journal_is_read_twice_a_second_and_only_its_end(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = 100.0
    monkeypatch.setattr(feeding.time, "monotonic", lambda: clock)
    campaign = campaign_in(storage)
    pull(campaign)
    spied: Any = Spied(storage)
    feed = LiveViews(spied)
    feed.version("prompts")
    spied.read.clear()
    threads = [threading.Thread(target=feed.version, args=("prompts",)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert spied.read == []
    pull(campaign)
    clock += 0.4
    assert feed.version("prompts").version == (3, 0)
    clock += 0.2
    assert feed.version("prompts").version == (5, 0)
    assert spied.read == [3, 5]


def test_histories_that_nobody_looks_at_are_let_go(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "MOST_KEPT", 2)
    feed = LiveViews(storage)
    for name in ("a", "b", "c"):
        campaign_in(storage, name=name)
        feed.version(name)
    feed.version("b")
    feed.version("a")
    assert list(feed._views) == ["b", "a"]


def test_a_stream_tells_what_is_new_and_otherwise_that_it_lives(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("BEAT", 0.001), ("HEARTBEAT", 3), ("FRESH", 0.0)):
        monkeypatch.setattr(feeding, name, value)
    campaign, feed = campaign_in(storage), LiveViews(storage)

    async def watch() -> list[str]:
        heard, stream = [], feed.events("prompts")
        heard.append(await anext(stream))
        assert feed.viewers == 1
        heard.append(await anext(stream))
        pull(campaign)
        heard.append(await anext(stream))
        feed.close()
        heard.extend([event async for event in stream])
        return heard

    first, alive, second = in_a_loop(watch)
    assert re.fullmatch(r"id: 1\nevent: picture\ndata: \{[^\n]*\}\n\n", first)
    assert alive == ": still here\n\n"
    assert re.fullmatch(r"id: 3\nevent: picture\ndata: \{[^\n]*\}\n\n", second)
    assert feed.viewers == 0


def test_a_ticket_that_becomes_overdue_is_news(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "FRESH", 0.0)
    now = 1_700_000_000_000
    storage.now = lambda: now
    campaign, feed = campaign_in(storage, expires_after=10), LiveViews(storage)
    campaign.ask()
    before = feed.version("prompts")
    now += 11_000
    assert feed.version("prompts").version != before.version


def test_a_stream_ends_after_a_while_and_where_the_storage_does_not_answer(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeding, "BEAT", 0.001)
    monkeypatch.setattr(feeding, "LONGEST", 4)
    campaign_in(storage)
    feed = LiveViews(storage)

    async def events() -> list[str]:
        return [event async for event in feed.events("prompts")]

    assert len(in_a_loop(events)) == 1

    def gone(name: str) -> Any:
        raise StorageUnavailable("gone")

    monkeypatch.setattr(feed, "version", gone)
    assert in_a_loop(events) == []
    assert feed.viewers == 0


def test_what_cannot_be_shown_is_a_problem(
    storage: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = running(storage)
    for route in ("picture", "events"):
        problem(client.get(f"/campaigns/other/{route}"), 404, "no-such-campaign")
        problem(client.get(f"/campaigns/a%20b/{route}"), 400, "invalid-input")
    monkeypatch.setattr(dashboard, "MOST_VIEWERS", 0)
    answer = client.get("/campaigns/prompts/events")
    assert "0 viewers are here already" in problem(answer, 429, "too-many-requests")
    assert answer.headers["Retry-After"] == "10"


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'purse.db'}"


def test_a_viewer_sees_what_happens_and_nobody_waits_for_him(file: str) -> None:
    kept = connect(file)
    campaign = campaign_in(kept)
    with served(storage=file) as at:
        with httpx.stream("GET", f"{at.url}/campaigns/prompts/events", timeout=LONG) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            assert answer.headers["Cache-Control"] == "no-store"
            events = Events(answer)
            assert next(events)["status"]["rounds"] == 0
            begun = time.monotonic()
            for _ in range(20):
                pull(campaign)
            assert time.monotonic() - begun < LONG / 2
            rounds = 0
            while rounds < 20:
                rounds = next(events)["status"]["rounds"]
            assert at.feed.viewers == 1
        ends = time.monotonic() + LONG
        while at.feed.viewers and time.monotonic() < ends:
            pull(campaign)
            time.sleep(0.05)
        assert at.feed.viewers == 0, "whoever leaves is no longer counted"
    kept.close()


def test_a_server_that_stops_ends_its_streams(file: str) -> None:
    kept = connect(file)
    campaign_in(kept)
    with httpx.Client(timeout=LONG) as client:
        with served(storage=file) as at:
            answer = client.send(
                client.build_request("GET", f"{at.url}/campaigns/prompts/events"), stream=True
            )
            events = Events(answer)
            next(events)
        with pytest.raises(StopIteration):  # a proper end, not a connection that breaks
            next(events)
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


def test_the_example_in_the_documentation_is_a_picture(storage: Memory) -> None:
    Picture.model_validate(PICTURE)
    paths = service(storage).get("/openapi.json").json()["paths"]
    for route, kind in (("picture", "application/json"), ("events", "text/event-stream")):
        operation = paths[f"/campaigns/{{name}}/{route}"]["get"]
        assert operation["summary"]
        assert kind in operation["responses"]["200"]["content"]
        assert {"401", "404", "429", "503"} <= set(operation["responses"])
    assert not [path for path in paths if "dashboard" in path or path == "/"]


FILES = sorted(dashboard.load())


@pytest.mark.parametrize("name", FILES)
def test_files_come_with_their_type_and_a_strict_policy(storage: Memory, name: str) -> None:
    client = service(storage)
    answer = client.get(f"/dashboard/{name}")
    kind = {
        "html": "text/html",
        "css": "text/css",
        "js": "text/javascript",
        "svg": "image/svg+xml",
    }[name.rpartition(".")[2]]
    assert answer.headers["Content-Type"].partition(";")[0] == kind
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    again = client.get(f"/dashboard/{name}", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert not re.search(r"https?://(?!www\.w3\.org/)", answer.text), "nothing comes from elsewhere"


def test_the_page_is_public_and_names_only_files_that_exist(storage: Memory) -> None:
    client = service(storage)
    page = client.get("/")
    assert page.headers["Content-Type"].startswith("text/html")
    assert "Content-Security-Policy" in page.headers
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?![^>]*\ssrc=)", page.text), (
        "the policy would refuse what is written in the page itself"
    )
    named = set(re.findall(r'(?:src|href)="dashboard/([^"]+)"', page.text))
    for name in FILES:
        if name.endswith(".js"):
            named |= set(re.findall(r'from "\./([^"]+)"', client.get(f"/dashboard/{name}").text))
    assert named == {name for name in FILES if name != dashboard.INDEX}
    for other in ("nothing.js", "..%2Ffeed.py", "%2e%2e/feed.py", "__init__.py"):
        problem(client.get(f"{HERE}/dashboard/{other}"), 404, "not-found")
