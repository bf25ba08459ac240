from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import httpx
import pytest

from purse.campaign.storage.connect import in_memory
from purse.service import connections
from tests.support.server import LONG, Served, served
from tests.support.service import PROMPTS
from tests.support.sockets import all_of

SOON = 0.3  # seconds
HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /campaigns HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), LONG) as line:
        yield line


def answer(line: socket.socket) -> bytes:
    """The answer to a request for /healthz, on a connection that stays."""
    parts = b""
    while not parts.endswith(b'{"status":"ok"}'):
        part = line.recv(65536)
        assert part, parts
        parts += part
    return parts


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", 10 * LONG)


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """One for all; what a test sets holds for connections that are made afterwards."""
    with served(storage=in_memory()) as at:
        yield at


BEGUN = {
    "silent": b"",
    "method": b"GET",
    "headers": HEAD,
    "half a header": HEAD + b"X-Half: hal",
    "no body": POST + b"Content-Length: 100\r\n\r\n",
    "half a body": POST + b'Content-Length: 100\r\n\r\n{"name": ',
    "chunk": CHUNKED + b"5\r\n12",
}
AFTER_AN_ANSWER = {"empty line": b"\r\n", "method": b"GET /hea"}


def test_a_connection_without_a_complete_request_is_closed(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them at once, so that they take no longer than one."""
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", SOON)
    lines = {}
    with ExitStack() as stack:
        for kind, begun in BEGUN.items():
            lines[kind] = stack.enter_context(connected(server.port))
            lines[kind].sendall(begun)
        assert {kind: all_of(line) for kind, line in lines.items()} == dict.fromkeys(BEGUN, b"")


def test_a_connection_that_falls_silent_after_an_answer_is_closed(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", SOON)
    lines = {}
    with ExitStack() as stack:
        for kind, begun in AFTER_AN_ANSWER.items():
            lines[kind] = line = stack.enter_context(connected(server.port))
            line.sendall(HEAD + b"\r\n")
            answer(line)
            line.sendall(begun)
        heard = {kind: all_of(line) for kind, line in lines.items()}
    assert heard == dict.fromkeys(AFTER_AN_ANSWER, b"")


def test_a_stream_outlives_the_time_that_a_request_may_take(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "REQUEST_TIMEOUT_S", SOON)
    monkeypatch.setattr("purse.service.live_view.BEAT", 2 * SOON)
    monkeypatch.setattr("purse.service.live_view.HEARTBEAT", 1)
    with httpx.Client(base_url=server.url, timeout=LONG) as web:
        assert web.post("/campaigns", json=PROMPTS).status_code == 201
        with web.stream("GET", "/campaigns/prompts/events") as events:
            parts = events.iter_bytes()
            assert b"event: picture" in next(parts)
            assert next(parts) == b": still here\n\n"  # twice that time later


ENDLESS = {
    "header": HEAD + b"X-Long: " + b"x" * 100_000,
    "name": HEAD + b"x" * 100_000,
    "many": HEAD + b"X-Many: 1234567890\r\n" * 5_000,
    "path": b"GET /" + b"x" * 100_000,
    "trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-Long: " + b"x" * 100_000,
}


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("whole", [True, False], ids=["whole", "endless"])
@pytest.mark.parametrize("kind", ENDLESS)
def test_a_header_that_is_too_large_is_refused(server: Served, kind: str, whole: bool) -> None:
    end = b" HTTP/1.1\r\n\r\n" if kind == "path" else b"\r\n\r\n"
    with connected(server.port) as line:
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent
            line.sendall(ENDLESS[kind])
            # without an end it has to be refused for its size, and not for its time
            line.sendall(end if whole else b"x" * 1_000_000)
        assert b" 200 " not in all_of(line)


def test_a_header_of_allowed_size_is_taken_and_a_body_counts_for_itself(server: Served) -> None:
    with connected(server.port) as line:
        line.sendall(HEAD + b"X-Long: " + b"x" * 60_000 + b"\r\n\r\n")
        assert b"HTTP/1.1 200" in answer(line)
        body = b'{"name": "' + b"x" * 900_000 + b'"}'
        length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
        line.sendall(POST + length + body)
        assert b"urn:purse:problem:invalid-input" in all_of(line)


def test_of_too_many_connections_the_one_that_waits_longest_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 3)
    with (
        served(storage=in_memory()) as server,
        connected(server.port) as silent,
        ExitStack() as stack,
    ):
        used = [stack.enter_context(connected(server.port)) for _ in range(2)]
        for line in used:
            line.sendall(HEAD + b"\r\n")
            answer(line)
        used.append(stack.enter_context(connected(server.port)))
        assert all_of(silent) == b""
        for line in used:
            line.sendall(HEAD + b"\r\n")
            answer(line)
