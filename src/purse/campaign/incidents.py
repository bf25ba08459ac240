"""The tickets that alarms are about, and when: the last few of each kind."""

from __future__ import annotations

from collections import deque
from typing import Any

from purse.campaign.terms import Terms

KEPT = 10  # of each kind
KINDS = ("overrun", "conflict", "presumed", "outside-range")  # kinds of alarms


class Incidents:
    """Recent events that a person should look at."""

    def __init__(self, terms: Terms) -> None:
        self.range = terms.reward_range
        self.kept = {kind: deque[list[Any]](maxlen=KEPT) for kind in KINDS}

    def see(self, kind: str, at: int, ticket: int | None, body: dict[str, Any]) -> None:
        """Take in an entry of the journal."""
        if kind == "conflict":
            self._keep("conflict", at, ticket)
        elif kind == "expired":
            self._keep("presumed", at, ticket)
        elif kind in ("told", "settled", "failed", "rewarded"):
            if not body.get("settled") and any(body.get("overrun", ())):
                self._keep("overrun", at, ticket)
            if self.range and not all(
                self.range[0] <= reward <= self.range[1] for reward in body.get("rewards", ())
            ):
                self._keep("outside-range", at, ticket)

    def _keep(self, kind: str, at: int, ticket: int | None) -> None:
        kept = self.kept[kind]
        if not kept or kept[-1][1] != ticket:
            kept.append([at / 1000, ticket])

    def as_dict(self) -> dict[str, list[list[Any]]]:
        """(time in seconds, ticket) of each kind, the oldest first."""
        return {kind: list(kept) for kind, kept in self.kept.items()}

    def take_over(self, facts: dict[str, list[list[Any]]]) -> None:
        """Know what `as_dict` said."""
        for kind, rows in facts.items():
            self.kept[kind].extend(rows)
