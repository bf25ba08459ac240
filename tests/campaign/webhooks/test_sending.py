"""Messages to receivers that are slow, broken or hostile, and to addresses that must not be
called.
"""

import socket
import ssl
import time
from pathlib import Path
from typing import Any

import pytest

from purse.campaign.webhooks import sending
from purse.campaign.webhooks.sending import NotSent, is_public, read_target
from tests.support.receiver import answering, drip, endless, receiver

CERTIFICATE = Path(__file__).parents[2] / "client" / "tls"


def send(url: str, **how: Any) -> None:
    more = {"allow_private": True, "seconds": 5.0, **how}
    sending.send(read_target(url), {"X-A": "b"}, b"{}", **more)


def refused(url: str, **how: Any) -> str:
    with pytest.raises(NotSent) as caught:
        send(url, **how)
    assert "127" not in str(caught.value)
    return str(caught.value)


def test_a_message_arrives_with_its_path_and_headers() -> None:
    with receiver() as made:
        send(made.url + "?a=1")
    (message,) = made.messages
    assert (message.path, message.body) == ("/hook/sesame?a=1", b"{}")
    assert message.headers["X-A"] == "b"
    assert message.headers["Host"] == f"127.0.0.1:{made.port}"


BAD = {
    "an error": (answering(b"HTTP/1.1 500 X\r\n\r\n"), "HTTP 500"),
    "a redirect to this machine": (
        answering(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\n\r\n"),
        "redirect",
    ),
    "no HTTP": (answering(b"SSH-2.0-x\r\n\r\n"), "bad answer"),
    "silence": (lambda connected: time.sleep(10), "timeout"),
    "an answer in drops": (drip, "timeout"),
    "headers without end": (endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "bad answer"),
    "a header without end": (endless(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1000), "answer too long"),
    "a status without end": (endless(b"HTTP/1.1 200 ", b"y" * 1000), "answer too long"),
    "continue without end": (endless(b"", b"HTTP/1.1 100 X\r\n\r\n" * 50), "answer too long"),
    "a closed connection": (lambda connected: connected.close(), "connection failed"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_answer_is_a_failure_within_the_time(what: str) -> None:
    reply, error = BAD[what]
    with receiver(reply) as made:
        begun = time.monotonic()
        assert refused(made.url, seconds=0.3 if error == "timeout" else 30) == error
        assert time.monotonic() - begun < 3
    assert len(made.messages) <= 1


def test_a_body_without_end_is_not_read() -> None:
    with receiver(endless(b"HTTP/1.1 200 OK\r\n\r\n", b"y" * 1000)) as made:
        send(made.url)


def test_a_name_is_checked_under_tls() -> None:
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    here.load_cert_chain(CERTIFICATE / "certificate.pem", CERTIFICATE / "key.pem")
    trusted = ssl.create_default_context(cafile=str(CERTIFICATE / "certificate.pem"))
    with receiver(tls=here) as made:
        assert refused(made.url) == "TLS failed"  # nobody trusts it
        known = lambda *_: [(socket.AF_INET, 1, 6, "", ("127.0.0.1", made.port))]  # noqa: E731
        wrong = f"https://other.example.com:{made.port}/"
        assert refused(wrong, context=trusted, look_up=known) == "TLS failed"
        send(f"https://localhost:{made.port}/", context=trusted, look_up=known)
    with receiver(lambda connected: None) as plain:
        assert refused(f"https://127.0.0.1:{plain.port}/", seconds=0.3) in ("TLS failed", "timeout")


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert refused(f"http://127.0.0.1:{port}/") == "connection failed"


PRIVATE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.8.8.8", "169.254.169.254", "172.16.0.1",
    "192.168.1.1", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
    "2002:7f00:1::", "2001:0:7f00:1::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%lo",
    "fec0::1", "ff02::1", "2001:db8::1", "192.0.0.8", "3fff::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert not is_public(address)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    rows = [(family, 1, 6, "", (address, 443))]
    found = refused("https://a.example.com/", allow_private=False, look_up=lambda *_: rows)
    assert found == "address not allowed"


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "::ffff:1.1.1.1"]
)
def test_public_addresses_are_not(address: str) -> None:
    assert is_public(address)


def test_one_private_address_among_several_is_enough() -> None:
    rows = [(socket.AF_INET, 1, 6, "", (each, 443)) for each in ("1.1.1.1", "10.0.0.1")]
    found = refused("https://a.example.com/", allow_private=False, look_up=lambda *_: rows)
    assert found == "address not allowed"


def test_the_address_that_was_checked_is_the_one_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answers, tried = iter([["1.1.1.1"], ["127.0.0.1"]]), list[Any]()

    def look_up(host: str, port: int) -> list[Any]:  # the second answer would be this machine
        return [(socket.AF_INET, 1, 6, "", (each, port)) for each in next(answers)]

    def connect(self: socket.socket, place: Any) -> None:
        tried.append(place)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("looked up again"))
    error = refused("https://a.example.com/", allow_private=False, look_up=look_up)
    assert (error, tried) == ("connection failed", [("1.1.1.1", 443)])
    error = refused("https://a.example.com/", allow_private=False, look_up=look_up)
    assert (error, len(tried)) == ("address not allowed", 1)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_this_machine_is_not_called_unless_that_is_allowed(host: str) -> None:
    assert refused(f"https://{host}/", allow_private=False) == "address not allowed"
    assert refused(f"http://{host}/", allow_private=False) == "http not allowed"


def test_a_name_that_nobody_knows() -> None:
    def look_up(host: str, port: int) -> list[Any]:
        raise socket.gaierror

    assert refused("https://nowhere.invalid/", look_up=look_up) == "no such host"
    assert refused("https://nowhere.invalid/", look_up=lambda *_: []) == "no such host"


@pytest.mark.parametrize(
    "url",
    [
        "", "hooks.example.com", "ftp://a.example.com/", "https://", "https:///x", "file:///etc/x",
        "https://me:sesame@a.example.com/", "https://a.example.com/#sesame", "https://a b/",
        "https://a.example.com:99999/", "https://a.example.com:0/", "https://ex\u00e4mple.com/",
        "https://2130706433/", "https://0177.0.0.1/", "https://0x7f.1/", "https://127.1/",
        "https://127.0.0.1.:443/", "https://a.example.com\\@b/", "https://a.example.com/\r\nX: y",
        "https://[::1/", "https://a.example.com/" + "sesame" * 400,
    ],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"^must ") as caught:
        read_target(url)
    assert "sesame" not in str(caught.value)


def test_an_address_in_its_parts() -> None:
    found = read_target("https://Hooks.example.com:8443/a/b?c=d")
    assert found == ("https", "hooks.example.com", 8443, "/a/b?c=d")
    assert found.authority == "hooks.example.com:8443"
    assert read_target("https://a.example.com:1/").port == 1
    assert read_target("https://[2606:4700::1111]").authority == "[2606:4700::1111]"
