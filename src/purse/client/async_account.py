"""`purse.AsyncAccount`: the verbs of `purse.Account` for coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Self

from purse.campaign import defaults
from purse.campaign.account import Account
from purse.campaign.account_results import AccountStatus
from purse.campaign.campaign import Place
from purse.campaign.journal import Entry
from purse.campaign.results import Audit
from purse.client.async_base import AsyncBase, as_documented, closed_on_error, connected
from purse.client.async_connection import AsyncConnection
from purse.client.remote_account import RemoteAccount
from purse.client.verbs import accounts


@as_documented(Account)
class AsyncAccount(AsyncBase[Account]):
    """An account for coroutines: `purse.Account` whose verbs are awaited.

    `await AsyncAccount.open(name, storage="https://host")` opens one on a server, which needs the
    extra `client`; with any other address the verbs run in threads. `async with` closes its
    connections, and `close` does, too.
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
            make = partial(Account.create, storage=storage, token=token, exist_ok=exist_ok)
            return cls(name, await asyncio.to_thread(make, name, **terms))
        async with closed_on_error(connection):
            await connection.do(accounts.create(name, terms, exist_ok))
        return cls(name, connection)

    @classmethod
    async def open(
        cls, name: str, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> Self:
        connection = connected(storage, token)
        if connection is None:
            find = partial(Account.open, storage=storage, token=token)
            return cls(name, await asyncio.to_thread(find, name))
        async with closed_on_error(connection):
            await connection.do(accounts.status(name))
        return cls(name, connection)

    @classmethod
    async def names(
        cls, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> list[str]:
        connection = connected(storage, token)
        if connection is None:
            return await asyncio.to_thread(Account.names, storage=storage, token=token)
        try:
            return await connection.do(accounts.names())
        finally:
            if connection is not storage:
                await connection.close()

    async def status(self) -> AccountStatus:
        return await self._do(accounts.status)

    async def top_up(self, amount: Any, request_id: str | None = None) -> AccountStatus:
        return await self._do(accounts.top_up, amount, request_id)

    async def pause(self) -> AccountStatus:
        return await self._do(accounts.pause)

    async def resume(self) -> AccountStatus:
        return await self._do(accounts.resume)

    async def end(self) -> AccountStatus:
        return await self._do(accounts.end)

    async def set_alerts(self, alerts: Sequence[str]) -> AccountStatus:
        return await self._do(accounts.set_alerts, alerts)

    async def journal(self, after: int = 0) -> AsyncIterator[Entry]:
        async for entry in self._entries(accounts.journal_page, after):
            yield entry

    async def audit(self) -> Audit:
        return await self._do(accounts.audit)

    async def export(self, file: str | Path | IO[str]) -> int:
        kept = self._kept
        if isinstance(kept, AsyncConnection):  # files are written in a thread in any case
            kept = RemoteAccount(self.name, kept.for_threads())
        return await asyncio.to_thread(kept.export, file)
