"""A connection to a server, which does verbs."""

from __future__ import annotations

import time
from typing import Any

from purse.campaign.addresses import REMOTE, REMOTE_ACCOUNT
from purse.client.address import address_of, headers_of
from purse.client.exchange import Answer, Lost, R, Request, Verb, conversation
from purse.errors import InvalidInput, invalid

TIMEOUT, RETRIES = 10.0, 5


class Connection:
    """A connection to `purse serve`, which several threads and campaigns may share:
    `Campaign.open(name, storage=Connection("https://host", timeout=3))`.

    url       the address of the server, such as http://127.0.0.1:8000
    token     what `purse token new` printed; None: that of the environment variable PURSE_TOKEN, if
              there is one
    timeout   seconds to wait for an answer
    retries   how often a request without an answer is sent again
    """

    campaign_class = REMOTE  # of `Campaign.open(name, storage=connection)`
    account_class = REMOTE_ACCOUNT  # and of `Account.open`

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
    ) -> None:
        from purse.client.http_sender import HttpSender  # which coroutines need not wait for

        address = address_of(url)
        self.url, self.retries = address.url, retries
        self._sender = HttpSender(address, headers_of(token), timeout)

    def do(self, verb: Verb[R]) -> R:
        """Do a verb and return its result."""
        steps = conversation(verb, self.url, self.retries)
        heard: Answer | Lost | None = None
        try:
            while True:
                step = steps.send(heard)
                if isinstance(step, Request):
                    heard = self._sender.send(step)
                else:
                    time.sleep(step)
                    heard = None
        except StopIteration as stop:
            return stop.value

    def close(self) -> None:
        """Close all connections to the server."""
        self._sender.close()


def connected(storage: Any, token: str | None) -> Connection:
    """Return a connection to the server at an address, or the one that is given."""
    if isinstance(storage, str):
        return Connection(storage, token)
    if not isinstance(storage, Connection):
        raise invalid("storage", storage, "must be the address of a server, or a connection to it")
    if token is not None:
        raise InvalidInput("token: must be left out, since the connection has its own")
    return storage
