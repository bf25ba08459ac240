"""The sender of a request: whether its role allows it, and the limits of what one may send: bytes
in a body and a query, requests in a second.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from purse.errors import InvalidInput
from purse.service.problems import (
    FOREIGN,
    LOGGER,
    NO_TOKEN,
    TOKENS_UNREADABLE,
    TOO_LARGE,
    WRONG_ROLE,
    ProblemError,
)
from purse.service.settings import LOOPBACK
from purse.service.tokens import Principal, TokenFile

_PUBLIC = ("/", "/healthz", "/readyz", "/openapi.json")  # these tell nothing of any campaign
_PUBLIC_FOLDER = "/dashboard/"
_ANYBODY_HERE = Principal(None, "admin")  # on this machine without tokens, or on a Unix socket
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host")
_TOKEN_HEADER = "authorization"
_QUERY_LIMIT = 2_000  # bytes; ten times the longest that has a meaning
# that are remembered; the one that was quiet for longest is forgotten first, and has a full
# bucket again
_SENDER_LIMIT = 10_000
NEEDS_TOKEN = (
    "send the header Authorization: Bearer TOKEN with a token that is known and not expired"
)


class Guard:
    """The check of the sender of a request.

    tokens   the valid tokens; None: every user of this machine is an admin
    socket   whether requests come over a Unix socket that only its owner can open: then a request
             without a token is an admin's, and there are no browsers
    """

    def __init__(self, tokens: TokenFile | None, *, socket: bool = False) -> None:
        self.tokens, self.socket = tokens, socket

    def principal(self, headers: Mapping[str, str]) -> Principal | None:
        """Return the sender of a request; None if it needs a token and has no valid one.
        Raise `ProblemError` if a foreign page or a proxy sent it.
        """
        if self.tokens is not None and (_TOKEN_HEADER in headers or not self.socket):
            scheme, _, secret = headers.get(_TOKEN_HEADER, "").partition(" ")
            return self._holder(secret.strip()) if scheme.lower() == "bearer" else None
        if not self.socket:
            _refuse_foreign_page(headers)
        if any(name in headers for name in _FORWARDED):
            raise ProblemError(
                FOREIGN,
                "the request was forwarded by a proxy: start the server with --tokens to be "
                "reached through one, and send a token",
            )
        return _ANYBODY_HERE

    def _holder(self, secret: str) -> Principal | None:
        """Return the holder of a token."""
        assert self.tokens is not None
        try:
            return self.tokens.principal(secret)
        except InvalidInput as error:
            LOGGER.error("%s", error)
            detail = "nobody is let in until the server's tokens file is mended; its log says more"
            raise ProblemError(TOKENS_UNREADABLE, detail) from error


def _refuse_foreign_page(headers: Mapping[str, str]) -> None:
    """Refuse what a foreign web page made the browser send here."""
    host = headers.get("host", "")
    if _host_of("//" + host) not in LOOPBACK:
        only = f"without tokens only {', '.join(LOOPBACK)} are answered"
        raise ProblemError(FOREIGN, f"Host {host!r} is not this machine: {only}")
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        only = "without tokens only pages of this server may send requests"
        raise ProblemError(FOREIGN, f"Origin {origin!r} is another site: {only}")


@lru_cache(maxsize=16)
def _host_of(address: str) -> str | None:
    """Return the host in an address, without its port."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def is_public(path: str) -> bool:
    """Return whether a path is answered without a token."""
    return path in _PUBLIC or path.startswith(_PUBLIC_FOLDER)


def check_role(principal: Principal | None, role: str) -> None:
    """Refuse a sender who lacks a role."""
    if principal is None:
        raise ProblemError(NO_TOKEN, NEEDS_TOKEN)
    if not principal.may(role):
        has = f"the token {principal.name!r} has the role {principal.role}"
        raise ProblemError(WRONG_ROLE, f"this needs the role {role}; {has}")


class TokenBuckets:
    """A bucket for each sender: it holds as many requests as a second brings, at least one, and
    fills at `rate` per second.
    """

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.clock = rate, clock
        self.size = max(rate, 1.0)
        # by sender: the requests in the bucket, and when they were counted
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, sender: str) -> float:
        """Take one request out; return 0, or the seconds to wait if the bucket is empty."""
        now = self.clock()
        level, then = self._buckets.pop(sender, (self.size, now))
        level = min(self.size, level + (now - then) * self.rate)
        wait = max(0.0, (1 - level) / self.rate)
        self._buckets[sender] = (level if wait else level - 1), now
        if len(self._buckets) > _SENDER_LIMIT:
            self._buckets.popitem(last=False)
        return wait


async def body_of(receive: Receive, limit: int) -> bytes:
    """Return the whole body, however it comes; refuse it as soon as it is larger than allowed."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        check_size(size, limit)
        more = message.get("more_body", False)
    return b"".join(parts)


def check_size(size: int, limit: int) -> None:
    """Refuse a body that is too large."""
    if size > limit:
        raise ProblemError(
            TOO_LARGE,
            f"the body has more than {limit:,} bytes, which is the most that is taken; "
            "send fewer reports at once",
        )


def check_query(query: bytes) -> None:
    """Refuse a long query: 10,000 words in one take seconds to be read."""
    if len(query) > _QUERY_LIMIT:
        raise InvalidInput(f"query: has {len(query):,} bytes; at most {_QUERY_LIMIT:,} are taken")
