"""Bytes of a connection, for tests that speak to the server by hand."""

from __future__ import annotations

import socket
from contextlib import suppress


def all_of(line: socket.socket) -> bytes:
    """What comes until the server closes the connection; it has to."""
    parts = []
    with suppress(ConnectionResetError):
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)
