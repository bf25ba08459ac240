from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from purse import InvalidInput, NoSuchCampaign, PurseError, StorageUnavailable
from purse._version import __version__
from purse.campaign.server import socket_server
from purse.campaign.storage.memory import Memory
from purse.campaign.storage.remote import unix_connection, unix_transport
from purse.campaign.storage.remote.unix_socket import frame
from purse.campaign.storage.remote.unix_transport import UnixTransport
from tests.campaign.remote.conftest import LONG, serving


def refused(error: type[PurseError], path: str) -> str:
    begun = time.monotonic()
    transport = UnixTransport(path)
    with pytest.raises(error) as caught:
        transport.call("names", [])
    assert time.monotonic() - begun < 5
    assert "\n" not in str(caught.value)
    transport.close()
    return str(caught.value)


def test_calls_and_their_errors(path: str) -> None:
    transport = UnixTransport(path)
    with serving(Memory(), path):
        assert transport.call("names", []) == []
        with pytest.raises(NoSuchCampaign, match="there is no campaign 'a'"):
            transport.call("overview", ["a"])
        assert len(transport._open) == len(transport._idle) == 1
    transport.close()
    assert transport._open == set()


def test_where_no_server_is_it_says_how_to_start_one(path: str) -> None:
    assert f"purse serve --socket {path}" in refused(StorageUnavailable, path)
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    assert "no server listens there" in refused(StorageUnavailable, path)


def test_a_socket_of_another_user_is_refused(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: Any) -> None:
        raise PermissionError

    monkeypatch.setattr(unix_transport, "Connection", connect)
    assert "only the user who started the server" in refused(StorageUnavailable, path)


def test_both_ends_are_of_one_version(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(Memory(), path):
        monkeypatch.setattr(socket_server, "__version__", "9.8.7")
        assert "the server there is purse 9.8.7" in refused(InvalidInput, path)
        # a server that does not look: the client does
        monkeypatch.setattr(socket_server, "different_versions", lambda *_: None)
        assert "the server there is purse 9.8.7" in refused(InvalidInput, path)


def test_a_client_talks_only_to_its_own_user_or_root(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Memory(), path):
        monkeypatch.setattr(unix_connection, "peer_user", lambda _: os.getuid() + 1)
        assert f"belongs to user {os.getuid() + 1}" in refused(StorageUnavailable, path)
        monkeypatch.setattr(unix_connection, "peer_user", lambda _: 0)
        assert UnixTransport(path).call("names", []) == []


def test_a_client_that_reconnects_refuses_another_database(path: str) -> None:
    transport = UnixTransport(path)
    first = Memory()
    with serving(first, path):
        transport.call("names", [])
    with (
        serving(Memory(), path),
        pytest.raises(StorageUnavailable, match="has another database than before"),
    ):
        transport.call("names", [])
    with serving(first, path):
        assert transport.call("names", []) == []
    transport.close()


def test_a_client_waits_for_a_server_that_is_started_again(path: str) -> None:
    transport, storage = UnixTransport(path), Memory()
    with serving(storage, path):
        transport.call("names", [])
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(transport.call("names", [])))
    waiting.start()
    time.sleep(0.2)
    assert waiting.is_alive()
    with serving(storage, path):
        waiting.join(LONG)
    assert found == [[]]
    transport.close()


def test_a_client_gives_up_at_its_deadline(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    transport = UnixTransport(path)
    with serving(Memory(), path):
        transport.call("names", [])
    monkeypatch.setattr(unix_transport, "TIMEOUT_S", 0.3)
    begun = time.monotonic()
    with pytest.raises(StorageUnavailable, match="No such file or directory"):
        transport.call("names", [])
    assert time.monotonic() - begun < 5


class Scripted:
    """A server that says what it was told to, once for each connection."""

    def __init__(self, path: str, *scripts: Callable[[socket.socket], Any]) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.thread = threading.Thread(target=self.run, args=(scripts,))
        self.thread.start()

    def run(self, scripts: Any) -> None:
        for script in scripts:
            end, _ = self.listener.accept()
            with end:
                script(end)
        self.listener.close()


def answered(*answers: bytes) -> Callable[[socket.socket], None]:
    """Greets, reads a call and answers it with these bytes."""

    def script(end: socket.socket) -> None:
        end.recv(1000)
        end.sendall(frame([1, [__version__, "id", time.monotonic()]]))
        end.recv(1000)
        for answer in answers:
            end.sendall(answer)
            time.sleep(0.02)

    return script


GOOD = frame([2, ["a"]])


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        GOOD[:2],
        GOOD[:-1],
        frame([3, ["a"]]),
        frame({}),
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x01x",
    ],
)
def test_a_call_whose_answer_is_lost_or_garbled_is_sent_again(path: str, bad: bytes) -> None:
    server = Scripted(path, answered(bad), answered(GOOD))
    transport = UnixTransport(path)
    assert transport.call("names", []) == ["a"]
    server.thread.join(LONG)
    transport.close()


def test_an_answer_may_come_in_pieces(path: str) -> None:
    server = Scripted(path, answered(GOOD[:2], GOOD[2:5], GOOD[5:]))
    transport = UnixTransport(path)
    assert transport.call("names", []) == ["a"]
    server.thread.join(LONG)
    transport.close()


def test_a_slow_server_is_waited_for_until_the_deadline(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unix_transport, "TIMEOUT_S", 0.3)
    gone = threading.Event()
    server = Scripted(path, lambda end: (answered()(end), gone.wait(LONG)))
    transport = UnixTransport(path)
    with pytest.raises(StorageUnavailable, match=r"has not answered for 0\.3 seconds"):
        transport.call("names", [])
    assert transport._open == set()
    gone.set()
    server.thread.join(LONG)


def test_a_call_that_is_too_long_leaves_the_connection_as_it_is(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = UnixTransport(path)
    with serving(Memory(), path):
        transport.call("names", [])
        with monkeypatch.context() as patch:
            patch.setattr("purse.campaign.storage.remote.unix_socket.MOST_BYTES", 10)
            with pytest.raises(InvalidInput, match="at most 10 fit"):
                transport.call("names", [])
        assert transport.call("names", []) == []
        assert len(transport._open) == 1
    transport.close()


def test_threads_have_connections_of_their_own(path: str) -> None:
    transport, found = UnixTransport(path), list[int]()

    def work() -> None:
        for _ in range(50):
            found.append(transport.call("now", []))

    with serving(Memory(), path):
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        assert len(found) == 400
        assert 1 <= len(transport._open) <= 8
    transport.close()


def test_a_child_process_has_connections_of_its_own(path: str) -> None:
    transport = UnixTransport(path)
    with serving(Memory(), path):
        transport.call("names", [])
        child = os.fork()
        if child == 0:
            begun = not transport._open and not transport._idle
            answer = transport.call("names", [])
            transport.close()
            os._exit(0 if begun and answer == [] else 1)
        for _ in range(20):
            assert transport.call("names", []) == []
        assert os.waitpid(child, 0)[1] == 0
        assert transport.call("names", []) == []
        assert len(transport._open) == 1
    transport.close()
