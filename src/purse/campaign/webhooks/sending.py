"""One message sent, safely: to an address that was checked, once, within a time, with no redirect
followed and hardly anything read.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from purse.campaign.webhooks.addresses import Resolve, checked, resolve
from purse.campaign.webhooks.bounded_socket import BoundedSocket, remaining
from purse.campaign.webhooks.errors import NotSent
from purse.campaign.webhooks.target import Target, read_target

MOST_READ = 65_536  # bytes of status line and headers; the body of an answer is not read
Send = Callable[[str, Mapping[str, str], bytes, float], None]


class Sender:
    """Sends messages.

    allow_private   whether addresses of this machine and of private networks may be called, and
                    http without TLS
    look_up         finds the addresses of a host
    context         for TLS; None: the certificates that the system trusts
    """

    def __init__(
        self,
        *,
        allow_private: bool = False,
        look_up: Resolve = resolve,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self.allow_private, self.look_up, self.context = allow_private, look_up, context

    def __call__(self, url: str, headers: Mapping[str, str], body: bytes, deadline: float) -> None:
        """Send a message. Raise `NotSent` where it did not arrive, or nobody knows.

        deadline   on the clock of `time.monotonic`
        """
        target = read_target(url)
        try:
            connected = self.connected(target, deadline)
            try:
                status = answer(target, connected, headers, body, deadline)
            finally:
                connected.close()
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

    def connected(self, target: Target, deadline: float) -> socket.socket:
        """Return a connection to the first address of a host that answers."""
        if target.scheme == "http" and not self.allow_private:
            raise NotSent("http not allowed")
        places = checked(target, self.look_up, allow_private=self.allow_private)
        for number, (family, place) in enumerate(places, 1):
            try:
                return self.secured(target, connect(family, place, deadline), deadline)
            except OSError as error:
                is_final = isinstance(error, (TimeoutError, ssl.SSLError))
                if is_final or number == len(places):
                    raise
        raise NotSent("no such host")

    def secured(self, target: Target, raw: socket.socket, deadline: float) -> socket.socket:
        """Return the connection under TLS, for the host by its name; http stays as it is."""
        if target.scheme == "http":
            return raw
        try:
            raw.settimeout(remaining(deadline))
            return (self.context or trusted()).wrap_socket(raw, server_hostname=target.host)
        except BaseException:
            raw.close()
            raise


def connect(family: int, place: Any, deadline: float) -> socket.socket:
    """Return a connection to an address, which is not looked up again."""
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.settimeout(remaining(deadline))
        made.connect(place)
    except BaseException:
        made.close()
        raise
    return made


def answer(
    target: Target,
    connected: socket.socket,
    headers: Mapping[str, str],
    body: bytes,
    deadline: float,
) -> int:
    """Return the status of the answer to a message."""
    connection = http.client.HTTPConnection(target.host, target.port)
    bounded: Any = BoundedSocket(connected, deadline, MOST_READ)
    connection.sock = bounded
    connection.request("POST", target.path, body, {"Host": target.authority, **headers})
    return connection.getresponse().status


@cache
def trusted() -> ssl.SSLContext:
    """Return what the system trusts."""
    return ssl.create_default_context()
