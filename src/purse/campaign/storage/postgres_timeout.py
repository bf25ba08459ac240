"""A connection to PostgreSQL that waits for an answer only so long: a server that stands still
tells nobody.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg

# seconds; the server's own limits are shorter, so that usually it is the one who says so
QUERY_TIMEOUT_S = 40.0
T = TypeVar("T")


class QueryTimeout(psycopg.OperationalError):
    """The server has not answered in time."""


class TimeoutConnection(psycopg.Connection[Any]):
    """A connection that gives up. What became of a statement is unknown then, as after a lost
    connection, and the connection is of no more use.
    """

    _gave_up = False

    def wait(self, gen: Generator[Any, Any, T], *options: Any, **more: Any) -> T:
        """Wait as psycopg does, which looks up every so often."""
        deadline = time.monotonic() + (0 if self._gave_up else QUERY_TIMEOUT_S)
        try:
            return super().wait(until(gen, deadline), *options, **more)
        except QueryTimeout:
            self._gave_up = True
            raise


def until(steps: Generator[Any, Any, T], deadline: float) -> Generator[Any, Any, T]:
    """The same steps, up to a time."""
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() > deadline:
                raise QueryTimeout(f"no answer within {QUERY_TIMEOUT_S:g} seconds")
            wanted = steps.send(ready)
    except StopIteration as end:
        return end.value


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
