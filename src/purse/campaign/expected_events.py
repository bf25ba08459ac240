"""The events that have to follow an entry of a journal, for those who decide on it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from purse.campaign.account.rules import AccountTransaction
from purse.campaign.ask_rules import AskRules
from purse.campaign.events import Books, due
from purse.campaign.journal import EVENT, Entry
from purse.errors import InvalidInput


class ExpectedEvents:
    """The events that the last entry caused, as far as they have not come yet."""

    def __init__(self) -> None:
        self._bodies: list[dict[str, Any]] = []

    def follow(self, ledger: Books, entry: Entry) -> None:
        """Take in an entry that the ledger has folded."""
        if entry.kind != EVENT:
            self._bodies = due(ledger, entry)

    def missing(self, ledger: Books) -> Iterator[str]:
        """Yield what is missing where another entry follows, or none."""
        for event in self._bodies:
            yield f"the event {event['key']} is missing after entry {ledger.seq}"
        self._bodies = []

    def decide(self, transaction: AskRules | AccountTransaction, event: Entry) -> None:
        """Decide on an event again: one that the last entry caused or, where there is none, one
        that a refusal did.
        """
        if self._bodies:
            transaction.now = transaction.ledger.head.changed
            transaction.add(EVENT, self._bodies.pop(0))
        elif "refused" in event.body:
            need = event.body["refused"]
            if not all(type(units) is int and units >= 0 for units in need):
                raise InvalidInput(f"refused={need}: must be whole units")
            transaction.note_refusal(need)
