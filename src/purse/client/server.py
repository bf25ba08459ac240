"""`Server`: a server that keeps budgets. No request has a second effect: what got no answer is sent
again.
"""

import json
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from purse.base.fork_safety import cached_property
from purse.base.plain_validation import integer, number
from purse.client import wire
from purse.client.address import address_of, is_server, secret_of
from purse.errors import (
    ArmsCoolingDown,
    CampaignExists,
    InvalidInput,
    PurseError,
    StorageUnavailable,
    shorten,
)

T = TypeVar("T")

if TYPE_CHECKING:
    from http.client import HTTPMessage

    from purse.client.links import Links

_LOGGER = logging.getLogger(__name__)
_TIMEOUT, _RETRIES = 10.0, 5
_AGAIN = (429, 502, 503, 504)  # answers after which the same is sent again
_SHORTEST, _LONGEST = 0.1, 10.0  # seconds between attempts: doubled each time, up to the longest
_DOWN = (ConnectionRefusedError, FileNotFoundError)  # no server is there; a proxy answers 502
_RESTART = 0.4  # seconds in place of the shortest: five such waits are 6 to 12 s, a restart
_LONGEST_PAUSE = 60.0  # seconds that a server may ask for
_PERHAPS = "an earlier attempt of this call, which got no answer, may have created it"


class Server:
    """A server, which several threads and campaigns may share:
    `Campaign.open(name, storage=Server("https://host", timeout=3))`.

    url       its address, such as http://127.0.0.1:8000 or unix:/run/purse.sock
    token     what `purse token new` printed; None: that of the environment variable PURSE_TOKEN, if
              there is one
    timeout   seconds that one attempt may take, from the first byte to the last
    retries   how often a request without an answer is sent again
    """

    def __init__(
        self, url: str, token: str | None = None, timeout: float = _TIMEOUT, retries: int = _RETRIES
    ) -> None:
        self._address, self._secret = address_of(url), secret_of(token)
        self.url = self._address.url
        self.timeout = number("timeout", timeout, above=0)
        self.retries = integer("retries", retries, low=0)

    @cached_property
    def _links(self) -> "Links":
        from purse.client.links import Links  # `http.client` takes a while to import

        headers = f"Authorization: Bearer {self._secret}\r\n" if self._secret else ""
        return Links(self._address, headers)

    @classmethod
    def at(cls, storage: Any, token: str | None) -> "Server | None":
        """Return the server at an address, or the one that is given; None if it is a storage."""
        if not isinstance(storage, Server):
            return cls(storage, token) if is_server(storage) else None
        if token is not None:
            raise InvalidInput("token: must be left out, since the server has its own")
        return storage

    def send(
        self, method: str, path: str, content: bytes, read: Callable[[bytes], T], timeout: float
    ) -> T:
        """Send a request until an answer comes that can be read, and return what it says. Raise the
        error that the server answered with, or `StorageUnavailable` after all attempts.
        """
        from purse.client.links import LOST

        for attempt in range(self.retries + 1):
            wait, is_down = "", False  # seconds that the server asks for
            try:
                status, headers, text = self._links.send(method, path, content, timeout)
                if status < 300:
                    return read(text)
            except LOST as error:
                trouble, is_down = f"{type(error).__name__}: {error}", isinstance(error, _DOWN)
                if is_down and not attempt and self.retries:
                    _LOGGER.warning("nobody listens at %s; trying again for a while", self.url)
            except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
                trouble = f"an answer that cannot be read: {_beginning(text)}"
            else:
                refused = self._refusal(status, headers, text)
                if status not in _AGAIN or isinstance(refused, ArmsCoolingDown):
                    if attempt and isinstance(refused, CampaignExists):
                        refused = CampaignExists(f"{refused}; {_PERHAPS}")
                    raise refused
                trouble, wait = str(refused), headers.get("Retry-After", "")
                is_down = status == 502
            if attempt < self.retries:
                from random import uniform  # which takes a while to import, and is seldom needed

                wished = min(float(wait), _LONGEST_PAUSE) if wait.isdecimal() else 0.0
                limit = min(_LONGEST, (_RESTART if is_down else _SHORTEST) * 2**attempt)
                time.sleep(wished + uniform(limit / 2 if is_down else 0, limit))
        raise StorageUnavailable(
            f"{self.url} does not answer after {self.retries + 1} attempts: {shorten(trouble)}"
        )

    def _refusal(self, status: int, headers: "HTTPMessage", text: bytes) -> PurseError:
        """Return the error that an answer stands for."""
        try:
            error = wire.error_of(json.loads(text))
        except (KeyError, RecursionError, TypeError, ValueError):
            if location := headers.get("Location"):
                return PurseError(f"{self.url} is elsewhere: use the address {shorten(location)}")
            return PurseError(f"the server answered {status}: {_beginning(text)}")
        if status == 401:
            return PurseError(
                f"{self.url} wants a token that it knows and that has not expired: give token=, "
                "or set PURSE_TOKEN"
            )
        return error

    def close(self) -> None:
        """Close the connections."""
        if "_links" in vars(self):
            self._links.close()


def _beginning(text: bytes) -> str:
    """Return the beginning of an answer, for people."""
    return shorten(text.decode("utf-8", "replace"))
