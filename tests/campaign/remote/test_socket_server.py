from __future__ import annotations

import os
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from purse import InvalidInput, StorageUnavailable
from purse._version import __version__
from purse.campaign.local.campaign import LocalCampaign as Campaign
from purse.campaign.server import client_connection, socket_server
from purse.campaign.server.serve import serve, shown
from purse.campaign.storage.memory import Memory
from purse.campaign.storage.remote.unix_socket import HEADER, frame
from purse.campaign.storage.remote.unix_transport import UnixTransport
from tests.campaign.remote.conftest import LONG, ended, serving, started
from tests.support.campaigns import TERMS
from tests.support.cli import run
from tests.support.soak import scale

SOON = 2.0**40  # by the server's clock


class Raw:
    """A client that sends any bytes."""

    def __init__(self, path: str, *, greets: bool = True) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(LONG)
        self.socket.connect(path)
        if greets:
            assert self.asked(0, "hello", [__version__])[1][0] == __version__

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def asked(self, number: Any, verb: Any, arguments: Any, deadline: Any = SOON) -> Any:
        self.send(frame([number, deadline, verb, arguments]))
        return self.answer()

    def answer(self) -> Any:
        """The next one; None where the server has closed the connection."""
        try:
            head = self.socket.recv(HEADER.size, socket.MSG_WAITALL)
            size = HEADER.unpack(head)[0]
        except (OSError, struct.error):
            return None
        return orjson.loads(self.socket.recv(size, socket.MSG_WAITALL))


@contextmanager
def raw(path: str, **how: Any) -> Iterator[Raw]:
    client = Raw(path, **how)
    try:
        yield client
    finally:
        client.socket.close()


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x00\x00\x00\x05hello",
        b"\x04\x00\x00\x01",
        b"GET / HTTP/1.1\r\n\r\n",
        frame([1, 2, 3]),
        frame({"a": 1, "b": 2, "c": 3, "d": 4}),
        frame(["1", SOON, "names", []]),
        frame([1, "soon", "names", []]),
        frame([1, SOON, ["names"], []]),
        frame([1, SOON, "names", {}]),
    ],
)
@pytest.mark.parametrize("greets", [True, False])
def test_garbage_closes_that_connection_only(path: str, garbage: bytes, greets: bool) -> None:
    other = UnixTransport(path)
    with serving(Memory(), path):
        other.call("names", [])
        with raw(path, greets=greets) as client:
            client.send(garbage)
            assert client.answer() is None
        assert other.call("names", []) == []
        assert len(other._open) == 1
    other.close()


def test_a_client_has_to_greet_first(path: str) -> None:
    with serving(Memory(), path), raw(path, greets=False) as client:
        assert client.asked(1, "names", []) is None


def test_a_frame_may_come_in_pieces_and_several_at_once(path: str) -> None:
    with serving(Memory(), path), raw(path) as client:
        whole = frame([1, SOON, "names", []]) + frame([2, SOON, "names", []])
        for byte in whole:
            client.send(bytes([byte]))
        client.send(whole)
        assert sorted(client.answer() for _ in range(4)) == [[1, []], [1, []], [2, []], [2, []]]


def test_what_cannot_be_done_is_answered_in_one_line(path: str) -> None:
    with serving(Memory(), path), raw(path) as client:
        for verb, arguments, words in (
            ("fly", [], "verb='fly': the server knows no such verb"),
            ("change", ["test"], "verb='change': the server knows no such verb"),
            ("ask", ["test"], "ask: these are not its arguments"),
            ("ask", [], "ask: these are not its arguments"),
            ("tell", ["test", "id", [[1]]], "tell: these are not its arguments"),
            ("overview", [], "the server failed: TypeError"),
            ("overview", [[]], "the server failed: TypeError"),
            ("create", ["test", [1]], "the server failed: ValueError"),
            ("hello", [], "hello: these are not its arguments"),
        ):
            number, nothing, failure = client.asked(7, verb, arguments)
            assert (number, nothing) == (7, None)
            assert words in failure["text"]
            assert "\n" not in failure["text"]


