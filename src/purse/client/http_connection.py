"""One connection of HTTP/1.1. Python's own `http.client` takes as long to import as all the rest of
the client, since it reads headers as those of mail; a client of one service needs little of it.
"""

from __future__ import annotations

import socket
from typing import NamedTuple

LONGEST_LINE = 65_536  # bytes
MOST_HEADERS = 200
BODILESS = (204, 304)


class NotHttp(Exception):
    """An answer that is not HTTP/1.1."""


class Response(NamedTuple):
    """An answer: headers by their names in small letters."""

    status: int
    headers: dict[str, str]
    body: bytes
    keeps: bool  # whether the connection can be used again


class HttpConnection:
    """A socket on which one request is under way at a time."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._file = sock.makefile("rb")

    def exchange(self, request: bytes, timeout: float) -> Response:
        """Send a request and return the answer to it.

        Raise `OSError` where the connection is lost, `TimeoutError` where nothing comes in time,
        and `NotHttp` where the answer cannot be read.
        """
        self.sock.settimeout(timeout)
        self.sock.sendall(request)
        status, version, headers = self.head()
        chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        length = headers.get("content-length")
        word = headers.get("connection", "").lower()
        keeps = word != "close" and (version == b"HTTP/1.1" or word == "keep-alive")
        if status in BODILESS:
            return Response(status, headers, b"", keeps)
        if chunked:
            return Response(status, headers, self._chunks(), keeps)
        if length is None:  # up to the end of the connection
            return Response(status, headers, self._file.read(), False)
        if not length.isdecimal():
            raise NotHttp(f"an answer of the length {length[:40]!r}")
        return Response(status, headers, self._read(int(length)), keeps)

    def head(self) -> tuple[int, bytes, dict[str, str]]:
        """Return status, version and headers of an answer; what is provisional is left out."""
        status = 100
        while 100 <= status < 200:
            version, _, rest = self._line().partition(b" ")
            code = rest[:3]
            if not version.startswith(b"HTTP/1.") or not code.isdigit():
                raise NotHttp("an answer that is not HTTP/1.1")
            status, headers = int(code), self._headers()
        return status, version, headers

    def _headers(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for _ in range(MOST_HEADERS):
            line = self._line()
            if not line:
                return found
            name, _, value = line.decode("latin-1").partition(":")
            found[name.strip().lower()] = value.strip()
        raise NotHttp(f"an answer with more than {MOST_HEADERS} headers")

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        while True:
            size = self._line().partition(b";")[0].strip()
            try:
                length = int(size, 16)
            except ValueError:
                raise NotHttp("an answer in parts without a size") from None
            if length == 0:
                self._headers()  # trailers
                return b"".join(parts)
            parts.append(self._read(length))
            self._line()

    def _line(self) -> bytes:
        line = self._file.readline(LONGEST_LINE)
        if not line.endswith(b"\n"):
            if len(line) == LONGEST_LINE:
                raise NotHttp(f"a line of more than {LONGEST_LINE} bytes")
            raise ConnectionResetError("the server closed the connection")
        return line.rstrip(b"\r\n")

    def _read(self, length: int) -> bytes:
        body = self._file.read(length)
        if len(body) < length:
            raise ConnectionResetError("the server closed the connection in the middle")
        return body

    def release(self) -> None:
        """Leave the socket open for somebody else, who reads what comes next."""
        self._file.close()

    def close(self) -> None:
        """Close the connection."""
        self._file.close()
        self.sock.close()
