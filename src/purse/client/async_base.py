"""What `AsyncCampaign` and `AsyncAccount` share: connections, and verbs done by a request or in a
thread.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import islice
from typing import Any, Generic, Self, TypeVar

from purse.campaign.addresses import is_server
from purse.campaign.campaign import Place
from purse.campaign.journal import Entry
from purse.client.async_connection import AsyncConnection
from purse.client.exchange import Request
from purse.client.verbs.records import PAGE_SIZE
from purse.errors import InvalidInput

C = TypeVar("C", bound=type)
K = TypeVar("K")


class AsyncBase(Generic[K]):
    """Does verbs on a server, or in threads on what this process reaches itself."""

    def __init__(self, name: str, kept: AsyncConnection | K) -> None:
        self.name = name
        self._kept = kept

    def __repr__(self) -> str:
        where = f" at {self._kept.url}" if isinstance(self._kept, AsyncConnection) else ""
        return f"<{type(self).__name__} {self.name!r}{where}>"

    async def _do(self, verb: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Do a verb, by a request or in a thread."""
        if isinstance(self._kept, AsyncConnection):
            return await self._kept.do(verb(self.name, *given, **named))
        return await asyncio.to_thread(getattr(self._kept, verb.__name__), *given, **named)

    async def _entries(
        self, page_of: Callable[[str, int], Request[list[Entry]]], after: int
    ) -> AsyncIterator[Entry]:
        """Yield the entries of a journal, a page at a time."""
        if isinstance(self._kept, AsyncConnection):
            while page := await self._kept.do(page_of(self.name, after)):
                for entry in page:
                    yield entry
                after = page[-1].seq
        else:
            kept: Any = self._kept
            entries: Iterator[Entry] = kept.journal(after)
            while page := await asyncio.to_thread(list, islice(entries, PAGE_SIZE)):
                for entry in page:
                    yield entry

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections to the server; a file or a database stays open."""
        if isinstance(self._kept, AsyncConnection):
            await self._kept.close()


def as_documented(original: type) -> Callable[[C], C]:
    """Give the methods of a class the docstrings, and `create` the signature, of another one."""

    def documented(cls: C) -> C:
        for name in dir(cls):
            method = inspect.getattr_static(cls, name)
            found = getattr(method, "__func__", method)
            if inspect.isfunction(found) and not found.__doc__ and hasattr(original, name):
                # a class method has one of its own beside that of its function
                method.__doc__ = found.__doc__ = inspect.getdoc(getattr(original, name))
        create = inspect.getattr_static(original, "create").__func__
        cls.create.__func__.__signature__ = inspect.signature(create)  # type: ignore[attr-defined]
        return cls

    return documented


@asynccontextmanager
async def closed_on_error(connection: AsyncConnection) -> AsyncIterator[None]:
    """Close a connection that nobody will have, since nothing was found."""
    try:
        yield
    except BaseException:
        await connection.close()
        raise


def connected(storage: Place, token: str | None) -> AsyncConnection | None:
    """Return a connection to a server; None where the address is none of a server."""
    if isinstance(storage, AsyncConnection):
        if token is not None:
            raise InvalidInput("token: must be left out, since the connection has its own")
        return storage
    if isinstance(storage, str) and is_server(storage):
        return AsyncConnection(storage, token)
    return None