@pytest.mark.parametrize("verb", ["names", "create"])
def test_a_call_past_its_deadline_is_not_done(path: str, verb: str) -> None:
    with serving(Memory(), path), raw(path) as client:
        failure = client.asked(1, verb, ["a", []][: 2 * (verb == "create")], time.monotonic() - 1)
        assert failure[2]["error"] == "StorageUnavailable"
        assert "the deadline passed" in failure[2]["text"]


def test_the_server_admits_only_its_own_user_and_root(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = os.getuid() + 1
    monkeypatch.setattr(client_connection, "peer_user", lambda _: stranger)
    with serving(Memory(), path):
        with pytest.raises(StorageUnavailable, match=f"admits only .* not user {stranger}"):
            UnixTransport(path).call("names", [])
        monkeypatch.setattr(client_connection, "peer_user", lambda _: 0)
        assert UnixTransport(path).call("names", []) == []


def test_a_page_that_is_too_long_comes_in_parts(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = Memory()
    campaign = Campaign.create("test", **TERMS, storage=storage)
    for _ in range(8):
        campaign.tell(campaign.ask(), 1, "0.1")
    expected = [*campaign.journal()]
    monkeypatch.setattr("purse.campaign.storage.remote.unix_socket.MOST_BYTES", 1_200)
    with serving(storage, path):
        remote = Campaign.open("test", storage=f"unix:{path}")
        assert 1 <= len(remote.storage.entries("test", 0, 100)) < len(expected)
        assert [*remote.journal()] == expected
        assert remote.storage.told("test", 0, 100).rows
        with pytest.raises(InvalidInput, match="at most 1,200 fit"):
            remote.tickets(["told"])
        remote.storage.close()


def test_it_stops_when_what_was_begun_is_done(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, begun = Memory(), threading.Event()
    Campaign.create("test", **TERMS, storage=storage)
    remote: list[Campaign] = []
    change, found = storage.change, list[Any]()

    def slowly(*given: Any) -> None:
        begun.set()
        time.sleep(0.3)
        change(*given)

    with serving(storage, path):
        remote.append(Campaign.open("test", storage=f"unix:{path}"))
        monkeypatch.setattr(storage, "change", slowly)
        asking = threading.Thread(target=lambda: found.append(remote[0].ask("a")))
        asking.start()
        begun.wait(LONG)
    assert not os.path.exists(path)
    asking.join(LONG)
    assert found[0].id == 1
    assert storage.overview("test").seq == 2
    remote[0].storage.close()


def test_it_stops_although_a_client_never_reads(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_server, "FLUSH_S", 0.1)
    storage = Memory()
    campaign = Campaign.create("test", **{**TERMS, "budget": 10_000}, storage=storage)
    campaign.ask_many(1000)
    with raw_after(storage, path) as client:
        for number in range(20):
            client.send(frame([number, SOON, "tickets", ["test", ["held"], 0, 1000]]))
        time.sleep(0.2)


@contextmanager
def raw_after(storage: Memory, path: str) -> Iterator[Raw]:
    """A client that stays until its server has stopped."""
    with serving(storage, path):
        client = Raw(path)
        yield client
    client.socket.close()


def test_a_server_of_a_server_is_refused(path: str) -> None:
    with pytest.raises(InvalidInput, match="must be the database's own address"):
        serve(f"unix:{path}", path)


def test_options_of_http_are_refused(
    path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in (["--port", "8000"], ["--tokens", "t"], ["--rate", "5"], ["--host", "::1"]):
        assert run(monkeypatch, "serve", "--socket", path, *option) == 2
        said = f"purse: --socket with {option[0]}: that is about HTTP; leave out one of them\n"
        assert capsys.readouterr().err == said
    assert not os.path.exists(path)


def test_passwords_are_not_shown() -> None:
    assert shown("postgresql://me:secret@host/base?password=secret") == "postgresql://host/base"
    assert shown("sqlite:////tmp/purse.db") == "sqlite:////tmp/purse.db"


class Worker(threading.Thread):
    """A client that asks and tells until it is told to stop, and notes what it was answered."""

    def __init__(self, name: str, address: str) -> None:
        super().__init__()
        self.campaign = Campaign.open("test", storage=address)
        self.label, self.told, self.errors = name, list[int](), list[Exception]()
        self.stopped = threading.Event()

    def run(self) -> None:
        try:
            while not self.stopped.is_set():
                ticket = self.campaign.ask(f"{self.label}-{len(self.told)}")
                self.campaign.tell(ticket, 1, "0.5")
                self.told.append(ticket.id)
        except Exception as error:
            self.errors.append(error)


def until(condition: Any) -> None:
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_server_that_is_killed_loses_nothing_and_does_nothing_twice(
    folder: Path, path: str
) -> None:
    """Killed and started again under clients, beside a process that uses the file itself; then
    stopped with SIGTERM.
    """
    address = f"sqlite:///{folder / 'purse.db'}"
    Campaign.create("test", **{**TERMS, "budget": 100_000}, storage=address)
    server = started(address, path)
    crew = [Worker(str(n), f"unix:{path}") for n in range(3)] + [Worker("direct", address)]
    try:
        for worker in crew:
            worker.start()
        for _ in range(scale(1, 2)):
            before = [len(worker.told) for worker in crew]
            until(lambda: all(len(w.told) > n + 5 for w, n in zip(crew, before, strict=True)))  # noqa: B023
            server.send_signal(signal.SIGKILL)
            server.communicate(timeout=LONG)
            server = started(address, path)
        until(lambda: all(len(w.told) > n + 5 for w, n in zip(crew, before, strict=True)))
        for worker in crew:
            worker.stopped.set()
            worker.join(LONG)
        assert [worker.errors for worker in crew] == [[]] * len(crew)
        server.terminate()
        assert '"stopped"' in ended(server)
    finally:
        with suppress(ProcessLookupError):
            server.kill()
        for worker in crew:
            worker.stopped.set()
        server.communicate(timeout=LONG)
    campaign = Campaign.open("test", storage=address)
    told = [number for worker in crew for number in worker.told]
    assert len(set(told)) == len(told)
    journal = [*campaign.journal(1)]
    assert sorted(told) == sorted(entry.ticket or 0 for entry in journal if entry.kind == "told")
    asked = [entry.request or "" for entry in journal if entry.kind == "asked"]
    assert sorted(asked) == sorted(
        f"{worker.label}-{n}" for worker in crew for n in range(len(worker.told))
    )
    assert not os.path.exists(path)
    assert campaign.audit(full=True).ok
    for worker in crew:
        worker.campaign.storage.close()
    campaign.storage.close()


def test_ctrl_c_finishes_what_was_begun(folder: Path, path: str) -> None:
    address = f"sqlite:///{folder / 'purse.db'}"
    Campaign.create("test", **{**TERMS, "budget": 100_000}, storage=address)
    server = started(address, path)
    worker = Worker("a", f"unix:{path}")
    worker.start()
    until(lambda: len(worker.told) > 5)
    server.send_signal(signal.SIGINT)
    assert '"stopped"' in ended(server)
    server = started(address, path)
    before = len(worker.told)
    until(lambda: len(worker.told) > before + 5)
    worker.stopped.set()
    worker.join(LONG)
    assert worker.errors == []
    server.terminate()
    ended(server)
    worker.campaign.storage.close()
    kept = Campaign.open("test", storage=address)
    assert kept.status().counts["told"] == len(worker.told)
    kept.storage.close()
