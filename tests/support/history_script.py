"""Journals written by hand, and their histories."""

from __future__ import annotations

from typing import Any

from purse.base import amounts
from purse.campaign.campaign import Campaign
from purse.campaign.entry import Entry
from purse.campaign.history import History
from purse.campaign.storage.connect import in_memory

START = 1_700_000_000_000
CENT = 10**7


def make_terms(arms: int = 2, budget: tuple[int, ...] = (100 * CENT,), **more: Any) -> Any:
    """Return terms in which every arm may cost the whole budget."""
    whole = [amounts.text(units) for units in budget]
    terms: dict[str, Any] = {
        "arms": dict.fromkeys("abcdefghijklmnopqrstuvwxyz"[:arms], whole),
        "budget": whole,
        "resources": ["USD", "tokens"][: len(budget)],
        "policy": "uniform",
        **more,
    }
    return Campaign.create("c", **terms, storage=in_memory()).terms


class Script:
    """Writes a journal by hand."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.at, self.tickets = START, 0
        self.add("created")

    def add(self, kind: str, ticket: int | None = None, after: int = 0, **body: Any) -> None:
        """Add an entry, so many ms after the last one."""
        self.at += after
        self.entries.append(Entry.of(len(self.entries) + 1, self.at, kind, body, None, ticket))

    def ask(self, arm: int = 0, *held: int, after: int = 0) -> int:
        """Issue a ticket with so much held, and return its number."""
        self.tickets += 1
        body = {"t": self.tickets, "arm": arm, "p": 0.5, "held": list(held or (CENT,))}
        self.add("asked", self.tickets, after, **body)
        return self.tickets

    def tell(
        self, ticket: int, reward: float, *costs: int, after: int = 0, source: str = "held"
    ) -> None:
        """Report a ticket of the state `source`."""
        asked = next(each.body for each in self.entries if each.ticket == ticket)
        most = asked["held"] if source != "void" else [0] * len(costs)
        over = {"over": True} if any(map(int.__gt__, costs, most)) else {}
        body = {"t": ticket, "arm": asked["arm"], "p": 0.5, "reward": reward, "costs": list(costs)}
        self.add("told", ticket, after, **body, **{"from": source}, **over)

    def about(self, ticket: int) -> list[Entry]:
        """Return the entries about a ticket."""
        return [each for each in self.entries if each.ticket == ticket and each.kind != "conflict"]

    def pull(self, arm: int, reward: float, cost: int, after: int = 0, later: int = 0) -> None:
        """Ask for a ticket, and report `later` ms after it."""
        self.tickets += 1
        ticket, facts = self.tickets, {"t": self.tickets, "arm": arm, "p": 0.5}
        self.add("asked", ticket, after, **facts, held=[cost])
        self.add("told", ticket, later, **facts, reward=reward, costs=[cost], **{"from": "held"})


def folded(script: Script, terms: Any = None) -> History:
    """Return the history that watches the fold of a journal."""
    history = History(terms or make_terms())
    history.fold(script.entries, script.about)
    return history


def last(history: History, resource: int = 0) -> dict[str, str]:
    """Return the last point of the counters of a resource."""
    purse = history.as_dict()["purses"][resource]
    return {
        name: purse[name][-1] for name in ("budget", "spent", "held", "presumed", "left", "overrun")
    }
