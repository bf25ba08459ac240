"""One connection of a client to the server of a Unix socket."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Sequence
from itertools import count
from typing import Any

import orjson

from purse._version import __version__
from purse.campaign.storage.remote.unix_socket import HEADER, MOST_BYTES, ROOT, frame, peer_user
from purse.campaign.storage.remote.wire import HELLO, error_of
from purse.errors import InvalidInput, StorageUnavailable

CHUNK = 65_536  # bytes read at a time


class Connection:
    """One connection, on which one call is under way at a time."""

    def __init__(self, path: str, deadline: float) -> None:
        self._path = path
        self._numbers = count(1)
        self._ahead = 0.0  # seconds by which the server's clock is ahead of ours
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.settimeout(left(deadline))
            self._socket.connect(path)
        except BaseException:
            self._socket.close()
            raise

    def greet(self, deadline: float) -> str:
        """Exchange versions and users; return the identity of the server's database."""
        if (user := peer_user(self._socket)) not in (os.getuid(), ROOT):
            raise StorageUnavailable(
                f"{self._path}: the server there belongs to user {user}; a client talks only to "
                "one of its own user or of root"
            )
        answer = self.exchange(HELLO, [__version__], deadline)
        if len(answer) > 2:
            raise error_of(answer[2])
        version, identity, clock = answer[1]
        if version != __version__:
            raise different_versions(self._path, version, __version__)
        self._ahead = clock - time.monotonic()
        return identity

    def exchange(self, verb: str, arguments: Sequence[Any], deadline: float) -> Any:
        """Send a call and return the answer to it. Raise `OSError` where the connection is lost,
        and `TimeoutError` at the deadline.
        """
        number = next(self._numbers)
        message = frame([number, deadline + self._ahead, verb, arguments])
        self._socket.settimeout(left(deadline))
        self._socket.sendall(message)
        answer = self._receive(deadline)
        if not isinstance(answer, list) or answer[:1] != [number]:
            raise ConnectionError("the server answered another call")
        return answer

    def _receive(self, deadline: float) -> Any:
        data = self._read()
        while len(data) < HEADER.size:
            data += self._read()
        size = HEADER.unpack_from(data)[0] + HEADER.size
        if size > MOST_BYTES + HEADER.size:
            raise ConnectionError(f"the server announced an answer of {size:,} bytes")
        parts, missing = [data], size - len(data)
        while missing > 0:
            self._socket.settimeout(left(deadline))
            parts.append(self._read())
            missing -= len(parts[-1])
        try:
            return orjson.loads(b"".join(parts)[HEADER.size : size])
        except ValueError:
            raise ConnectionError("the server's answer is not JSON") from None

    def _read(self) -> bytes:
        data = self._socket.recv(CHUNK)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data

    def close(self) -> None:
        """Close it; a child process that does so leaves the parent's end open."""
        self._socket.close()


def left(deadline: float) -> float:
    """Return the seconds until a deadline. Raise `TimeoutError` where it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def different_versions(path: str, server: str, client: str) -> InvalidInput:
    """Return the error where the two ends are not of one version."""
    return InvalidInput(
        f"{path}: the server there is purse {server}, and the client is purse {client}; use the "
        "same version for both"
    )
