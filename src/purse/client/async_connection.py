"""A connection to a server for coroutines."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from purse.base.optional import needs
from purse.client.address import address_of, headers_of
from purse.client.connection import RETRIES, TIMEOUT, Connection
from purse.client.exchange import Answer, Lost, R, Request, Verb, conversation

if TYPE_CHECKING:
    import httpx

MOST_OPEN = 200  # connections at once; more requests wait for one of these


class AsyncConnection:
    """A connection to a server, which the coroutines of one event loop may share."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        with needs("a campaign on a server for coroutines", "client"):
            import httpx

        address, headers = address_of(url), headers_of(token)
        self.url, self.retries, self._timeout = address.url, retries, timeout
        self._token = token
        limits = httpx.Limits(max_connections=MOST_OPEN, max_keepalive_connections=MOST_OPEN)
        self._http = httpx.AsyncClient(headers=headers, limits=limits, transport=transport)
        self._no_answer = httpx.TransportError

    async def do(self, verb: Verb[R]) -> R:
        """Do a verb and return its result."""
        steps = conversation(verb, self.url, self.retries)
        heard: Answer | Lost | None = None
        try:
            while True:
                step = steps.send(heard)
                if isinstance(step, Request):
                    heard = await self._send(step)
                else:
                    await asyncio.sleep(step)
                    heard = None
        except StopIteration as stop:
            return stop.value

    async def _send(self, request: Request[Any]) -> Answer | Lost:
        """Send a request; return what came back, or why nothing did."""
        content = request.content()
        try:
            response = await self._http.request(
                request.method,
                self.url + request.path,
                content=content,
                headers={} if content is None else {"Content-Type": "application/json"},
                params=request.query,
                timeout=self._timeout if request.timeout is None else request.timeout,
            )
        except self._no_answer as error:
            return Lost(f"{type(error).__name__}: {error}")
        return answer_of(response)

    def for_threads(self) -> Connection:
        """Return a connection to the same server for threads."""
        return Connection(self.url, self._token, self._timeout, self.retries)

    async def close(self) -> None:
        """Close all connections to the server."""
        await self._http.aclose()


def answer_of(response: httpx.Response) -> Answer:
    """Return an answer of httpx as one of ours."""
    headers = response.headers
    return Answer(
        response.status_code,
        response.text,
        headers.get("Retry-After", ""),
        headers.get("Location", ""),
    )
