"""Connections: kept, found closed, shared by threads, through a proxy, and up to a deadline."""

import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import purse
from purse.client.address import address_of
from purse.client.links import LOST, Links

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
TLS = Path(__file__).parent / "tls"  # a key and a certificate made for tests, of no other use
IDLE = 5.0  # seconds for a request whose answer comes at once


class Rough:
    """A server of a few lines, which notes what it hears and closes when it is told to."""

    def __init__(self, path: Path | None = None) -> None:
        if path is None:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.port = self.listener.getsockname()[1]
        else:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(str(path))
            self.listener.listen()
        self.heard: list[list[str]] = []  # of each connection
        self.answers = 1  # of a connection, which is then closed
        self.answer = ANSWER
        self.pause = 0.0  # seconds after each byte of an answer; 0: all at once
        self.secure: ssl.SSLContext | None = None
        self.closed = threading.Semaphore(0)
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        heard: list[str] = []
        self.heard.append(heard)
        try:
            if self.secure is not None:
                connection = self.secure.wrap_socket(connection, server_side=True)
            for _ in range(self.answers):
                if not (request := whole(connection)):
                    break
                heard.append(request)
                size = 1 if self.pause else max(1, len(self.answer))
                for start in range(0, len(self.answer), size):
                    connection.sendall(self.answer[start : start + size])
                    time.sleep(self.pause)
        except OSError:  # the client is gone, or has refused the certificate
            pass
        connection.close()
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


def links(rough: Rough, scheme: str = "http", host: str = "127.0.0.1") -> Links:
    return Links(address_of(f"{scheme}://{host}:{rough.port}"), "")


def look(made: Links, timeout: float = IDLE) -> tuple[int, bytes]:
    status, _, text = made.send("GET", "/look", b"", timeout)
    return status, text


def test_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "a b?c"  # all of it is a path
    made = Rough(path)
    made.answers = 2
    for url in (f"unix:{path}", f"unix://{path}"):
        found = Links(address_of(url), "A: b\r\n")
        assert [look(found), look(found)] == [(200, b"ok")] * 2
    assert made.heard[0][0] == "GET /look HTTP/1.1\r\nHost: localhost\r\nA: b\r\n\r\n"
    made.listener.close()
    with pytest.raises(OSError, match="No such file"):
        look(Links(address_of(f"unix:{tmp_path}/none"), ""))


def test_a_connection_that_the_server_has_closed_is_made_anew(rough: Rough) -> None:
    made = links(rough)
    for _ in range(3):
        assert look(made) == (200, b"ok")
        assert rough.closed.acquire(timeout=30)
    assert [len(each) for each in rough.heard] == [1, 1, 1]


def test_one_that_closes_while_it_is_used_is_made_anew_at_once(
    rough: Rough, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Blind:
        """Sees nothing on a connection."""

        def register(self, *_: object) -> None: ...

        def poll(self, _: int) -> list[Any]:
            return []

    monkeypatch.setattr("purse.client.links.select.poll", Blind)
    made = links(rough)
    for _ in range(3):
        assert look(made) == (200, b"ok")
        assert rough.closed.acquire(timeout=30)


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b""])
def test_a_deadline_holds_however_slowly_the_bytes_come(rough: Rough, head: bytes) -> None:
    """Each byte comes in time; together they would take five seconds."""
    rough.answer, rough.pause = head + b"x" * 100, 0.05
    begun = time.monotonic()
    with pytest.raises(TimeoutError):
        look(links(rough), 0.3)
    assert time.monotonic() - begun < 2


def test_no_answer_in_time_is_lost(rough: Rough) -> None:
    rough.answers = 0
    with pytest.raises(LOST):
        look(links(rough))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        made = Links(address_of(f"http://127.0.0.1:{silent.getsockname()[1]}"), "")
        with pytest.raises(TimeoutError, match="timed out"):
            look(made, 0.05)
        with pytest.raises(TimeoutError):  # the deadline holds for what is sent, too
            made.send("POST", "/", b"x" * 50_000_000, 0.3)


@pytest.mark.parametrize("length", ["Content-Length: 11\r\n", "", "Transfer-Encoding: chunked\r\n"])
def test_an_answer_is_bounded(rough: Rough, monkeypatch: pytest.MonkeyPatch, length: str) -> None:
    monkeypatch.setattr("purse.client.links._LARGEST", 10)
    made = links(rough)
    for size in (10, 11):
        body = f"{size:x}\r\n{'x' * size}\r\n0\r\n\r\n" if "chunked" in length else "x" * size
        head = length.replace("11", str(size))
        rough.answer = f"HTTP/1.1 200 OK\r\n{head}\r\n{body}".encode()
        if size == 10:
            assert look(made) == (200, b"x" * 10)
        else:
            with pytest.raises(purse.PurseError, match="answers with more than 10 bytes"):
                look(made)


def test_an_address_with_a_path_and_a_body(rough: Rough) -> None:
    made = Links(address_of(f"http://127.0.0.1:{rough.port}/purse/"), "A: b\r\n")
    made.send("POST", "/x?state=held", b'{"a": 1}', IDLE)
    first, *lines = rough.heard[0][0].split("\r\n")
    assert first == "POST /purse/x?state=held HTTP/1.1"
    assert lines == [
        f"Host: 127.0.0.1:{rough.port}",
        "A: b",
        "Content-Type: application/json",
        "Content-Length: 8",
        "",
        '{"a": 1}',
    ]


