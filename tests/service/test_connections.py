"""Bytes on a connection, through a port and through a Unix socket."""

import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from purse.campaign.storage.connect import in_memory
from purse.service import connections
from tests.support.service import LONG, PROMPTS, Served, served
from tests.support.soak import scale

SOON = 0.3  # seconds
HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
POST = b"POST /campaigns HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
Connect = Callable[[], socket.socket]


def all_of(line: socket.socket) -> bytes:
    """What comes until the server closes the connection; it has to."""
    parts = []
    with suppress(ConnectionResetError):
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


def answer(line: socket.socket) -> bytes:
    """The answer to a request for /healthz, on a connection that stays."""
    parts = b""
    while not parts.endswith(b'{"status":"ok"}'):
        part = line.recv(65536)
        assert part, parts
        parts += part
    return parts


def to(server: Served) -> socket.socket:
    kind, address = (
        (socket.AF_INET, ("127.0.0.1", server.port))
        if server.port
        else (socket.AF_UNIX, server.url.removeprefix("unix:"))
    )
    line = socket.socket(kind)
    line.settimeout(LONG)
    line.connect(address)
    return line


@pytest.fixture(scope="module", params=["port", "socket"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    """One for all; what a test sets holds for connections that are made afterwards."""
    path = tmp_path_factory.mktemp("socket") / "purse.sock" if request.param == "socket" else None
    with served(storage=in_memory(), socket=path) as at:
        yield at


@pytest.fixture
def connect(server: Served) -> Iterator[Connect]:
    """Makes connections, and closes them in the end."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(to(server))


BEGUN = {
    "silent": b"",
    "method": b"GET",
    "headers": HEAD,
    "half a header": HEAD + b"X-Half: hal",
    "no body": POST + b"Content-Length: 100\r\n\r\n",
    "half a body": POST + b'Content-Length: 100\r\n\r\n{"name": ',
    "chunk": CHUNKED + b"5\r\n12",
}
AFTER_AN_ANSWER = {"empty line": b"\r\n", "a method again": b"GET /hea"}


def test_a_connection_without_a_complete_request_is_closed(
    connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them at once, so that they take no longer than one."""
    monkeypatch.setattr(connections, "_REQUEST_TIMEOUT_S", SOON)
    lines = {kind: connect() for kind in BEGUN | AFTER_AN_ANSWER}
    for kind in AFTER_AN_ANSWER:
        lines[kind].sendall(HEAD + b"\r\n")
        answer(lines[kind])
    for kind, begun in (BEGUN | AFTER_AN_ANSWER).items():
        lines[kind].sendall(begun)
    assert {kind: all_of(line) for kind, line in lines.items()} == dict.fromkeys(lines, b"")
    late = connect()
    late.sendall(HEAD + b"\r\n")
    assert b"HTTP/1.1 200" in answer(late)


ENDLESS = {
    "header": HEAD + b"X-Long: " + b"x" * 100_000,
    "name": HEAD + b"x" * 100_000,
    "many": HEAD + b"X-Many: 1234567890\r\n" * 5_000,
    "path": b"GET /" + b"x" * 100_000,
    "trailer": CHUNKED + b"2\r\n{}\r\n0\r\nX-Long: " + b"x" * 100_000,
}


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "endless"])
@pytest.mark.parametrize("kind", ENDLESS)
def test_a_header_that_is_too_large_is_refused(
    connect: Connect, kind: str, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # without an end it has to be refused for its size, and not for its time
    monkeypatch.setattr(connections, "_REQUEST_TIMEOUT_S", 10 * LONG)
    end = b" HTTP/1.1\r\n\r\n" if kind == "path" else b"\r\n\r\n"
    line = connect()
    with suppress(BrokenPipeError, ConnectionResetError):  # refused before all was sent
        line.sendall(ENDLESS[kind])
        line.sendall(end if whole else b"x" * 1_000_000)
    assert b" 200 " not in all_of(line)


def test_a_header_of_allowed_size_is_taken_and_a_body_counts_for_itself(connect: Connect) -> None:
    line = connect()
    line.sendall(HEAD + b"X-Long: " + b"x" * 60_000 + b"\r\n\r\n")
    assert b"HTTP/1.1 200" in answer(line)
    body = b'{"name": "' + b"x" * 900_000 + b'"}'
    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    line.sendall(POST + length + body)
    assert b"urn:purse:problem:invalid-input" in all_of(line)


def test_a_smuggled_request_is_not_answered(connect: Connect) -> None:
    line = connect()
    both = POST + b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    line.sendall(both + b"0\r\n\r\n" + HEAD + b"Connection: close\r\n\r\n")
    assert b" 200 " not in all_of(line)


@pytest.mark.parametrize("kind", ["port", "socket"])
def test_of_too_many_connections_the_one_that_waits_longest_is_closed(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_MAX_CONNECTIONS", 3)
    path = tmp_path / "purse.sock" if kind == "socket" else None
    with served(storage=in_memory(), socket=path, max_body=1000) as server, ExitStack() as stack:
        silent, *used = [stack.enter_context(to(server)) for _ in range(3)]
        for line in used:
            line.sendall(HEAD + b"\r\n")
            answer(line)
        used.append(stack.enter_context(to(server)))
        assert all_of(silent) == b""
        for line in used:
            line.sendall(HEAD + b"\r\n")
            answer(line)
        used[0].sendall(POST + b"Content-Length: 1001\r\nConnection: close\r\n\r\n")
        assert b"413" in all_of(used[0])


DEAF = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 40  # of 250 kB each


@pytest.mark.parametrize("kind", ["port", "socket"])
def test_connections_that_do_not_read_their_answers_shut_nobody_out(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = scale(3, connections._MAX_CONNECTIONS)
    monkeypatch.setattr(connections, "_MAX_CONNECTIONS", most)
    path = tmp_path / "purse.sock" if kind == "socket" else None
    with served(storage=in_memory(), socket=path) as server, ExitStack() as stack:
        for _ in range(most + 2):
            line = stack.enter_context(to(server))
            with suppress(BlockingIOError):
                line.setblocking(False)
                line.sendall(DEAF)
        time.sleep(scale(1, 20) / 2)  # until all of them stand still
        for _ in range(10):
            with to(server) as other:
                other.sendall(HEAD + b"\r\n")
                assert b"HTTP/1.1 200" in answer(other)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends such a connection by itself")
def test_an_answer_that_nobody_reads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("purse.service.server._ANSWER_MS", round(1000 * SOON))
    with served(storage=in_memory()) as server, to(server) as line:
        line.sendall(DEAF)
        until = time.monotonic() + LONG
        with suppress(ConnectionResetError):
            while line.send(b"\r\n") and time.monotonic() < until:
                time.sleep(SOON / 3)
        assert time.monotonic() < until


def test_a_stream_outlives_the_time_that_a_request_may_take(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_REQUEST_TIMEOUT_S", SOON)
    monkeypatch.setattr("purse.service.live_view._BEAT", 2 * SOON)
    monkeypatch.setattr("purse.service.live_view._HEARTBEAT", 1)
    over = httpx.HTTPTransport(uds=None if server.port else server.url.removeprefix("unix:"))
    at = server.url if server.port else "http://127.0.0.1"
    with httpx.Client(transport=over, base_url=at, timeout=LONG) as web:
        assert web.post("/campaigns", json=PROMPTS).status_code == 201
        with web.stream("GET", "/campaigns/prompts/events") as events:
            parts = events.iter_bytes()
            assert b"event: picture" in next(parts)
            assert next(parts) == b": still here\n\n"  # twice that time later
