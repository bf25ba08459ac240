"""A connection to a server, which does verbs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Protocol

from purse.base.optional import needs
from purse.campaign.addresses import REMOTE, REMOTE_ACCOUNT
from purse.client.address import address_of, headers_of
from purse.client.exchange import Answer, Lost, R, Request, Verb, conversation
from purse.errors import InvalidInput, invalid

if TYPE_CHECKING:
    import httpx

TIMEOUT, RETRIES = 10.0, 5


class Sender(Protocol):
    """A way to a server."""

    def send(self, request: Request[Any]) -> Answer | Lost:
        """Send a request; return what came back, or why nothing did."""

    def close(self) -> None:
        """Close all connections."""


class Connection:
    """A connection to a server, which several threads may share."""

    campaign_class = REMOTE  # of `Campaign.open(name, storage=connection)`
    account_class = REMOTE_ACCOUNT  # and of `Account.open`

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        address, headers = address_of(url), headers_of(token)
        self.url, self.retries = address.url, retries
        self._sender: Sender
        if transport is not None:
            self._sender = TransportSender(transport, address.url, headers, timeout)
        else:
            from purse.client.http_sender import HttpSender

            self._sender = HttpSender(address, headers, timeout)

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


class TransportSender:
    """Sends requests through a transport of httpx, such as one that reaches an app in this
    process.
    """

    def __init__(
        self, transport: httpx.BaseTransport, url: str, headers: dict[str, str], timeout: float
    ) -> None:
        with needs("a transport", "client"):
            import httpx

        self._httpx, self._transport = httpx, transport
        self._url, self._headers, self._timeout = url, headers, timeout

    def send(self, request: Request[Any]) -> Answer | Lost:
        """Send a request; return what came back, or why nothing did."""
        content = request.content()
        limit = self._timeout if request.timeout is None else request.timeout
        kind = {} if content is None else {"Content-Type": "application/json"}
        made = self._httpx.Request(
            request.method,
            self._url + request.path,
            params=request.query,
            headers={**self._headers, **kind},
            content=content,
            extensions={"timeout": self._httpx.Timeout(limit).as_dict()},
        )
        try:
            response = self._transport.handle_request(made)
            response.read()
        except self._httpx.TransportError as error:
            return Lost(f"{type(error).__name__}: {error}")
        return answer_of(response)

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()


def answer_of(response: httpx.Response) -> Answer:
    """Return an answer of httpx as one of ours."""
    headers = response.headers
    return Answer(
        response.status_code,
        response.text,
        headers.get("Retry-After", ""),
        headers.get("Location", ""),
    )


def connected(storage: Any, token: str | None) -> Connection:
    """Return a connection to the server at an address, or the one that is given."""
    if isinstance(storage, str):
        return Connection(storage, token)
    found = getattr(storage, "connection", storage)  # of a client
    if not isinstance(found, Connection):
        raise invalid("storage", storage, "must be the address of a server, or a client of it")
    if token is not None:
        raise InvalidInput("token: must be left out, since the client has its own")
    return found
