"""What the entries of a campaign have moved, one after the other, folded from its journal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from purse.campaign.account.ledger import differences
from purse.campaign.audit import pages, stored_ticket
from purse.campaign.journal import Entry
from purse.campaign.ledger import Ledger
from purse.campaign.records import Balance
from purse.campaign.storage.base import Storage
from purse.campaign.terms import Terms
from purse.campaign.ticket_window import TicketWindow
from purse.campaign.transaction import asked_in_of
from purse.errors import InvalidInput, shorten

NO_END = 2**62  # an entry that no journal has


class Move(NamedTuple):
    """An entry of a campaign that has moved money."""

    entry: Entry
    before: list[Balance]
    after: list[Balance]
    asked_in: Mapping[str, int] | None  # see `AccountTransaction.book`

    @property
    def left(self) -> list[int]:
        """(d,) What an ask saw as left."""
        return self.entry.body.get("left") or [purse.left for purse in self.before]


class CampaignMoves:
    """The journal of a campaign, folded as far as somebody wants to know."""

    def __init__(self, storage: Storage, name: str) -> None:
        self.storage, self.name = storage, name
        (first,) = storage.entries(name, 0, 1)
        self.terms = Terms.from_dict(first.body)
        self._tickets = TicketWindow(
            lambda number: stored_ticket(storage, name, number), self.terms.expires_after
        )
        self._ledger = Ledger(self.terms)
        self._ledger.tickets = self._tickets
        self._moves = self._fold()
        self._next = next(self._moves, None)

    def _fold(self) -> Iterator[Move]:
        """Fold the entries; those that have moved money."""
        for entry in pages(self.storage, self.name, self._ledger.seq, NO_END):
            before = self._ledger.balances
            try:
                if entry.ticket is not None:
                    self._tickets.recall(entry)
                self._ledger.fold(entry)
                self._ledger.requests.clear()
                asked_in = asked_in_of(self._ledger, entry)
                self._tickets.tidy()
            except Exception as error:  # an entry may be anything
                raise InvalidInput(
                    f"entry {entry.seq} of campaign {self.name!r}, {entry.kind}, cannot follow "
                    f"those before it: {shorten(repr(error))}"
                ) from None
            if before and differences(before, self._ledger.balances):
                yield Move(entry, before, self._ledger.balances, asked_in)

    def peek(self, upto: int) -> Move | None:
        """The next move, up to an entry; None where there is none."""
        return self._next if self._next is not None and self._next.entry.seq <= upto else None

    def take(self) -> None:
        """Go on to the move after the next."""
        self._next = next(self._moves, None)

    def skip_to(self, entry: int) -> list[Balance]:
        """Pass all moves up to an entry; the balances after it, but for the budgets."""
        while self.peek(entry) is not None:
            self.take()
        return self._ledger.balances if self._next is None else self._next.before
