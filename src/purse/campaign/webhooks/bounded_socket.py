"""A connection that ends at a deadline and after so many bytes, whatever the other side does."""

from __future__ import annotations

import io
import socket
import time

from purse.campaign.webhooks.errors import NotSent

LEAST_S = 0.001  # of a timeout: 0 would mean that nothing is waited for


class BoundedSocket:
    """The part of a socket that `http.client` needs.

    deadline   on the clock of `time.monotonic`, for everything together
    most       bytes to read in all
    """

    def __init__(self, connected: socket.socket, deadline: float, most: int) -> None:
        self._socket, self.deadline, self.most = connected, deadline, most

    def sendall(self, data: bytes) -> None:
        """Send all of it."""
        self._socket.settimeout(remaining(self.deadline))
        self._socket.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return a file to read from."""
        return io.BufferedReader(Incoming(self))

    def receive(self, buffer: memoryview) -> int:
        """Fill a part of the buffer; return how many bytes it is."""
        self._socket.settimeout(remaining(self.deadline))
        count = self._socket.recv_into(buffer[: max(1, min(len(buffer), self.most))])
        self.most -= count
        if self.most < 0:
            raise NotSent("answer too long")
        return count

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


class Incoming(io.RawIOBase):
    """What comes from a bounded socket."""

    def __init__(self, source: BoundedSocket) -> None:
        self._source = source

    def readable(self) -> bool:
        """Whether it can be read: it can."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a part of the buffer."""
        return self._source.receive(memoryview(buffer))


def remaining(deadline: float) -> float:
    """Return the seconds until the deadline. Raise `TimeoutError` where it has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return max(left, LEAST_S)
