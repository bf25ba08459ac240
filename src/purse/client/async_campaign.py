"""`purse.AsyncCampaign`: the verbs of `purse.Campaign` for coroutines.

On a server each verb is a request that the event loop waits for. In a file or a database each verb
runs in a thread.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, Self, TypeVar

from purse.campaign import defaults
from purse.campaign.addresses import is_server
from purse.campaign.campaign import Campaign, Place
from purse.campaign.spending import SpendingVerb
from purse.client.async_connection import AsyncConnection
from purse.client.async_verbs import AsyncVerbs
from purse.client.verbs import operators, records
from purse.errors import InvalidInput

C = TypeVar("C", bound=type)


def as_documented(cls: C) -> C:
    """Give the methods of a class the docstrings, and `create` the signature, of `Campaign`."""
    for name in dir(cls):
        method = inspect.getattr_static(cls, name)
        found = getattr(method, "__func__", method)
        if inspect.isfunction(found) and not found.__doc__ and hasattr(Campaign, name):
            # a class method has one of its own beside that of its function
            method.__doc__ = found.__doc__ = inspect.getdoc(getattr(Campaign, name))
    create = inspect.getattr_static(Campaign, "create").__func__
    cls.create.__func__.__signature__ = inspect.signature(create)  # type: ignore[attr-defined]
    return cls


@as_documented
class AsyncCampaign(AsyncVerbs, SpendingVerb):
    """A campaign for coroutines: `purse.Campaign` whose verbs are awaited.

    `await AsyncCampaign.open(name, storage="https://host")` opens one on a server, which needs the
    extra `client`; with any other address the verbs run in threads. A campaign on a server belongs
    to one event loop. `async with` closes its connections, and `disconnect` does, too.
    """

    def __repr__(self) -> str:
        where = f" at {self._kept.url}" if isinstance(self._kept, AsyncConnection) else ""
        return f"<AsyncCampaign {self.name!r}{where}>"

    @classmethod
    async def create(
        cls,
        name: str,
        *,
        storage: Place = defaults.STORAGE,
        token: str | None = None,
        exist_ok: bool = False,
        **terms: Any,
    ) -> Self:
        connection = connected(storage, token)
        if connection is None:
            make = partial(Campaign.create, storage=storage, token=token, exist_ok=exist_ok)
            return cls(name, await asyncio.to_thread(make, name, **terms))
        async with closed_on_error(connection):
            status = await connection.do(operators.create(name, terms, exist_ok))
        if status.promise is not None:
            warnings.warn(status.promise, stacklevel=2)
        return cls(name, connection)

    @classmethod
    async def open(
        cls, name: str, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> Self:
        connection = connected(storage, token)
        if connection is None:
            find = partial(Campaign.open, storage=storage, token=token)
            return cls(name, await asyncio.to_thread(find, name))
        async with closed_on_error(connection):
            await connection.do(records.status(name))
        return cls(name, connection)

    @classmethod
    async def names(
        cls, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> list[str]:
        connection = connected(storage, token)
        if connection is None:
            return await asyncio.to_thread(Campaign.names, storage=storage, token=token)
        try:
            return await connection.do(records.names())
        finally:
            if connection is not storage:
                await connection.close()

    @classmethod
    async def restore(
        cls,
        file: str | Path | IO[str],
        *,
        storage: Place = defaults.STORAGE,
        name: str | None = None,
        archives: Sequence[str | Path] = (),
    ) -> Self:
        make = partial(Campaign.restore, storage=storage, name=name, archives=archives)
        made = await asyncio.to_thread(make, file)
        return cls(made.name, made)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.disconnect()

    async def disconnect(self) -> None:
        """Close all connections to the server; a file or a database stays open."""
        if isinstance(self._kept, AsyncConnection):
            await self._kept.close()


@asynccontextmanager
async def closed_on_error(connection: AsyncConnection) -> AsyncIterator[None]:
    """Close a connection that nobody will have, since no campaign was found."""
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
