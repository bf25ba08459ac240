"""One client at the server: its frames, and whether it may be served."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import orjson

from purse.campaign.storage.remote.unix_socket import HEADER, MOST_BYTES, peer_user

Handle = Callable[["ClientConnection", int, float, str, list[Any]], None]


class ClientConnection(asyncio.Protocol):
    """Takes frames apart and hands over what they say; what is no request closes the connection.

    handle        is called with the connection and each request
    connections   those that are open, this one among them
    """

    transport: asyncio.Transport

    def __init__(self, handle: Handle, connections: set[ClientConnection]) -> None:
        self._handle, self._connections = handle, connections
        self._buffer = bytearray()
        self.user = -1
        self.is_greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note which user it is."""
        self.transport = cast(asyncio.Transport, transport)
        self.user = peer_user(transport.get_extra_info("socket"))
        self._connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:
        """Forget the client."""
        self._connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Take in some bytes."""
        buffer = self._buffer
        buffer += data
        while len(buffer) >= HEADER.size and not self.transport.is_closing():
            size = HEADER.unpack_from(buffer)[0]
            if size > MOST_BYTES:
                self.transport.close()
                return
            if len(buffer) < HEADER.size + size:
                return
            message = bytes(buffer[HEADER.size : HEADER.size + size])
            del buffer[: HEADER.size + size]
            self._take_in(message)

    def _take_in(self, message: bytes) -> None:
        try:
            number, deadline, verb, arguments = orjson.loads(message)
        except (ValueError, TypeError):  # not JSON, or not four things
            self.transport.close()
            return
        if (
            type(number) is int
            and isinstance(deadline, (int, float))
            and isinstance(verb, str)
            and isinstance(arguments, list)
        ):
            self._handle(self, number, deadline, verb, arguments)
        else:
            self.transport.close()

    def answer(self, frame: bytes) -> None:
        """Send a frame, where the client is still there."""
        if not self.transport.is_closing():
            self.transport.write(frame)
