"""The limits of one sender: bytes in a body and a query, requests in a second."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from purse.errors import InvalidInput
from purse.service.problems import TOO_LARGE, ProblemError

_MOST_QUERY = 2_000  # bytes; ten times the longest that has a meaning
# that are remembered; the one that was quiet for longest is forgotten first, and has a full
# bucket again
_MOST_SENDERS = 10_000


class TokenBuckets:
    """A bucket for each sender: it holds as many requests as a second brings, at least one, and
    fills at `rate` per second.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.clock = rate, clock
        self.size = max(rate, 1.0)
        # what was in it, and when
        self._full: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, sender: str) -> float:
        """Take one request out; return 0, or the seconds to wait if the bucket is empty."""
        now = self.clock()
        held, then = self._full.pop(sender, (self.size, now))
        held = min(self.size, held + (now - then) * self.rate)
        wait = max(0.0, (1 - held) / self.rate)
        self._full[sender] = (held if wait else held - 1), now
        if len(self._full) > _MOST_SENDERS:
            self._full.popitem(last=False)
        return wait


async def body_of(receive: Receive, most: int) -> bytes:
    """Return the whole body, however it comes; refuse it as soon as it is larger than allowed."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        check_size(size, most)
        more = message.get("more_body", False)
    return b"".join(parts)


def check_size(size: int, most: int) -> None:
    """Refuse a body that is too large."""
    if size > most:
        raise ProblemError(
            TOO_LARGE,
            f"the body has more than {most:,} bytes, which is the most that is taken; "
            "send fewer reports at once",
        )


def check_query(query: bytes) -> None:
    """Refuse a long query: 10,000 words in one take seconds to be read."""
    if len(query) > _MOST_QUERY:
        raise InvalidInput(f"query: has {len(query):,} bytes; at most {_MOST_QUERY:,} are taken")
