"""Connections: kept, found closed, shared by threads, and through a proxy."""

from __future__ import annotations

import re
import socket
import ssl
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from purse.client.exchange import Answer, Lost, Request
from purse.client.http_sender import HttpSender

import purse
from purse.client.address import address_of
from tests.client.test_parity import TERMS
from tests.support.server import Served

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
LOOK: Request[str] = Request("GET", "/look", str)


class Rough:
    """A server of a few lines, which notes what it hears and closes when it is told to."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.heard: list[list[str]] = []  # of each connection
        self.answers = 1  # of a connection, which is then closed
        self.secure: ssl.SSLContext | None = None
        self.closed = threading.Semaphore(0)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            if self.secure is not None:
                try:
                    connection = self.secure.wrap_socket(connection, server_side=True)
                except OSError:  # the certificate was refused
                    connection.close()
                    continue
            heard: list[str] = []
            self.heard.append(heard)
            with connection:
                for _ in range(self.answers):
                    heard.append(whole(connection))
                    connection.sendall(ANSWER)
            self.closed.release()


def whole(connection: socket.socket) -> str:
    """A request with its body, which may come in two parts."""
    text = ""
    while "\r\n\r\n" not in text or missing(text):
        if not (more := connection.recv(65536).decode()):
            break
        text += more
    return text


def missing(text: str) -> bool:
    head, _, body = text.partition("\r\n\r\n")
    length = re.search(r"Content-Length: (\d+)", head)
    return length is not None and len(body) < int(length[1])


@pytest.fixture
def rough() -> Iterator[Rough]:
    made = Rough()
    yield made
    made.listener.close()


def sender(rough: Rough, timeout: float = 5.0) -> HttpSender:
    return HttpSender(address_of(f"http://127.0.0.1:{rough.port}"), {}, timeout)


def test_a_connection_is_kept(rough: Rough) -> None:
    rough.answers = 3
    made = sender(rough)
    for _ in range(3):
        assert made.send(LOOK) == Answer(200, "ok")
    assert [len(each) for each in rough.heard] == [3]
    made.close()


def test_a_connection_that_the_server_has_closed_is_made_anew(rough: Rough) -> None:
    made = sender(rough)
    for _ in range(3):
        assert made.send(LOOK) == Answer(200, "ok")
        assert rough.closed.acquire(timeout=30)
    assert [len(each) for each in rough.heard] == [1, 1, 1]
    made.close()


def test_one_that_closes_while_it_is_used_is_made_anew_at_once(
    rough: Rough, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("purse.client.http_sender.readable", lambda _: False)
    made = sender(rough)
    for _ in range(3):
        assert made.send(LOOK) == Answer(200, "ok")
        assert rough.closed.acquire(timeout=30)
    made.close()


def test_no_answer_in_time_is_lost(rough: Rough) -> None:
    rough.answers = 0
    made = sender(rough)
    assert isinstance(made.send(LOOK), Lost)
    silent = socket.create_server(("127.0.0.1", 0))
    made = HttpSender(address_of(f"http://127.0.0.1:{silent.getsockname()[1]}"), {}, 60)
    assert made.send(Request("GET", "/", str, timeout=0.05)) == Lost("TimeoutError: timed out")
    silent.close()


def test_an_address_with_a_path_and_a_query(rough: Rough) -> None:
    made = HttpSender(address_of(f"http://127.0.0.1:{rough.port}/purse/"), {"A": "b"}, 5.0)
    made.send(Request("POST", "/x", str, {"ü": 1}, {"state": ["held", "told"], "limit": 2}))
    first, *lines = rough.heard[0][0].split("\r\n")
    assert first == "POST /purse/x?state=held&state=told&limit=2 HTTP/1.1"
    assert {"A: b", "Content-Type: application/json"} <= set(lines)
    assert lines[-1] == r'{"\u00fc": 1}'
    made.close()


def test_a_proxy_of_the_environment(rough: Rough, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:se%20cret@127.0.0.1:{rough.port}")
    monkeypatch.setenv("no_proxy", "internal.example.com")
    made = HttpSender(address_of("http://purse.example.com/p"), {}, 5.0)
    assert made.send(LOOK) == Answer(200, "ok")
    first, *lines = rough.heard[0][0].split("\r\n")
    assert first == "GET http://purse.example.com/p/look HTTP/1.1"
    assert {"Host: purse.example.com", "Proxy-Authorization: Basic bWU6c2UgY3JldA=="} <= set(lines)
    made.close()
    assert HttpSender(address_of("http://internal.example.com"), {}, 5.0)._proxy is None
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(purse.InvalidInput, match="HTTP_PROXY, HTTPS_PROXY: must be http://"):
        HttpSender(address_of("http://purse.example.com"), {}, 5.0)


def test_a_proxy_makes_a_tunnel_for_https(rough: Rough, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"127.0.0.1:{rough.port}")
    made = HttpSender(address_of("https://purse.example.com"), {}, 5.0)
    assert isinstance(made.send(LOOK), Lost)  # nobody behind it speaks TLS
    assert rough.heard[0][0].startswith("CONNECT purse.example.com:443 HTTP/1.")


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", Answer(200, "ok")),
        ("HTTP/1.1 100 Continue\r\n\r\n" + ANSWER.decode(), Answer(200, "ok")),
        (
            "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
            Answer(503, "abcde", "7"),
        ),
        (
            "HTTP/1.0 301 Moved\r\nLocation: https://there\r\n\r\n",
            Answer(301, "", "", "https://there"),
        ),
        ("HTTP/1.1 200 OK\r\n\r\nto the end", Answer(200, "to the end")),
        ("HTTP/1.1 204 None\r\n\r\n", Answer(204, "")),
    ],
)
def test_answers_of_all_kinds(
    rough: Rough, monkeypatch: pytest.MonkeyPatch, raw: str, expected: Answer | Lost
) -> None:
    monkeypatch.setattr("tests.client.test_http_sender.ANSWER", raw.encode())
    made = sender(rough)
    assert made.send(LOOK) == expected
    made.close()


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\n" + "a: b\r\n" * 300,
        "HTTP/1.1 200 " + "x" * 70_000,
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
    ],
)
def test_what_is_no_answer_is_lost(rough: Rough, monkeypatch: pytest.MonkeyPatch, raw: str) -> None:
    monkeypatch.setattr("tests.client.test_http_sender.ANSWER", raw.encode())
    made = sender(rough)
    assert isinstance(made.send(LOOK), Lost)
    made.close()


@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("http://[::1]:8000/", "::1", 8000),
        ("https://[::1]", "::1", 443),
        ("https://host:443/a/", "host", 443),
        ("http://bücher.example", "xn--bcher-kva.example", 80),
    ],
)
def test_parts_of_an_address(url: str, host: str, port: int) -> None:
    found = address_of(url)
    assert (found.host, found.port) == (host, port)


def test_threads_share_connections(at: Served) -> None:
    campaign: Any = purse.Campaign.create("prompts", **TERMS, storage=at.url)
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: campaign.ask().id, range(40)))
    assert sorted(found) == list(range(1, 41))
    assert 1 <= len(campaign._connection._sender._idle) <= 8


def test_certificates_are_checked_and_connections_kept(
    rough: Rough, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key and the certificate are made for this test, and of no other use."""
    folder = Path(__file__).parent / "tls"
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    served.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    rough.answers, rough.secure = 3, served
    address = address_of(f"https://localhost:{rough.port}")
    refused = HttpSender(address, {}, 5.0).send(LOOK)
    assert isinstance(refused, Lost)
    assert refused.why.startswith("SSLCertVerificationError")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "certificate.pem"))
    made = HttpSender(address, {}, 5.0)
    for _ in range(3):
        assert made.send(LOOK) == Answer(200, "ok")
    assert [len(each) for each in rough.heard] == [3]
    made.close()
