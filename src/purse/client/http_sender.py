"""Sends requests over HTTP. Connections are kept, and shared by threads; a child of `fork` makes
its own.
"""

from __future__ import annotations

import os
import select
import socket
from collections import deque
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from purse.client.address import Address
from purse.client.exchange import Answer, Lost, Request
from purse.client.http_connection import HttpConnection, NotHttp
from purse.client.proxy import Proxy, proxy_for

if TYPE_CHECKING:
    from ssl import SSLContext

MOST_IDLE = 32  # connections that are kept


class HttpSender:
    """Connections to one server."""

    def __init__(self, address: Address, headers: dict[str, str], timeout: float) -> None:
        self._address, self._headers, self._timeout = address, headers, timeout
        self._idle: deque[HttpConnection] = deque()
        self._process = os.getpid()
        self._trust: SSLContext | None = None
        self._proxy: Proxy | None = proxy_for(address)

    def send(self, request: Request[Any]) -> Answer | Lost:
        """Send a request; return what came back, or why nothing did."""
        message = self._written(request)
        timeout = self._timeout if request.timeout is None else request.timeout
        while True:
            kept = self._kept()
            connection = kept
            try:
                connection = connection or self._connect(timeout)
                response = connection.exchange(message, timeout)
            except (OSError, NotHttp) as error:
                if connection is not None:
                    connection.close()
                # the server may have closed a connection that nobody used for a while
                if kept is None or isinstance(error, TimeoutError):
                    return Lost(f"{type(error).__name__}: {error}")
                continue
            except BaseException:
                if connection is not None:
                    connection.close()
                raise
            if response.keeps and len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
            else:
                connection.close()
            return Answer(
                response.status,
                response.body.decode("utf-8", "replace"),
                response.headers.get("retry-after", ""),
                response.headers.get("location", ""),
            )

    def _written(self, request: Request[Any]) -> bytes:
        """Return a request as it is sent, in one piece."""
        content = request.content()
        target = self._address.path + request.path
        if request.query:
            target += "?" + urlencode(request.query, doseq=True)
        headers = {"Host": self._address.authority, **self._headers}
        if self._proxy is not None and not self._address.secure:
            target = f"http://{self._address.authority}{target}"
            headers |= self._proxy.headers
        if content is not None:
            headers["Content-Type"] = "application/json"
        if content is not None or request.method == "POST":
            headers["Content-Length"] = str(len(content or b""))
        return head(f"{request.method} {target}", headers) + (content or b"")

    def _kept(self) -> HttpConnection | None:
        """Return a connection that is open and idle; None where there is none."""
        if self._process != os.getpid():  # a fork: these belong to the parent
            self._idle, self._process = deque(), os.getpid()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            # what can be read from an idle connection is that the server has closed it
            if not readable(connection.sock):
                return connection
            connection.close()

    def _connect(self, timeout: float) -> HttpConnection:
        address, proxy = self._address, self._proxy
        first = (address.host, address.port) if proxy is None else (proxy.host, proxy.port)
        sock = socket.create_connection(first, timeout)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.secure:
                if proxy is not None:
                    open_tunnel(sock, address, proxy)
                sock = self._context().wrap_socket(sock, server_hostname=address.host)
            return HttpConnection(sock)
        except BaseException:
            sock.close()
            raise

    def _context(self) -> SSLContext:
        if self._trust is None:
            from ssl import create_default_context

            self._trust = create_default_context()
        return self._trust

    def close(self) -> None:
        """Close all connections."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) == os.getpid():
            self.close()


def head(line: str, headers: dict[str, str]) -> bytes:
    """Return the head of a request."""
    lines = [f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("ascii")


def open_tunnel(sock: socket.socket, address: Address, proxy: Proxy) -> None:
    """Have a proxy pass on all that follows."""
    target = f"{address.bracketed}:{address.port}"
    sock.sendall(head(f"CONNECT {target}", {"Host": target, **proxy.headers}))
    connection = HttpConnection(sock)
    status, _, _ = connection.head()
    connection.release()
    if status != 200:
        raise ConnectionError(f"the proxy answered {status}")


def readable(sock: socket.socket) -> bool:
    """Whether something can be read from a socket at once."""
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))
