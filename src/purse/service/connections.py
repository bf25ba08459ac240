"""Bounds on connections, which hold before a token was seen: bytes of a header, seconds
until a request is complete, and connections at once.
"""

import asyncio
import time
from asyncio.events import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_MAX_HEADER = 65_536  # bytes of the request line and all headers
_REQUEST_TIMEOUT_S = 30.0  # from the connection, or the first byte, to the last byte of the body
# well below 1,024 descriptors, which is the usual limit of a process
_MAX_CONNECTIONS = 500


class _TooLarge(Exception):
    """The header has more bytes than are taken; the parser has it answered with 400."""


class BoundedProtocol(HttpToolsProtocol):
    """A connection that is closed if a request is too slow, or its header too large.

    Beyond the most connections, the one that has kept us waiting longest is closed: it has sent no
    request, or does not read its answer.
    """

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._timer: TimerHandle | None = None
        self._complete = False  # whether the request that came last is complete
        self._header = 0  # bytes of its header so far
        # bytes since the parser has returned something: it keeps the beginning of a header
        self._unread = 0
        self._since = time.monotonic()  # when the connection was made, or the request began

    @property
    def waits(self) -> bool:
        """Whether there is no request to answer, or only a part of one."""
        return not self._complete or self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > _MAX_CONNECTIONS:
            waiting = (
                other
                for other in self.connections
                if isinstance(other, BoundedProtocol)
                and (
                    other.transport.get_write_buffer_size()
                    or (other.waits and not other.transport.is_closing())
                )
            )
            longest = min(waiting, key=lambda other: other._since)
            self.connections.discard(longest)  # the next one closes another
            longest.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        self._unread += len(data)
        super().data_received(data)
        if self._unread > _MAX_HEADER and not self.transport.is_closing():
            self.send_400_response("The header is too large.")
        if self.waits:
            self._wait()
        else:
            self._stop()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._complete, self._header, self._since = False, 0, time.monotonic()

    def on_url(self, url: bytes) -> None:
        """Take a part of the request line."""
        self._add(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer."""
        self._unread = 0
        self._add(len(name) + len(value))
        super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request."""
        self._unread, self._complete = 0, True
        super().on_message_complete()

    def _add(self, size: int) -> None:
        self._header += size
        if self._header > _MAX_HEADER:
            raise _TooLarge

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(_REQUEST_TIMEOUT_S, self.transport.abort)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
