"""Connections to one server: over TCP, TLS or a Unix socket, directly or through a proxy.

They are kept, and shared by threads. A child of `fork` makes its own.
"""

import os
import select
import socket
import sys
import time
from collections import deque
from http.client import HTTPException, HTTPMessage
from typing import TYPE_CHECKING

from purse.client.address import UNIX, Address, proxy_for
from purse.client.deadline import left, read_answer, send_all
from purse.errors import PurseError

if TYPE_CHECKING:
    from ssl import SSLContext

_MOST_IDLE = 32  # connections that are kept
_LARGEST = 64_000_000  # bytes of an answer
LOST = (OSError, HTTPException)  # what a request without an answer raises


def _is_readable(link: socket.socket) -> bool:
    """Say whether a connection can be read without waiting."""
    if sys.platform == "win32":
        return bool(select.select([link], [], [], 0)[0])
    poll = select.poll()  # `select.select` knows no file above 1,023 here
    poll.register(link, select.POLLIN)
    return bool(poll.poll(0))


class Links:
    """Connections to one server.

    headers   that every request has, each with its end of line
    """

    def __init__(self, address: Address, headers: str) -> None:
        self._idle: deque[socket.socket] = deque()
        self._process = os.getpid()
        self._address, self._proxy = address, proxy_for(address)
        self._head = f"Host: {address.authority}\r\n{headers}"
        self._base = "" if address.scheme == UNIX else address.path
        if self._proxy is not None and address.scheme == "http":
            self._base = f"http://{address.authority}{address.path}"
            self._head += self._proxy.header
        self._trust: SSLContext | None = None

    def send(
        self, method: str, target: str, content: bytes, timeout: float
    ) -> tuple[int, HTTPMessage, bytes]:
        """Send a request and return status, headers and body of its answer.

        timeout   seconds for all of it, however slowly the bytes come

        Raise one of `LOST` if no answer comes, and `PurseError` if one is too long.
        """
        deadline = time.monotonic() + timeout
        head = f"{method} {self._base}{target} HTTP/1.1\r\n{self._head}"
        if method == "POST":
            head += f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n"
        message = f"{head}\r\n".encode("ascii") + content
        while True:
            idle = self._open()
            try:
                return self._exchange(idle or self._connect(deadline), message, method, deadline)
            except TimeoutError:
                raise
            except LOST:
                if idle is None:  # else the server has closed it in the meantime
                    raise

    def _exchange(
        self, link: socket.socket, message: bytes, method: str, deadline: float
    ) -> tuple[int, HTTPMessage, bytes]:
        try:
            send_all(link, message, deadline)
            answer = read_answer(link, method, deadline)
            text = answer.read(_LARGEST + 1)
            if len(text) > _LARGEST:
                raise PurseError(f"{self._address.url} answers with more than {_LARGEST:,} bytes")
            if answer.length:
                raise HTTPException("an answer that broke off")
        except BaseException:
            link.close()
            raise
        if answer.will_close or len(self._idle) >= _MOST_IDLE:
            link.close()
        else:
            self._idle.append(link)
        return answer.status, answer.headers, text

    def _open(self) -> socket.socket | None:
        """Return a connection that is open and idle, if there is one."""
        if self._process != os.getpid():  # a child of a fork: these are the parent's, too
            self.close()
            self._process = os.getpid()
        while True:
            try:
                link = self._idle.pop()
            except IndexError:
                return None
            if not _is_readable(link):
                return link
            link.close()  # all that can be read from an idle connection is that it was closed

    def _connect(self, deadline: float) -> socket.socket:
        address, first = self._address, self._proxy or self._address
        unix = address.scheme == UNIX
        wait = left(deadline)
        link = (
            socket.socket(socket.AF_UNIX)
            if unix
            else socket.create_connection((first.host, first.port), wait)
        )
        try:
            if unix:
                link.settimeout(wait)
                link.connect(address.path)
            else:
                link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._secured(link, deadline) if address.scheme == "https" else link
        except BaseException:
            link.close()
            raise

    def _secured(self, link: socket.socket, deadline: float) -> socket.socket:
        """Return the connection with TLS on it, through the proxy if there is one."""
        if self._proxy is not None:
            door = self._address.door
            message = f"CONNECT {door} HTTP/1.1\r\nHost: {door}\r\n{self._proxy.header}\r\n"
            send_all(link, message.encode("ascii"), deadline)
            answer = read_answer(link, "CONNECT", deadline)
            if answer.status != 200:
                raise OSError(f"the proxy answered {answer.status} {answer.reason}")
        if self._trust is None:
            from ssl import create_default_context

            self._trust = create_default_context()
        link.settimeout(left(deadline))
        return self._trust.wrap_socket(link, server_hostname=self._address.host)

    def close(self) -> None:
        """Close all connections that are idle."""
        try:
            while True:
                self._idle.pop().close()
        except IndexError:
            pass

    def __del__(self) -> None:
        self.close()
