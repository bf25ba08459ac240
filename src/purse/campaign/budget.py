"""`Budget`: what campaigns and accounts share, each verb once.

A verb is a method with a row: see `purse.campaign.api.verb`. If this process keeps the budget, the
method's body runs; if a server keeps it, the row is sent. This imports nothing heavy, for the
client's sake: bodies import their rules.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    Self,
    TypeAlias,
    TypeVar,
    cast,
)

from purse.base.optional import needs
from purse.base.plain_validation import choice, integer, request_of
from purse.campaign.api import defaults, kinds
from purse.campaign.api.journal import Entry, write_as
from purse.campaign.api.states import ENDED, PAUSED, RUNNING, read_alerts
from purse.campaign.api.verb import BudgetBase, of_all, row_of, verb
from purse.client.server import Server
from purse.errors import CampaignEnded, Conflict, invalid

if TYPE_CHECKING:
    from pathlib import Path

    from purse.campaign.run.local_level import LocalLevel
    from purse.campaign.storage.storage import Storage

# an address; or a storage, or a server, that is connected already
Place: TypeAlias = str | Any
PAGE = 1_000  # entries of a journal at a time
MOST_PAGE = 10_000
LARGEST = 2**62  # of numbers of entries and tickets
S = TypeVar("S")  # the status


class Budget(BudgetBase, Generic[S]):
    """A budget in a file, in a database or on a server."""

    ALERTS: ClassVar[Sequence[str]]  # words of its rules
    _local: LocalLevel  # what this process keeps otherwise

    def __init__(self, name: str, at: Server | LocalLevel) -> None:
        self.name = name
        if isinstance(at, Server):
            self._server = at
            kinds.checked_name("name", name)  # it is a part of paths
        else:
            self._local = at

    def __repr__(self) -> str:
        address = f" at {self._server.url}" if self._server else ""
        return f"<{type(self).__name__} {self.name!r}{address}>"

    @classmethod
    def _create(cls, arguments: dict[str, Any]) -> Self:
        """Create a budget from all arguments of `create`."""
        del arguments["cls"]
        storage, token = arguments.pop("storage"), arguments.pop("token")
        if server := Server.at(storage, token):
            row_of(cls.create).send(server, cls, "", arguments)  # type: ignore[attr-defined]
            return cls(arguments["name"], server)
        with needs(f"a {cls.KIND} at {storage!r}"):
            from purse.campaign.run import local_level

        exist_ok = kinds.read_exist_ok(arguments.pop("exist_ok"))
        return cls(
            arguments["name"],
            local_level.create_level(cls.KIND, arguments, storage, token, exist_ok),
        )

    @classmethod
    def open(
        cls, name: str, *, storage: Place = defaults.STORAGE, token: str | None = None
    ) -> Self:
        """Return an existing campaign or account as its storage holds it.

        storage, token   as for `create`

        Raise `NotFound` when the storage has none of this name.
        Raise `InvalidInput` when none can have it.
        """
        if server := Server.at(storage, token):
            budget = cls(name, server)
            budget.status()
            return budget
        with needs(f"a {cls.KIND} at {storage!r}"):
            from purse.campaign.run import local_level

        storage = local_level.connect_storage(storage, token)
        return cls(
            name, local_level.open_level(cls.KIND, kinds.checked_name("name", name), storage)
        )

    @classmethod
    @of_all("GET", "read", key="names")
    def names(cls, *, storage: Place = defaults.STORAGE, token: str | None = None) -> list[str]:
        """Return the names of all campaigns, or of all accounts, of a storage.

        storage, token   as for `create`
        """
        if server := Server.at(storage, token):
            return cast(list[str], row_of(cls.names).send(server, cls, "", {}))
        with needs(f"a {cls.KIND} at {storage!r}"):
            from purse.campaign.run import local_level

        return local_level.connect_storage(storage, token).names(cls.KIND)

    @property
    def storage(self) -> Storage:
        """The storage, if this process reaches it itself."""
        return self._here().storage

    def _here(self) -> LocalLevel:
        if self._server is not None:
            raise AttributeError(
                f"a {self.KIND} on a server has neither 'storage' nor 'terms' here; status() says "
                "how it stands, and the first entry of journal() what it was created with"
            )
        return self._local

    @verb("GET", "", "read")
    def status(self) -> S:
        """Return the balances, counts and alarms; of an account, those of all below it, too.

        Like every method that only reads, it neither waits for a writer nor makes one wait.
        """
        return cast(S, self._local.status())

    @verb("POST", "top-ups", "admin", CampaignEnded, Conflict)
    def top_up(self, amount: kinds.Amounts, request_id: kinds.RequestId | None = None) -> S:
        """Add to the budget, once for each `request_id`, and return the new status.

        amount       a positive amount; for several resources one for each
        request_id   1 to 200 printable characters that name this request; a repeat adds nothing

        Raise `CampaignEnded` when the budget has ended.
        Raise `Conflict` when `request_id` was used before for another request.
        """
        from purse.campaign.rules import operators

        units, request = self._local.terms.amounts("amount", amount), request_of(request_id)
        if min(units) < 0 or max(units) == 0:
            raise invalid("amount", amount, "must be positive")
        self._local.do(lambda change: operators.top_up(change, units, request), requests=(request,))
        return self.status()

    @verb("POST", "budget", "admin", CampaignEnded, Conflict)
    def set_budget(
        self,
        amount: kinds.Amounts,
        when: Literal["now", "next"] = "now",
        request_id: kinds.RequestId | None = None,
    ) -> S:
        """Set the budget, once for each `request_id`, and return the new status.

        amount       what there is in all, top-ups included; of a budget that is renewed, what a
                     period has in all
        when         "now" for this period and later ones, "next" from the next one on
        request_id   1 to 200 printable characters that name this request; a repeat changes nothing

        What was given out stays: with a budget below it, what is left is negative, and no ask is
        granted until reports, a new period or more money have paid that off.

        Raise `CampaignEnded` when the budget has ended.
        Raise `Conflict` when `request_id` was used before for another request.
        """
        from purse.campaign.rules import operators

        choice("when", when, (operators.NOW, operators.NEXT))
        units = self._local.terms.amounts("amount", amount, low=0)
        request = request_of(request_id)
        self._local.do(
            lambda change: operators.set_budget(change, units, when, request), requests=(request,)
        )
        return self.status()

    @verb("POST", "charges", "admin", Conflict)
    def charge(
        self,
        amount: kinds.SignedAmounts,
        labels: kinds.Labels | None = None,
        note: str = "",
        request_id: kinds.RequestId | None = None,
    ) -> S:
        """Book money that came without a ticket, once for each `request_id`, and return the new
        status: a provider's bill may say more than the reports.

        amount       what was spent besides; negative: a credit, at most what was spent
        labels       of a campaign: what it was for, as for `ask`
        note         for people; the journal keeps the first 200 printable characters
        request_id   1 to 200 printable characters that name this request; a repeat books nothing

        It is spent today, here and above; a budget that has ended takes it, too.

        Raise `Conflict` when `request_id` was used before for another request.
        """
        from purse.campaign.ledger.ask_inputs import read_labels
        from purse.campaign.rules import operators
        from purse.campaign.rules.reports import read_note

        units, request = self._local.terms.amounts("amount", amount), request_of(request_id)
        if not any(units):
            raise invalid("amount", amount, "must not be 0")
        values = units, read_labels(labels), read_note("note", note), request
        about = tuple((values[1] or {}).items())
        self._local.do(
            lambda change: operators.charge(change, *values), requests=(request,), labels=about
        )
        return self.status()

    @verb("POST", "pause", "admin", CampaignEnded)
    def pause(self) -> S:
        """Issue no tickets, here and below, until `resume`, but accept reports; return the new
        status.
        """
        return self._turn("paused", PAUSED)

    @verb("POST", "resume", "admin", CampaignEnded)
    def resume(self) -> S:
        """Issue tickets again after `pause`; return the new status."""
        return self._turn("resumed", RUNNING)

    @verb("POST", "end", "admin")
    def end(self) -> S:
        """Issue no tickets, here and below, from now on, for good, but accept reports; return the
        new status.
        """
        return self._turn("ended", ENDED)

    def _turn(self, kind: str, state: str) -> S:
        from purse.campaign.rules import operators

        self._local.do(lambda change: operators.set_status(change, kind, state))
        return self.status()

    @verb("POST", "alerts", "admin")
    def set_alerts(self, alerts: kinds.Alerts) -> S:
        """Make events by these rules from now on, and return the new status.

        alerts   as for `create`; an empty list ends all alerts
        """
        from purse.campaign.rules import operators

        rules = read_alerts(alerts, self.ALERTS)
        self._local.do(lambda change: operators.set_alerts(change, rules))
        return self.status()

    def journal(self, after: int = 0) -> Iterator[Entry]:
        """Yield the entries of the journal whose number is above `after`, in order."""
        while page := self._journal(after, PAGE):
            yield from page
            after = page[-1].seq

    @verb("GET", "journal", "read", lines=True)
    def _journal(self, after: int = 0, limit: int = PAGE) -> list[Entry]:
        """Return entries of the journal, in order; an empty list after the last one.

        after   only entries whose number is above this one
        limit   the number of entries at most; fewer once they have 4 MB
        """
        after = integer("after", after, low=0, high=LARGEST)
        limit = integer("limit", limit, low=1, high=MOST_PAGE)
        return [
            Entry(
                entry.seq,
                entry.at,
                entry.kind,
                entry.request,
                entry.ticket,
                entry.body,
                entry.salt.hex() if entry.salt else None,
            )
            for entry in self._local.entries(after, limit)
        ]

    def export(self, file: str | Path | IO[str]) -> int:
        """Write the journal as JSON lines and return the number of entries.

        file   a path, which is written whole or not at all, for its owner alone; or an open text
               file
        """
        return self._export(file, self.journal())

    def _export(self, file: str | Path | IO[str], entries: Iterable[Entry], **more: Any) -> int:
        from purse.base.json import compact

        def write(lines: IO[str]) -> int:
            return write_as(compact, lines, self.name, entries, self.KIND, **more)

        if not isinstance(file, (str, os.PathLike)):
            return write(file)
        from pathlib import Path

        from purse.base.files import PRIVATE, write_atomically

        counts: list[int] = []
        write_atomically(
            Path(file),
            lambda raw: counts.append(write(cast(IO[str], codecs.getwriter("utf-8")(raw)))),
            PRIVATE,  # contexts and labels
        )
        return counts[0]

    def close(self) -> None:
        """Let go of the connections to a server. A storage stays connected: others may use it."""
        if self._server is not None:
            self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
