"""A ledger with the entries that are to be added to the journal: what all rules have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from purse.base import amounts
from purse.campaign import events
from purse.campaign.account.rules import AccountTransaction
from purse.campaign.journal import EVENT, Entry
from purse.campaign.labels import LABELS
from purse.campaign.ledger import Ledger
from purse.campaign.periods.period import ABOVE
from purse.campaign.periods.rules import PeriodRules
from purse.campaign.records import Balance, TicketRecord
from purse.errors import Conflict, TicketError


class BaseTransaction(PeriodRules):
    """Decides on entries, each on the ground of those before it.

    accounts   those above the campaign, from the top down
    """

    ledger: Ledger

    def __init__(
        self, ledger: Ledger, now: int, accounts: Sequence[AccountTransaction] = ()
    ) -> None:
        self.ledger = ledger
        self.accounts = accounts
        self.terms = ledger.terms
        self.now = now
        self.entries: list[Entry] = []
        self.digests: list[str] = []  # of the journal up to each of them
        self.touched: dict[int, None] = {}  # tickets that changed, in order

    def add(
        self,
        kind: str,
        body: dict[str, Any],
        *,
        request: str | None = None,
        ticket: int | None = None,
    ) -> Entry:
        """Decide on the next entry, on what it books on the accounts, and on the events that it
        causes.
        """
        entry = Entry(self.ledger.seq + 1, self.now, kind, request, ticket, body)
        before = self.ledger.balances
        self.ledger.fold(entry)
        self.entries.append(entry)
        self.digests.append(self.ledger.head.digest)
        self.touched.update(
            dict.fromkeys(
                [ticket] if ticket is not None else [each["id"] for each in body.get("tickets", ())]
            )
        )
        self.book(entry, before)
        if self.ledger.head.alerts:
            for event in events.due(self.ledger, entry):
                self.add(EVENT, event)
        return entry

    def book(self, entry: Entry, before: list[Balance]) -> None:
        """Book what an entry has moved on the accounts, which thereby know it before the next."""
        after = self.ledger.balances
        if self.accounts and before and after is not before:
            asked_in = asked_in_of(self.ledger, entry)
            for account in self.accounts:
                account.book(self.terms.name, entry.seq, before, after, asked_in)

    def renew(self) -> None:
        """Begin the periods that are due, those of the accounts first."""
        for account in self.accounts:
            account.renew()
        if self.ledger.head.period:
            super().renew()

    def levels(self) -> Iterator[tuple[str, list[Balance]]]:
        """What can lack money, the campaign first, then its accounts from below: what people call
        it, and its balances.
        """
        yield "", self.ledger.balances
        for account in reversed(self.accounts):
            yield account.title, account.ledger.balances

    def left(self) -> list[int]:
        """(d,) What can be held: the least over the campaign and its accounts."""
        least = [purse.left for purse in self.ledger.balances]
        for account in self.accounts:
            rest = (purse.left for purse in account.ledger.balances)
            least = list(map(min, least, rest))
        return least

    def repeated(self, request: str, kind: str, **same: Any) -> Entry | None:
        """The entry that answered this request before; refused where the request was another
        one.
        """
        entry = self.ledger.requests.get(request)
        if entry is not None and (
            entry.kind != kind or any(entry.body.get(name) != same[name] for name in same)
        ):
            before = (
                f"{entry.body['n']} tickets"
                + (" of some arms" if "mask" in entry.body else "")
                + (" with labels" if LABELS in entry.body else "")
                if entry.kind == "asked"
                else f"a top-up of {', '.join(map(amounts.text, entry.body['units']))}"
            )
            raise Conflict(f"request_id={request!r} was used before for another request: {before}")
        return entry

    def find(self, ticket: int) -> TicketRecord:
        """A ticket that was issued."""
        record = self.ledger.tickets.get(ticket)
        if record is None:
            raise TicketError(
                f"ticket {ticket} is not one that campaign {self.terms.name!r} issued"
            )
        return record

    def arm_names(self, arms: Iterable[int]) -> str:
        """Arms by their names."""
        return " and ".join(repr(self.ledger.arms.names[arm]) for arm in arms)


def asked_in_of(ledger: Ledger, entry: Entry) -> Mapping[str, int] | None:
    """The periods of accounts, by their ids, in which the ticket of an entry was asked for; None
    where the entry is about no ticket that was asked for before.
    """
    if entry.ticket is None:
        return None
    found: Mapping[str, int] = ledger.tickets[entry.ticket].body.get(ABOVE, {})
    return found
