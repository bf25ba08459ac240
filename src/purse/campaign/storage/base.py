"""The interface of a storage, which is where campaigns are kept.

A storage knows nothing of the rules. It locks a campaign, reads what is wanted, lets the caller
decide, writes what was decided and commits: all of that in `change`, and nothing is written
anywhere else. Everything else only reads, and never waits for a writer.
`purse.testing.check_storage` holds an implementation to this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import orjson

from purse.campaign.journal import Entry
from purse.campaign.learner import Snapshot
from purse.campaign.ledger import Balance, CampaignRecord, TicketRecord
from purse.campaign.states import OPEN

MOST_DUE = 1_000  # holds that expire in one transaction
ROOM = 16_000  # bytes of a notice, of an answer and of what a turn leaves


class ReadSet(NamedTuple):
    """What a change has to know."""

    tickets: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()  # the entries that answered these, and their tickets
    told_after: int | None = None  # the reports after this entry
    # tickets held whose deadline is not after this time, in ms; at most `MOST_DUE` of them
    due: int | None = None


class LockedState(NamedTuple):
    """What a campaign is at the moment it is locked."""

    seq: int  # of its last entry
    head: CampaignRecord
    balances: list[Balance]
    tickets: dict[int, TicketRecord]  # wanted, of wanted requests, and due
    requests: dict[str, Entry]
    told: Sequence[tuple[int, str]]  # number and body, as JSON, of each report
    due: list[TicketRecord]


class WriteSet(NamedTuple):
    """What is to be written."""

    seq: int
    head: CampaignRecord
    balances: list[Balance]
    tickets: list[TicketRecord]  # new or changed
    entries: list[Entry]
    snapshot: Snapshot | None = None


@dataclass
class Turn:
    """A process's turn among those that queue up for a storage, and what they say to each other
    meanwhile. `Turn()` where there is no queue.
    """

    reply: bytes | None = None  # what came of our notice: another has done it
    notices: Sequence[bytes] = ()  # of others who wait
    answers: Sequence[bytes | None] = ()  # what came of each
    found: bytes | None = None  # what was left by who was inside before, if anything
    left: bytes | None = None  # for who comes after


class Overview(NamedTuple):
    """A glance at a campaign, of one moment."""

    seq: int
    head: CampaignRecord
    balances: list[Balance]
    overdue: int
    oldest: int | None  # when the oldest ticket that is held was asked for, in ms
    danger: str | None = None  # what is wrong with the storage, for people


class Storage(Protocol):
    """What every back-end offers; all errors of the back-end come out as `StorageUnavailable`. Safe
    to use from several threads and after a fork.
    """

    now: Callable[[], int]  # ms since 1970
    epoch: int  # how often it has connected anew: what was there before may be gone

    def create(self, name: str, change: WriteSet) -> None:
        """A new campaign, with its first entry and whatever else is given. Raises
        `CampaignExists`.
        """

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock the campaign, read, decide, write and commit, or do nothing where `decide` says
        None. Raises `NoSuchCampaign`.

        When it returns, what was decided is durable. When it raises, nothing is written, or, where
        the connection was lost while committing, all of it: `decide` may be called again after such
        a loss, and must find out.
        """

    def turn(self, name: str, notice: Callable[[], bytes | None]) -> AbstractContextManager[Turn]:
        """Wait for our turn to change something, where processes queue up; who has to wait leaves a
        notice. `nullcontext(Turn())` where they do not.

        Answers are given, and things left, when the turn ends, unless it ends with an error. All of
        it may get lost.
        """

    def names(self) -> list[str]:
        """The names of all campaigns."""

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow entry `after`, at most so many."""

    def told(self, name: str, after: int, limit: int) -> Sequence[tuple[int, str]]:
        """The reports that follow entry `after`, at most so many: number and body, as JSON."""

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow ticket `after`, at most so many."""

    def snapshot(self, name: str) -> Snapshot | None:
        """The last snapshot of the policy."""

    def close(self) -> None:
        """Let go of files and connections."""


def entries_of(rows: Iterable[Sequence[Any]]) -> list[Entry]:
    """Entries from the columns of their rows; their bodies are read all at once, which takes a
    third of the time.
    """
    known = list(rows)
    bodies = orjson.loads(f"[{','.join(row[5] for row in known)}]")
    return [
        Entry(seq, at, kind, request, ticket, body)
        for (seq, at, kind, request, ticket, _), body in zip(known, bodies, strict=True)
    ]


def ticket_record(row: Sequence[Any]) -> TicketRecord:
    """A ticket from the columns of its row."""
    number, state, at, deadline, body = row
    return TicketRecord(number, state, at, deadline, orjson.loads(body))


def among(states: Sequence[str]) -> str:
    """A condition on a ticket's state. Those that are open have an index of their own, which is
    used where the condition says so in its words.
    """
    listed = ", ".join(f"'{state}'" for state in states)
    return (
        f"state IN ('held', 'presumed') AND state IN ({listed})"
        if set(states) <= set(OPEN)
        else f"state IN ({listed})"
    )
