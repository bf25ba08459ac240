"""What a storage reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from purse.campaign.entry import Entry
from purse.campaign.records import Balance, Head
from purse.campaign.storage import sql
from purse.campaign.storage.sql import Rows, Statement


class Wants(NamedTuple):
    """What a change has to know, besides the levels."""

    tickets: Sequence[int] = ()
    requests: Sequence[str] = ()
    told_after: int | None = None  # the reports after this entry
    due: int | None = None  # tickets whose deadline is not after this time, ms


class Found(NamedTuple):
    """A level as it is stored."""

    key: int
    name: str
    kind: str
    parent: int | None
    seq: int
    head: Head
    text: str  # of the head, as it is stored
    balances: list[Balance]


class Locked(NamedTuple):
    """What a level is at the moment it is locked."""

    levels: list[Found]  # from the top down; the last one is it
    answers: list[Entry]  # of the wanted requests
    about: list[Entry]  # all entries of the wanted tickets, and of those of the requests
    due: list[Entry]  # all entries of the tickets that are due
    digest: str | None  # of the journal up to `told_after`; None: it has no such entry
    told: Rows  # number, digest and body of each report after it


class Kept(NamedTuple):
    """A checkpoint: what somebody has made of a journal up to one of its entries."""

    seq: int
    digest: str  # of the journal up to that entry
    body: bytes


class Overview(NamedTuple):
    """A glance at a level, of one moment."""

    levels: list[Found]  # from the top down; the last one is it
    overdue: int  # tickets that are held and past their deadline
    oldest: int | None  # when the oldest ticket that is held was asked for, ms
    danger: str | None  # what is wrong with the storage, for people

    @property
    def head(self) -> Head:
        """The head of the level itself."""
        return self.levels[-1].head


class Stored(NamedTuple):
    """All that is stored of a level beside its journal, at one moment."""

    found: Found
    open: Rows  # ticket, state and deadline
    labels: Rows  # key, value, resource, tickets and sums
    checkpoint: Sequence[Any] | None  # of the policy


class Writes(NamedTuple):
    """What is to be written."""

    levels: Sequence[tuple[int, str, int]]  # seq, head and key of each that changed
    moves: Sequence[tuple[int, int, Sequence[int]]]  # key, resource and what is added
    entries: Sequence[tuple[Any, ...]]  # whole rows
    known: Sequence[tuple[int, int]]  # key and ticket of those that have changed or are finished
    open: Sequence[tuple[int, str, int, int | None]]  # key, state, ticket and deadline
    labels: Sequence[tuple[Any, ...]] = ()
    checkpoints: Sequence[tuple[Any, ...]] = ()

    def statements(self) -> list[Statement]:
        """Return the statements, without those that have nothing to do."""
        moves = [(*parts, key, resource) for key, resource, parts in self.moves]
        made = [
            (sql.ADD_ENTRY, self.entries),
            (sql.MOVE, moves),
            (sql.DROP_OPEN, self.known),
            (sql.ADD_OPEN, self.open),
            (sql.ADD_LABEL, self.labels),
            (sql.PUT_CHECKPOINT, self.checkpoints),
            (sql.PUT_HEAD, self.levels),
        ]
        return [(text, list(rows)) for text, rows in made if rows]


def found(row: Sequence[Any], balances: Rows) -> Found:
    """Return a level from its rows."""
    key, name, kind, parent, seq, head = row
    facts = Head.from_json(head) if head else Head()
    purses = [Balance(*each) for each in balances]
    return Found(key, name, kind, parent, seq, facts, head, purses)
