"""Sends one message, safely: to an address that was checked, once, within a time, with no redirect
followed and hardly anything read.

Only network addresses of the public internet may be called, unless the operator allows others. No
error shows an address, which may be a secret.
"""

import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping
from functools import cache
from http.client import HTTPException
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from purse.client.deadline import TooLong, left, read_answer, send_all

SEND_S = 10.0  # seconds that a receiver has to answer, from the look-up of its name on
_MOST_READ = 65_536  # bytes of status line and headers; the body of an answer is not read
_MOST = 2_000  # characters of an address
_MOST_ADDRESSES = 16  # network addresses of one host
_PORTS = {"https": 443, "http": 80}
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9.])?|[0-9A-Fa-f:.]+")
# what a resolver may take for a number: 127.0.0.1, 2130706433, 0x7f.1
_NUMBER = re.compile(r"(.*\.)?([0-9]+|0[xX][0-9A-Fa-f]*)\.?")
_ALLOWED = (
    f"must look like https://HOST/PATH, in at most {_MOST:,} characters of ASCII, without a user, "
    "a password or a fragment"
)
_NAT64 = IPv6Network("64:ff9b::/96")  # an IPv4 address in its last 32 bits
# not public, whatever a version of Python says: protocols, documentation, site-local, IPv4 in IPv6
_CLOSED = tuple(map(ip_network, ("192.0.0.0/24", "3fff::/20", "fec0::/10", "::/96")))
_Resolve = Callable[[str, int], list[Any]]  # rows as `socket.getaddrinfo` returns them


class NotSent(Exception):
    """A message that did not arrive, or perhaps did; the text is a word or two without secrets."""


class Target(NamedTuple):
    """The address that a message goes to, in parts."""

    scheme: str
    host: str
    port: int
    path: str  # with the query

    @property
    def authority(self) -> str:
        """The host for a header, with a port that is not the usual one."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def read_target(address: str) -> Target:
    """Return the parts of an address. Raise `ValueError` with what is allowed."""
    if len(address) > _MOST or not _PRINTABLE.fullmatch(address):
        raise ValueError(_ALLOWED)
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError(_ALLOWED) from None
    is_odd = parts.scheme not in _PORTS or port == 0 or not _HOST.fullmatch(host)
    if is_odd or "@" in parts.netloc or "#" in address or "\\" in address:
        raise ValueError(_ALLOWED)
    if _NUMBER.fullmatch(host) and not is_address(host):
        raise ValueError("must have a host in numbers written as four of them, as in 192.0.2.1")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, port or _PORTS[parts.scheme], path)


def is_address(host: str) -> bool:
    """Return whether a host is a network address in its usual form.

    >>> is_address("192.0.2.1"), is_address("::1"), is_address("0177.0.0.1")
    (True, True, False)
    """
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _resolve(host: str, port: int) -> list[Any]:
    """Return the network addresses of a host, as the system finds them."""
    return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)


def _checked(target: Target, look_up: _Resolve, *, allow_private: bool) -> list[tuple[int, Any]]:
    """Return (family, address) of each network address of a host: connect to these, and look up
    no more.

    Raise `NotSent` if a host has no address, or if one of them must not be called.
    """
    try:
        rows = look_up(target.host, target.port)
    except (OSError, UnicodeError):
        raise NotSent("no such host") from None
    addresses = [(row[0], row[4]) for row in rows if row[0] in (socket.AF_INET, socket.AF_INET6)]
    if not addresses or len(addresses) > _MOST_ADDRESSES:
        raise NotSent("no such host")
    if not allow_private and not all(is_public(str(address[0])) for _, address in addresses):
        raise NotSent("address not allowed")
    return addresses


def is_public(text: str) -> bool:
    """Return whether a network address is one of the public internet, and leads to no other kind.

    >>> [is_public(text) for text in ("1.1.1.1", "127.0.0.1", "169.254.169.254", "10.1.2.3")]
    [True, False, False, False]
    >>> [is_public(text) for text in ("2606:4700::1111", "::1", "::ffff:127.0.0.1", "fe80::1%eth0")]
    [True, False, False, False]
    """
    address = ip_address(text)
    if isinstance(address, IPv6Address):
        inner = _embedded(address)
        if inner is not None:
            return is_public(str(inner))
        if address.scope_id is not None:
            return False
    return (
        address.is_global
        and not (address.is_multicast or address.is_reserved or address.is_unspecified)
        and not any(address in network for network in _CLOSED)
    )


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to, or None."""
    if address.teredo is not None:
        return address.teredo[1]
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def send(
    target: Target,
    headers: Mapping[str, str],
    body: bytes,
    *,
    allow_private: bool = False,
    seconds: float = SEND_S,
    look_up: _Resolve = _resolve,
    context: ssl.SSLContext | None = None,
) -> None:
    """Send a message. Raise `NotSent` if it did not arrive, or may not have.

    allow_private   whether addresses of this machine and of private networks may be called, and
                    http without TLS
    seconds         for everything together
    look_up         finds the network addresses of a host
    context         for TLS; None: the certificates that the system trusts
    """
    if target.scheme == "http" and not allow_private:
        raise NotSent("http not allowed")
    deadline = time.monotonic() + seconds
    try:
        places = _checked(target, look_up, allow_private=allow_private)
        with _connected(target, places, deadline, context) as link:
            status = _answer(target, link, headers, body, deadline)
    except ssl.SSLError as error:
        timed_out = isinstance(error, TimeoutError) or "timed out" in str(error)
        raise NotSent("timeout" if timed_out else "TLS failed") from None
    except TimeoutError:
        raise NotSent("timeout") from None
    except OSError:
        raise NotSent("connection failed") from None
    except TooLong:
        raise NotSent("answer too long") from None
    except (HTTPException, ValueError):
        raise NotSent("bad answer") from None
    if 300 <= status < 400:
        raise NotSent("redirect")
    if not 200 <= status < 300:
        raise NotSent(f"HTTP {status}")


def _connected(
    target: Target,
    addresses: list[tuple[int, Any]],
    deadline: float,
    context: ssl.SSLContext | None,
) -> socket.socket:
    """Return a connection to the first of these network addresses that answers."""
    for number, (family, address) in enumerate(addresses, 1):
        connection = socket.socket(family, socket.SOCK_STREAM)
        try:
            connection.settimeout(left(deadline))
            connection.connect(address)
            if target.scheme == "http":
                return connection
            connection.settimeout(left(deadline))
            return (context or _trusted()).wrap_socket(connection, server_hostname=target.host)
        except BaseException as error:
            connection.close()
            is_final = not isinstance(error, OSError) or isinstance(
                error, (TimeoutError, ssl.SSLError)
            )
            if is_final or number == len(addresses):
                raise
    raise NotSent("no such host")


def _answer(
    target: Target, link: socket.socket, headers: Mapping[str, str], body: bytes, deadline: float
) -> int:
    """Return the status of the answer to a message."""
    lines = {"Host": target.authority, "Content-Length": str(len(body)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    message = f"POST {target.path} HTTP/1.1\r\n{head}\r\n".encode("ascii") + body
    send_all(link, message, deadline)
    return read_answer(link, "POST", deadline, _MOST_READ).status


@cache
def _trusted() -> ssl.SSLContext:
    """Return a TLS context with the certificates that the system trusts."""
    return ssl.create_default_context()
