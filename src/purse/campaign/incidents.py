"""The tickets that alarms are about, and when: the last few of each kind."""

from __future__ import annotations

from collections import deque
from typing import Any

from purse.campaign.entry import Entry
from purse.campaign.terms import Terms

KEPT = 10  # of each kind
KINDS = ("overrun", "conflict", "presumed", "outside-range")  # kinds of alarms


class Incidents:
    """Recent events that a person should look at."""

    def __init__(self, terms: Terms) -> None:
        self.range = terms.reward_range
        self.kept = {kind: deque[list[Any]](maxlen=KEPT) for kind in KINDS}

    def see(self, entry: Entry) -> None:
        """Take in an entry of the journal."""
        if entry.kind == "conflict":
            self._keep("conflict", entry)
        elif entry.kind == "expired":
            self._keep("presumed", entry)
        else:
            if entry.body.get("over"):
                self._keep("overrun", entry)
            if self.range and (reward := entry.body.get("reward")) is not None:
                low, high = self.range
                if not low <= reward <= high:
                    self._keep("outside-range", entry)

    def _keep(self, kind: str, entry: Entry) -> None:
        kept = self.kept[kind]
        if not kept or kept[-1][1] != entry.ticket:
            kept.append([entry.at / 1000, entry.ticket])

    def as_dict(self) -> dict[str, list[list[Any]]]:
        """(time in seconds, ticket) of each kind, the oldest first."""
        return {kind: list(kept) for kind, kept in self.kept.items()}

    def take_over(self, facts: dict[str, list[list[Any]]]) -> None:
        """Know what `as_dict` said."""
        for kind, rows in facts.items():
            self.kept[kind].extend(rows)
