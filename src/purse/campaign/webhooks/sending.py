"""Sends one message, safely: to an address that was checked, once, within a time, with no redirect
followed and hardly anything read.
"""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from purse.campaign.webhooks.address import NotSent, Resolve, Target, checked, resolve

SEND_S = 10.0  # seconds that a receiver has to answer, from the look-up of its name on
MOST_READ = 65_536  # bytes of status line and headers; the body of an answer is not read
LEAST_S = 0.001  # of a timeout: 0 would mean that nothing is waited for


def send(
    target: Target,
    headers: Mapping[str, str],
    body: bytes,
    *,
    allow_private: bool = False,
    seconds: float = SEND_S,
    look_up: Resolve = resolve,
    context: ssl.SSLContext | None = None,
) -> None:
    """Send a message. Raise `NotSent` if it did not arrive, or if nobody knows.

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
        places = checked(target, look_up, allow_private=allow_private)
        with connected(target, places, deadline, context) as open_socket:
            status = answer(target, Bounded(open_socket, deadline), headers, body)
    except ssl.SSLError as error:
        timed_out = isinstance(error, TimeoutError) or "timed out" in str(error)
        raise NotSent("timeout" if timed_out else "TLS failed") from None
    except TimeoutError:
        raise NotSent("timeout") from None
    except OSError:
        raise NotSent("connection failed") from None
    except (http.client.HTTPException, ValueError):
        raise NotSent("bad answer") from None
    if 300 <= status < 400:
        raise NotSent("redirect")
    if not 200 <= status < 300:
        raise NotSent(f"HTTP {status}")


def connected(
    target: Target, places: list[tuple[int, Any]], deadline: float, context: ssl.SSLContext | None
) -> socket.socket:
    """Return a connection to the first of these network addresses that answers."""
    for number, (family, place) in enumerate(places, 1):
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.settimeout(remaining(deadline))
            made.connect(place)
            if target.scheme == "http":
                return made
            made.settimeout(remaining(deadline))
            return (context or trusted()).wrap_socket(made, server_hostname=target.host)
        except BaseException as error:
            made.close()
            is_final = not isinstance(error, OSError) or isinstance(
                error, (TimeoutError, ssl.SSLError)
            )
            if is_final or number == len(places):
                raise
    raise NotSent("no such host")


def answer(target: Target, bounded: Any, headers: Mapping[str, str], body: bytes) -> int:
    """Return the status of the answer to a message."""
    connection = http.client.HTTPConnection(target.host, target.port)
    connection.sock = bounded
    connection.request("POST", target.path, body, {"Host": target.authority, **headers})
    return connection.getresponse().status


class Bounded(io.RawIOBase):
    """The part of a socket that `http.client` needs. It ends at a deadline and after `MOST_READ`
    bytes, whatever the other side does.
    """

    def __init__(self, open_socket: socket.socket, deadline: float) -> None:
        self._socket, self._deadline, self._most = open_socket, deadline, MOST_READ

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.settimeout(remaining(self._deadline))
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return a file to read from."""
        return io.BufferedReader(self)

    def close(self) -> None:
        """Leave the socket open: its owner closes it."""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of the buffer; return the number of bytes."""
        self._socket.settimeout(remaining(self._deadline))
        count = self._socket.recv_into(memoryview(buffer)[: max(1, self._most)])
        self._most -= count
        if self._most < 0:
            raise NotSent("answer too long")
        return count


def remaining(deadline: float) -> float:
    """Return the seconds until the deadline. Raise `TimeoutError` if it has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return max(left, LEAST_S)


@cache
def trusted() -> ssl.SSLContext:
    """Return what the system trusts."""
    return ssl.create_default_context()
