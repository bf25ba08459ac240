"""An account on a server, with the verbs, types and errors of one that is here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

from purse.campaign.account import Account
from purse.campaign.account_results import AccountStatus
from purse.campaign.journal import Entry
from purse.campaign.results import Audit
from purse.client.connection import Connection, connected
from purse.client.verbs import accounts


class RemoteAccount(Account):
    """An account on a server.

    url   the address of the server
    """

    def __init__(self, name: str, connection: Connection) -> None:
        self._name, self._connection = name, connection
        self.url = connection.url

    @property
    def name(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<Account {self.name!r} at {self.url}>"

    @classmethod
    def _create(
        cls, name: str, terms: dict[str, Any], storage: Any, token: str | None, exist_ok: bool
    ) -> Self:
        connection = connected(storage, token)
        connection.do(accounts.create(name, terms, exist_ok))
        return cls(name, connection)

    @classmethod
    def _open(cls, name: str, storage: Any, token: str | None) -> Self:
        connection = connected(storage, token)
        connection.do(accounts.status(name))
        return cls(name, connection)

    @classmethod
    def _names(cls, storage: Any, token: str | None) -> list[str]:
        return connected(storage, token).do(accounts.names())

    def status(self) -> AccountStatus:
        return self._connection.do(accounts.status(self.name))

    def top_up(self, amount: Any, request_id: str | None = None) -> AccountStatus:
        return self._connection.do(accounts.top_up(self.name, amount, request_id))

    def pause(self) -> AccountStatus:
        return self._connection.do(accounts.pause(self.name))

    def resume(self) -> AccountStatus:
        return self._connection.do(accounts.resume(self.name))

    def end(self) -> AccountStatus:
        return self._connection.do(accounts.end(self.name))

    def set_alerts(self, alerts: Sequence[str]) -> AccountStatus:
        return self._connection.do(accounts.set_alerts(self.name, alerts))

    def journal(self, after: int = 0) -> Iterator[Entry]:
        while page := self._connection.do(accounts.journal_page(self.name, after)):
            yield from page
            after = page[-1].seq

    def audit(self) -> Audit:
        return self._connection.do(accounts.audit(self.name))