def test_a_proxy_of_the_environment(rough: Rough, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:se%20cret@127.0.0.1:{rough.port}")
    monkeypatch.setenv("no_proxy", "internal.example.com,other.example.com:81")
    made = Links(address_of("http://purse.example.com/p"), "")
    assert look(made) == (200, b"ok")
    first, *lines = rough.heard[0][0].split("\r\n")
    assert first == "GET http://purse.example.com/p/look HTTP/1.1"
    assert {"Host: purse.example.com", "Proxy-Authorization: Basic bWU6c2UgY3JldA=="} <= set(lines)
    for url in (
        "http://internal.example.com",
        "http://internal.example.com:8000",
        "http://other.example.com:81",
        "unix:/run/purse.sock",
    ):
        assert Links(address_of(url), "")._proxy is None
    assert Links(address_of("http://other.example.com"), "")._proxy is not None
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(purse.InvalidInput, match="HTTP_PROXY, HTTPS_PROXY: must be http://"):
        Links(address_of("http://purse.example.com"), "")


@pytest.mark.parametrize("host", ["purse.example.com", "[2001:db8::1]"])
def test_a_proxy_makes_a_tunnel_for_https(
    rough: Rough, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("https_proxy", f"me:pass@127.0.0.1:{rough.port}")
    with pytest.raises(LOST):  # nobody behind it speaks TLS
        look(Links(address_of(f"https://{host}"), ""))
    first, *lines = rough.heard[0][0].split("\r\n")
    assert first == f"CONNECT {host}:443 HTTP/1.1"
    assert {f"Host: {host}:443", "Proxy-Authorization: Basic bWU6cGFzcw=="} <= set(lines)
    rough.answer = b"HTTP/1.1 407 Who are you\r\n\r\n"
    with pytest.raises(OSError, match="the proxy answered 407 Who are you"):
        look(Links(address_of(f"https://{host}"), ""))


@pytest.mark.parametrize(
    ("raw", "status", "text"),
    [
        ("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", 200, b"ok"),
        ("HTTP/1.1 100 Continue\r\n\r\n" + ANSWER.decode(), 200, b"ok"),
        (
            "HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n",
            503,
            b"abcde",
        ),
        ("HTTP/1.0 301 Moved\r\nLocation: https://there\r\n\r\n", 301, b""),
        ("HTTP/1.1 200 OK\r\n\r\nto the end", 200, b"to the end"),
        ("HTTP/1.1 204 None\r\n\r\n", 204, b""),
    ],
)
def test_answers_of_all_kinds(rough: Rough, raw: str, status: int, text: bytes) -> None:
    rough.answer = raw.encode()
    assert look(links(rough)) == (status, text)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok",
        "HTTP/1.1 200 OK\r\n" + "a: b\r\n" * 300,
        "HTTP/1.1 200 " + "x" * 70_000,
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok",
    ],
)
def test_what_is_no_answer_is_lost(rough: Rough, raw: str) -> None:
    rough.answer = raw.encode()
    with pytest.raises(LOST):
        look(links(rough))


@pytest.mark.parametrize(
    ("url", "host", "port", "authority"),
    [
        ("http://[::1]:8000/", "::1", 8000, "[::1]:8000"),
        ("https://[::1]", "::1", 443, "[::1]"),
        ("HTTPS://Host:443/a/", "host", 443, "host"),
        ("http://host:443", "host", 443, "host:443"),
        ("http://bücher.example", "xn--bcher-kva.example", 80, "xn--bcher-kva.example"),
    ],
)
def test_parts_of_an_address(url: str, host: str, port: int, authority: str) -> None:
    found = address_of(url)
    assert (found.host, found.port, found.authority) == (host, port, authority)


def test_threads_share_connections(rough: Rough) -> None:
    rough.answers = 100
    made = links(rough)
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda _: look(made), range(40))) == {(200, b"ok")}
    assert sum(map(len, rough.heard)) == 40
    assert 1 <= len(made._idle) == len(rough.heard) <= 8


def test_a_child_of_a_fork_makes_connections_of_its_own(rough: Rough) -> None:
    rough.answers = 2
    made = links(rough)
    look(made)
    child = os.fork()
    if child == 0:
        try:
            code = int(look(made) != (200, b"ok"))
        except BaseException:
            code = 1
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert look(made) == (200, b"ok")
    assert [len(each) for each in rough.heard] == [2, 1]


def test_certificates_are_checked_and_connections_kept(
    rough: Rough, monkeypatch: pytest.MonkeyPatch
) -> None:
    rough.secure = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    rough.secure.load_cert_chain(TLS / "certificate.pem", TLS / "key.pem")
    rough.answers = 3
    with pytest.raises(ssl.SSLCertVerificationError):
        look(links(rough, "https", "localhost"))
    monkeypatch.setenv("SSL_CERT_FILE", str(TLS / "certificate.pem"))
    made = links(rough, "https", "localhost")
    for _ in range(3):
        assert look(made) == (200, b"ok")
    assert [len(each) for each in rough.heard] == [0, 3]
    with pytest.raises(ssl.SSLCertVerificationError):
        look(links(rough, "https", "127.0.0.1"))  # which the certificate does not name
