"""Campaigns in the memory of this process: for tests and for trying things out."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from purse.base.json import compact
from purse.campaign.checkpoint import Checkpoint, checkpoint
from purse.campaign.fork_safety import reset_after_fork
from purse.campaign.journal import Entry
from purse.campaign.labels import LabelRow
from purse.campaign.records import CampaignRecord, TicketRecord
from purse.campaign.states import ACCOUNT, CAMPAIGN, HELD, SETTLED, TOLD, LevelKind
from purse.campaign.storage.base import (
    MOST_DUE,
    Join,
    LabelTable,
    LockedState,
    Overview,
    ReadSet,
    Reports,
    WriteSet,
    missing,
)
from purse.campaign.storage.memory_accounts import (
    MemoryAccounts,
    StoredJournal,
    page,
)
from purse.errors import PurseError


@dataclass
class StoredCampaign(StoredJournal):
    """One campaign."""

    head: CampaignRecord = field(default_factory=CampaignRecord)
    tickets: dict[int, TicketRecord] = field(default_factory=dict)
    waiting: dict[int, TicketRecord] = field(default_factory=dict)  # held or settled
    told: list[tuple[int, str]] = field(default_factory=list)
    reported: set[int | None] = field(default_factory=set)
    digests: dict[int, str] = field(default_factory=lambda: {0: ""})  # up to each entry
    labels: dict[tuple[str, str, int], LabelRow] = field(default_factory=dict)

    def due(self, now: int, rewards: bool) -> list[TicketRecord]:
        """The tickets held whose deadline is not after a time, and settled ones, too, where rewards
        are due.
        """
        return [
            record
            for record in self.waiting.values()
            if record.deadline is not None
            and record.deadline <= now
            and (record.state == HELD or rewards)
        ][:MOST_DUE]


class Memory(MemoryAccounts):
    """A storage that forgets everything when the process ends. A child process gets a copy of its
    own.
    """

    _shared: dict[str, Memory] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.now: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        super().__init__()
        self._campaigns: dict[str, StoredCampaign] = {}
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Take a new lock in a child process."""
        self._lock = threading.RLock()

    @classmethod
    def shared(cls, address: str) -> Memory:
        """The one of this address."""
        return cls._shared.setdefault(address, cls())

    def create(
        self, name: str, changes: Iterable[WriteSet], account: str = "", join: Join | None = None
    ) -> None:
        """A new campaign."""
        with self._lock:
            self._refuse_known(name)
            above = self._above(account)
            stored = StoredCampaign(account=account)
            for change in changes:
                self._write(stored, change)
            joined = [] if join is None else join(above)
            self._check_accounts(joined)
            self._write_accounts(joined)
            self._campaigns[name] = stored

    def change(
        self, name: str, wants: ReadSet, decide: Callable[[LockedState], WriteSet | None]
    ) -> None:
        """Read, decide and write, while nobody else does."""
        with self._lock:
            stored = self._find(name)
            requests = {
                request: stored.requests[request]
                for request in wants.requests
                if request in stored.requests
            }
            due = [] if wants.due is None else stored.due(wants.due, wants.due_rewards)
            issued = [
                each["id"] for entry in requests.values() for each in entry.body.get("tickets", ())
            ]
            tickets = {
                number: stored.tickets[number]
                for number in (*wants.tickets, *(record.id for record in due), *issued)
                if number in stored.tickets
            }
            told = (
                stored.told[bisect_right(stored.told, (wants.told_after, "\uffff")) :]
                if wants.told_after is not None
                else []
            )
            change = decide(
                LockedState(
                    stored.seq,
                    stored.head.copied(),
                    list(stored.balances),
                    tickets,
                    requests,
                    told,
                    due,
                    None if wants.told_after is None else stored.digests.get(wants.told_after),
                    self._above(stored.account),
                )
            )
            if change is not None:
                self._check_accounts(change.accounts)
                self._write(stored, change)
                self._write_accounts(change.accounts)

    def _write(self, stored: StoredCampaign, change: WriteSet) -> None:
        stored.check(change)
        for entry in change.entries:
            if entry.kind == TOLD and entry.ticket in stored.reported:
                raise PurseError(f"ticket {entry.ticket} has been told already")
        stored.head = change.head.copied()
        stored.add(change)
        for record in change.tickets:
            stored.tickets[record.id] = record
            stored.waiting.pop(record.id, None)
            if record.state in (HELD, SETTLED):
                stored.waiting[record.id] = record
        for entry, digest in zip(change.entries, change.digests, strict=True):
            stored.digests[entry.seq] = digest
            if entry.kind == TOLD:
                stored.reported.add(entry.ticket)
                stored.told.append((entry.seq, compact(entry.body)))
        for each in change.checkpoints:
            stored.checkpoints[each.kind] = each
        for row in change.labels:
            old = stored.labels.get(row[:3], (*row[:3], 0, 0, 0, 0, 0))
            sums = [part + more for part, more in zip(old[3:], row[3:], strict=True)]
            stored.labels[row[:3]] = LabelRow(*row[:3], *sums)

    def _level(self, name: str) -> StoredJournal:
        return (self._find_account if name in self._accounts else self._find)(name)

    def _stored(self) -> dict[str, StoredCampaign]:
        return self._campaigns

    def _find(self, name: str) -> StoredCampaign:
        if name not in self._campaigns:
            raise missing(CAMPAIGN, name)
        return self._campaigns[name]

    def names(self) -> list[str]:
        """The names of all campaigns."""
        with self._lock:
            return sorted(self._campaigns)

    def overview(self, name: str) -> Overview:
        """A glance at a campaign."""
        with self._lock:
            stored, now = self._find(name), self.now()
            held = [each for each in stored.waiting.values() if each.state == HELD]
            overdue = sum(record.deadline is not None and record.deadline <= now for record in held)
            return Overview(
                stored.seq,
                stored.head.copied(),
                list(stored.balances),
                overdue,
                min((record.at for record in held), default=None),
            )

    def entries(self, name: str, after: int, limit: int) -> list[Entry]:
        """The entries that follow."""
        with self._lock:
            return page(self._find(name).entries, after, limit)

    def told(self, name: str, after: int, limit: int) -> Reports:
        """The reports that follow."""
        with self._lock:
            stored = self._find(name)
            first = bisect_right(stored.told, (after, "\uffff"))
            rows = stored.told[first : first + limit]
            seq = rows[-1][0] if rows else after
            return Reports(stored.digests.get(after), rows, seq, stored.digests.get(seq))

    def tickets(
        self, name: str, states: Sequence[str], after: int, limit: int
    ) -> list[TicketRecord]:
        """The tickets in these states that follow."""
        with self._lock:
            found = (
                record
                for record in self._find(name).tickets.values()
                if record.state in states and record.id > after
            )
            return list(islice(found, limit))

    def checkpoint(self, name: str, kind: str) -> Checkpoint | None:
        """The last checkpoint of a kind."""
        with self._lock:
            return self._level(name).checkpoints.get(kind)

    def keep(self, name: str, kind: str, seq: int, digest: str, body: bytes) -> None:
        """Store a checkpoint."""
        with self._lock:
            self._level(name).checkpoints[kind] = checkpoint(kind, seq, digest, body)

    def journals(self) -> list[tuple[LevelKind, str, int]]:
        """Kind, name and last entry of each journal."""
        with self._lock:
            return [
                *((CAMPAIGN, name, each.seq) for name, each in self._campaigns.items()),
                *((ACCOUNT, name, each.seq) for name, each in self._accounts.items()),
            ]

    def labels(self, name: str) -> LabelTable:
        """The sums of all labels."""
        with self._lock:
            stored = self._find(name)
            return LabelTable(stored.seq, sorted(stored.labels.values()))

    def close(self) -> None:
        """Nothing is held outside memory."""
