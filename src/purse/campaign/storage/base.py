"""The interface of a storage, which is where campaigns are kept.

A storage knows nothing of the rules. It locks a campaign, reads what is wanted, lets the caller
decide, writes what was decided and commits: all of that in `change`, and nothing of a campaign is
written anywhere else but checkpoints. Everything else only reads, and never waits for a writer.
Tests hold every implementation to this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import orjson

from purse.campaign.account.records import AccountRecord
from purse.campaign.checkpoint import Checkpoint
from purse.campaign.journal import Entry
from purse.campaign.labels import LabelRow
from purse.campaign.records import Balance, CampaignRecord, TicketRecord
from purse.campaign.states import ACCOUNT, OPEN, SKIPPED, VOID, CampaignState, LevelKind
from purse.errors import CampaignExists, NoSuchCampaign

MOST_DUE = 1_000  # holds that expire in one transaction
UNUSED = (VOID, SKIPPED)  # states of tickets that were not used


class ReadSet(NamedTuple):
    """What a change has to know."""

    tickets: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()  # the entries that answered these, and their tickets
    told_after: int | None = None  # the reports after this entry, and the digest up to it
    # tickets held whose deadline is not after this time, in ms; at most `MOST_DUE` of a state
    due: int | None = None
    due_rewards: bool = False  # settled tickets, too, that are due for their reward


class LockedAccount(NamedTuple):
    """What an account is at the moment it is locked."""

    name: str
    seq: int  # of its last entry
    head: AccountRecord
    balances: list[Balance]
    requests: dict[str, Entry] = {}  # noqa: RUF012


class AccountWrite(NamedTuple):
    """What is to be written of an account."""

    name: str
    seq: int
    head: AccountRecord
    balances: list[Balance]
    entries: list[Entry]
    digests: list[str]  # of the journal up to each entry


class LockedState(NamedTuple):
    """What a campaign is at the moment it is locked."""

    seq: int  # of its last entry
    head: CampaignRecord
    balances: list[Balance]
    tickets: dict[int, TicketRecord]  # wanted, of wanted requests, and due
    requests: dict[str, Entry]
    told: Sequence[tuple[int, str]]  # number and body, as JSON, of each report
    due: list[TicketRecord]
    # of the journal up to entry `told_after`; None where it has no such entry
    digest: str | None = None
    accounts: Sequence[LockedAccount] = ()  # above it, from the top down


class WriteSet(NamedTuple):
    """What is to be written."""

    seq: int
    head: CampaignRecord
    balances: list[Balance]
    tickets: list[TicketRecord]  # new or changed
    entries: list[Entry]
    digests: list[str]  # of the journal up to each entry
    checkpoints: Sequence[Checkpoint] = ()
    accounts: Sequence[AccountWrite] = ()  # above it, as far as they change
    labels: Sequence[LabelRow] = ()  # what is added to the sums of labels


class Overview(NamedTuple):
    """A glance at a campaign, of one moment."""

    seq: int
    head: CampaignRecord
    balances: list[Balance]
    overdue: int
    oldest: int | None  # when the oldest ticket that is held was asked for, in ms
    danger: str | None = None  # what is wrong with the storage, for people


class Level(NamedTuple):
    """A campaign or an account below an account."""

    name: str
    kind: LevelKind
    status: CampaignState
    balances: list[Balance]
    below: tuple[Level, ...] = ()
    period: Sequence[Any] = ()  # see `periods.Period`, where the budget is renewed


class AccountOverview(NamedTuple):
    """A glance at an account and all that is below it, of one moment."""

    account: str  # above it; "" where there is none
    seq: int
    head: AccountRecord
    balances: list[Balance]
    below: tuple[Level, ...]


class Reports(NamedTuple):
    """The reports that follow an entry, of one moment."""

    digest: str | None  # of the journal up to that entry; None where there is no such entry
    rows: Sequence[tuple[int, str]]  # number and body, as JSON, of each
    seq: int  # the entry up to which these are all reports
    last: str | None  # the digest up to that entry


class LabelTable(NamedTuple):
    """The sums of labels, of one moment."""

    seq: int  # of the last entry
    rows: list[LabelRow]  # in the order of keys, values and resources


Join = Callable[[Sequence[LockedAccount]], Sequence[AccountWrite]]


class Storage(Protocol):
    """What every back-end offers; all errors of the back-end come out as `StorageUnavailable`. Safe
    to use from several threads and after a fork.
    """

    now: Callable[[], int]  # ms since 1970

    def create(
        self, name: str, changes: Iterable[WriteSet], account: str = "", join: Join | None = None
    ) -> None:
        """A new campaign, with its first entry and whatever else is given, all of it or nothing.
        Raises `CampaignExists`.

        account   the account above it, "" for none; raises `NoSuchCampaign` where it is missing
        join      decides on what is written to the accounts above it, which are locked
        """

    def create_account(self, first: AccountWrite, account: str = "") -> None:
        """A new account, with its first entry, below another one or none. Raises as `create`."""

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Lock the campaign, read, decide, write and commit, or do nothing where `decide` says
        None. Raises `NoSuchCampaign`.

        When it returns, what was decided is durable. When it raises, nothing is written, or, where
        the connection was lost while committing, all of it: `decide` may be called again after such
        a loss, and must find out.

        The accounts above the campaign are locked before it, from the top down.
        """

    def change_account(
        self,
        name: str,
        requests: Sequence[str],
        decide: Callable[[LockedAccount], AccountWrite | None],
    ) -> None:
        """Lock an account alone, read the entries that answered these requests, and go on as
        `change` does.
        """

    def names(self) -> list[str]:
        """The names of all campaigns."""

    def accounts(self) -> list[str]:
        """The names of all accounts."""

    def account(self, name: str) -> AccountOverview:
        """A glance at an account. Raises `NoSuchCampaign`."""

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow entry `after`, at most so many."""

    def account_entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries of an account that follow entry `after`, at most so many."""

    def told(self, name: str, after: int, limit: int) -> Reports:
        """The reports that follow entry `after`, at most so many."""

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow ticket `after`, at most so many."""

    def journals(self) -> list[tuple[LevelKind, str, int]]:
        """Kind, name and number of the last entry of each campaign and account."""

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """The last checkpoint of a kind, of a campaign or an account."""

    def keep(self, name: str, kind: str, seq: int, digest: str, body: bytes) -> None:
        """Store a checkpoint of a campaign or an account in the place of the last one of its kind,
        without a change of anything else.
        """

    def labels(self, name: str) -> LabelTable:
        """The sums of all labels."""

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


def reports_since(
    rows: Sequence[tuple[int, str]], after: int
) -> tuple[Sequence[tuple[int, str]], str | None]:
    """The reports after an entry, and the digest of the journal up to it: "" before the first
    entry, None where there is no such entry.

    rows   number and body of each report; before them, where it is there, the entry itself, with
           its digest in the place of a body
    """
    digest = None if after else ""
    if rows and rows[0][0] == after:
        (_, digest), *rows = rows
    return rows, digest


def levels(
    rows: Iterable[Sequence[Any]], below: Callable[[int], tuple[Level, ...]]
) -> tuple[Level, ...]:
    """Levels from rows of one resource each, with key, name, kind, head and balance; `below` finds
    what is below a key.
    """
    found: dict[int, Level] = {}
    for key, name, kind, head, *balance in list(rows):
        if key not in found:
            facts, under = orjson.loads(head), below(key) if kind == ACCOUNT else ()
            found[key] = Level(name, kind, facts["status"], [], under, facts.get("period", ()))
        found[key].balances.append(Balance(*balance))
    return tuple(found.values())


def missing(kind: str, name: str) -> NoSuchCampaign:
    """The error for a name that is not that of a campaign, or of an account."""
    return NoSuchCampaign(f"there is no {kind} {name!r}")


def taken(kind: str, name: str) -> CampaignExists:
    """The error for a name that a campaign, or an account, has already."""
    return CampaignExists(f"there is {'an' if kind == ACCOUNT else 'a'} {kind} {name!r} already")


def ticket_record(row: Sequence[Any]) -> TicketRecord:
    """A ticket from the columns of its row."""
    number, state, at, deadline, body = row
    return TicketRecord(number, state, at, deadline, orjson.loads(body))


def among(states: Sequence[str]) -> str:
    """A condition on a ticket's state. Those that are open, and those that were not used, have an
    index of their own, which is used where the condition says so in its words.
    """
    listed = ", ".join(f"'{state}'" for state in states)
    for indexed in (OPEN, UNUSED):
        if set(states) <= set(indexed):
            words = ", ".join(f"'{state}'" for state in indexed)
            return f"state IN ({words}) AND state IN ({listed})"
    return f"state IN ({listed})"
