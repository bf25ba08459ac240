"""A storage behind another process, which makes all transactions; this one reads through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Protocol

from purse.campaign.account.terms import AccountTerms
from purse.campaign.archived_ticket import ArchivedTicket
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.journal import Entry
from purse.campaign.records import TicketRecord
from purse.campaign.storage.base import (
    AccountOverview,
    AccountWrite,
    Join,
    LabelTable,
    LockedAccount,
    LockedState,
    Overview,
    ReadSet,
    Reports,
    WriteSet,
)
from purse.campaign.storage.remote.unix_transport import UnixTransport
from purse.campaign.storage.remote.wire import CREATE, CREATE_ACCOUNT, decode
from purse.campaign.terms import Terms
from purse.errors import InvalidInput, StorageUnavailable, invalid

SCHEME = "unix:"
MOST_TICKETS = 5_000  # in one answer
ELSEWHERE = "a client of a server cannot do this; do it with the database's own address"


class Transport(Protocol):
    """A way to a server."""

    def call(self, verb: str, arguments: Sequence[Any]) -> Any:
        """Return the answer as JSON has it, or raise the error that is the answer."""

    def close(self) -> None:
        """Let go of connections."""


class Sendable(Protocol):
    """An operation, as far as it is sent."""

    verb: str
    arguments: tuple[Any, ...]


class RemoteStorage:
    """A storage that another process has open."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.now: Callable[[], int] = lambda: self._call("now")

    @classmethod
    def at(cls, address: str) -> RemoteStorage:
        """The storage behind the address unix:PATH."""
        path = address[len(SCHEME) :]
        if not path or path.startswith("//"):
            raise invalid("storage", address, "must be unix:PATH, or unix:/ABSOLUTE/PATH")
        return cls(UnixTransport(path))

    def _call(self, verb: str, *arguments: Any) -> Any:
        return decode(verb, self._transport.call(verb, arguments))

    def committer(self, terms: Terms) -> RemoteCommitter:
        """What does the operations on a campaign."""
        return RemoteCommitter(terms, self._transport)

    def identity(self) -> str:
        """Tell the server's database from every other one."""
        return self._call("identity")

    def account_committer(self, terms: AccountTerms) -> RemoteCommitter:
        """What does the operations on an account."""
        return RemoteCommitter(terms, self._transport)

    def create(
        self, name: str, changes: Iterable[WriteSet], account: str = "", join: Join | None = None
    ) -> None:
        """A new campaign; the server joins it to its account, which the terms name. Raise
        `InvalidInput` for a journal that one message does not hold.
        """
        first, *more = islice(changes, 2)
        if more:
            raise InvalidInput(f"the journal is long: {ELSEWHERE}")
        self._call(CREATE, name, first)

    def create_account(self, first: AccountWrite, account: str = "") -> None:
        """A new account."""
        self._call(CREATE_ACCOUNT, first, account)

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Nothing: only the server changes campaigns. Raise `StorageUnavailable`."""
        raise StorageUnavailable(ELSEWHERE)

    def change_account(
        self,
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        """Nothing: only the server changes accounts. Raise `StorageUnavailable`."""
        raise StorageUnavailable(ELSEWHERE)

    def names(self) -> list[str]:
        """The names of all campaigns."""
        return self._call("names")

    def accounts(self) -> list[str]:
        """The names of all accounts."""
        return self._call("accounts")

    def account(self, name: str) -> AccountOverview:
        """A glance at an account."""
        return self._call("account", name)

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""
        return self._call("overview", name)

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow, as many as one answer holds."""
        return self._call("entries", name, after, limit)

    def account_entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries of an account that follow, as many as one answer holds."""
        return self._call("account_entries", name, after, limit)

    def told(self, name: str, after: int, limit: int) -> Reports:
        """The reports that follow, as many as one answer holds."""
        return self._call("told", name, after, limit)

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        return self._all("tickets", (name, states), after, limit)

    def archived(self, name: str, after: int, limit: int) -> list[ArchivedTicket]:
        """The archived tickets that follow."""
        return self._all("archived", (name,), after, limit)

    def _all(self, verb: str, arguments: tuple[Any, ...], after: int, limit: int) -> list[Any]:
        """As many tickets as are wanted, an answer at a time."""
        found: list[Any] = []
        while len(found) < limit:
            wanted = min(MOST_TICKETS, limit - len(found))
            page = self._call(verb, *arguments, found[-1].id if found else after, wanted)
            found += page
            if len(page) < wanted:
                break
        return found

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """The last checkpoint of a kind."""
        return self._call("checkpoint", name, kind)

    def labels(self, name: str) -> LabelTable:
        """The sums of all labels."""
        return self._call("labels", name)

    def close(self) -> None:
        """Let go of connections."""
        self._transport.close()


class RemoteCommitter:
    """Has the operations on one campaign, or on one account, done by the server."""

    def __init__(self, terms: Terms | AccountTerms, transport: Transport) -> None:
        self.terms = terms
        self._transport = transport

    def do(self, operation: Sendable) -> Any:
        """Return the answer once it is durable, or raise the error of the operation."""
        arguments = (self.terms.name, self.terms.id, *operation.arguments)
        return decode(operation.verb, self._transport.call(operation.verb, arguments))
