"""The clock of a database server, read from its answers, so that all machines share one time."""

from __future__ import annotations

import time

MILLISECONDS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"  # in SQL


class ServerClock:
    """Ms since 1970 on the server. This machine's clock counts from the server's last answer."""

    def __init__(self) -> None:
        self._ahead = time.time_ns() // 1_000_000 - monotonic()  # until the server has answered

    def set(self, now: int) -> None:
        """Take over the server's time."""
        self._ahead = now - monotonic()

    def now(self) -> int:
        """The server's time, as far as it is known."""
        return monotonic() + self._ahead


def monotonic() -> int:
    """Ms on a clock that nobody sets."""
    return time.monotonic_ns() // 1_000_000
