"""Sends requests over HTTP with Python's own library, which is there in a moment: other libraries
take longer to import than a request takes.

Connections are kept, and shared by threads. A child of `fork` makes its own.
"""

from __future__ import annotations

import os
import select
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from purse.client.address import Address
from purse.client.exchange import Answer, Lost, Request
from purse.client.proxy import Proxy, proxy_for

if TYPE_CHECKING:
    from ssl import SSLContext

MOST_IDLE = 32  # connections that are kept


class WholeRequests(HTTPConnection):
    """Sends the head and the body of a request together: two packets would wake the server
    twice.
    """

    _parts: list[Any] | None = None  # of the request that is being made

    def request(self, *given: Any, **named: Any) -> None:
        """Send a request."""
        parts: list[Any] = []
        self._parts = parts
        super().request(*given, **named)
        self._parts = None
        self.send(b"".join(parts))

    def send(self, data: Any) -> None:
        """Send bytes, or keep them for the request that is being made."""
        if self._parts is None:
            super().send(data)
        else:
            self._parts.append(data)


class SecureWholeRequests(WholeRequests, HTTPSConnection):
    """The same, encrypted."""


class HttpSender:
    """Connections to one server."""

    def __init__(self, address: Address, headers: dict[str, str], timeout: float) -> None:
        self._address, self._headers, self._timeout = address, headers, timeout
        self._idle: deque[HTTPConnection] = deque()
        self._process = os.getpid()
        self._trust: SSLContext | None = None
        self._proxy: Proxy | None = proxy_for(address)

    def send(self, request: Request[Any]) -> Answer | Lost:
        """Send a request; return what came back, or why nothing did."""
        content = request.content()
        while True:
            kept = self._kept()
            connection = kept or self._connect()
            try:
                return self._exchange(connection, request, content)
            except (OSError, HTTPException) as error:
                connection.close()
                # the server may have closed a connection that nobody used for a while
                if kept is None or isinstance(error, TimeoutError):
                    return Lost(f"{type(error).__name__}: {error}")
            except BaseException:
                connection.close()
                raise

    def _exchange(
        self, connection: HTTPConnection, request: Request[Any], content: bytes | None
    ) -> Answer:
        target = self._address.path + request.path
        if request.query:
            target += "?" + urlencode(request.query, doseq=True)
        headers = dict(self._headers)
        if self._proxy is not None and not self._address.secure:
            target = self._address.url.removesuffix(self._address.path) + target
            headers |= self._proxy.headers
        if content is not None:
            headers["Content-Type"] = "application/json"
        connection.timeout = self._timeout if request.timeout is None else request.timeout
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        connection.request(request.method, target, content, headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        if response.will_close or len(self._idle) >= MOST_IDLE:
            connection.close()
        else:
            self._idle.append(connection)
        if response.status < 300:
            return Answer(response.status, text)
        return Answer(
            response.status,
            text,
            response.getheader("Retry-After", ""),
            response.getheader("Location", ""),
        )

    def _kept(self) -> HTTPConnection | None:
        """Return a connection that is open and idle; None where there is none."""
        if self._process != os.getpid():  # a fork: these belong to the parent
            self._idle, self._process = deque(), os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            # what can be read from an idle connection is that the server has closed it
            if connection.sock is not None and not readable(connection.sock):
                return connection
            connection.close()

    def _connect(self) -> HTTPConnection:
        host, port = self._address.host, self._address.port
        first = (host, port) if self._proxy is None else (self._proxy.host, self._proxy.port)
        if not self._address.secure:
            return WholeRequests(*first)
        if self._trust is None:
            from ssl import create_default_context

            self._trust = create_default_context()
        made = SecureWholeRequests(*first, context=self._trust)
        if self._proxy is not None:
            made.set_tunnel(host, port, self._proxy.headers)
        return made

    def close(self) -> None:
        """Close all connections."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) == os.getpid():
            self.close()


def readable(sock: Any) -> bool:
    """Whether something can be read from a socket at once."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
