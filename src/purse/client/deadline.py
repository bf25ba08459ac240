"""A request over a socket that ends at a deadline, however slowly the bytes come."""

import io
import socket
import time
from http.client import HTTPException, HTTPResponse
from typing import Any


class TooLong(HTTPException):
    """An answer of more bytes than were allowed."""


def left(deadline: float) -> float:
    """Return the seconds until a deadline. Raise `TimeoutError` if it has passed."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("the answer was too slow")
    return seconds


def send_all(link: socket.socket, message: bytes, deadline: float) -> None:
    """Send all of a message until a deadline."""
    remaining = memoryview(message)
    while remaining:
        link.settimeout(left(deadline))
        remaining = remaining[link.send(remaining) :]


def read_answer(
    link: socket.socket, method: str, deadline: float, limit: int | None = None
) -> HTTPResponse:
    """Return an answer, of which the head has been read.

    limit   bytes that are read at most, the body included; None: any number

    Raise `TooLong` if there are more.
    """
    patient = _Patient(link, deadline, limit)
    answer = HTTPResponse(patient, method=method)  # type: ignore[arg-type]
    answer.begin()
    return answer


class _Patient(io.RawIOBase):
    """The stream that `http.client` reads an answer from."""

    def __init__(self, link: socket.socket, deadline: float, limit: int | None) -> None:
        self._link, self._deadline, self._most = link, deadline, limit

    def makefile(self, _: str) -> io.BufferedReader:
        """Return a file to read from."""
        return io.BufferedReader(self)

    def readable(self) -> bool:
        """Return whether it can be read: always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there, or wait for it until the deadline."""
        self._link.settimeout(left(self._deadline))
        count = self._link.recv_into(buffer)
        if self._most is not None:
            self._most -= count
            if self._most < 0:
                raise TooLong
        return count
