"""`purse.AsyncCampaign`: the verbs of `purse.Campaign` for coroutines.

On a server each verb is a request that the event loop waits for. In a file or a database each verb
runs in a thread.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

from purse.campaign import defaults
from purse.campaign.campaign import Campaign, Place
from purse.campaign.spending import SpendingVerb
from purse.client.async_base import as_documented, closed_on_error, connected
from purse.client.async_verbs import AsyncVerbs
from purse.client.verbs import operators, records


@as_documented(Campaign)
class AsyncCampaign(AsyncVerbs, SpendingVerb):
    """A campaign for coroutines: `purse.Campaign` whose verbs are awaited.

    `await AsyncCampaign.open(name, storage="https://host")` opens one on a server, which needs the
    extra `client`; with any other address the verbs run in threads. A campaign on a server belongs
    to one event loop. `async with` closes its connections, and `close` does, too.
    """

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
            await connection.do(operators.create(name, terms, exist_ok))
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
        account: str | None = None,
    ) -> Self:
        make = partial(Campaign.restore, storage=storage, name=name, account=account)
        made = await asyncio.to_thread(make, file)
        return cls(made.name, made)
