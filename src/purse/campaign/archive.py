"""Entries moved from a campaign's journal into a file, so that the storage stays small.

The file is on disk before anything is dropped. What is dropped, a few thousand tickets in each
transaction, is recorded by an entry in the same transaction. Of each ticket a short row stays, so
that a repeated ask or report gets the same answer as before.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, cast

import orjson

from purse.base.files import sync_folder, write_atomically
from purse.campaign.archived_ticket import ArchivedTicket, archive_ticket, unpack_ask
from purse.campaign.audit import pages
from purse.campaign.checkpoint import LEDGER
from purse.campaign.group_commit import check_same, write_set
from purse.campaign.journal import ARCHIVABLE, Entry, write_lines
from purse.campaign.ledger import Ledger
from purse.campaign.records import TicketRecord
from purse.campaign.results import Archived
from purse.campaign.rules import Transaction
from purse.campaign.states import TOLD, UNFINISHED
from purse.campaign.storage.base import LockedState, ReadSet, Storage, WriteSet
from purse.campaign.terms import Terms
from purse.errors import PurseError

MOST_TICKETS = 5_000  # in a transaction
MOST_ENTRIES = 10_000


def archive(terms: Terms, storage: Storage, path: Path, before: int | None) -> Archived:
    """Move the oldest entries to a new file: those up to the first ticket that is not finished.

    before   only entries of before this time, in ms since 1970

    An audit up to this moment must have found everything right. Raise `PurseError` where there is
    nothing to archive or the file is there already; then nothing has changed.
    """
    if path.exists():
        raise PurseError(f"{str(path)!r} exists already")
    first = max(2, storage.overview(terms.name).head.archived + 1)
    last = last_finished(terms, storage, first, before)
    write_atomically(
        path,
        lambda raw: write_lines(
            cast(IO[str], codecs.getwriter("utf-8")(raw)),
            terms.name,
            pages(storage, terms.name, first - 1, last),
            first=first,
            last=last,
        ),
    )
    sync_folder(path.parent)
    file = {
        "name": path.name,
        "sha256": hash_of(path),
        "first": first,
        "last": last,
        "digest": storage.told(terms.name, last, 1).digest,
    }
    tickets = 0
    for part in parts(pages(storage, terms.name, first - 1, last)):
        tickets += Mover(terms, storage, part, file).move()
    return Archived(str(path), first, last, tickets)


def last_finished(terms: Terms, storage: Storage, first: int, before: int | None) -> int:
    """The last entry that can be archived: one that an audit has seen, before the ask of any ticket
    that is open.
    """
    oldest = storage.tickets(terms.name, UNFINISHED, 0, 1)
    checked = storage.checkpoint(terms.name, LEDGER)
    if checked is None:
        raise PurseError("nothing can be archived: the audit could not leave its checkpoint")
    last, some = first - 1, False
    # not what came since the audit: the next one begins at its checkpoint, and has to find that
    for entry in pages(storage, terms.name, first - 1, checked.seq):
        if before is not None and entry.at >= before:
            break
        if oldest and any(each["id"] >= oldest[0].id for each in entry.body.get("tickets", ())):
            if last < first:
                raise PurseError(
                    f"nothing can be archived: ticket {oldest[0].id} is {oldest[0].state}; "
                    "finish it first"
                )
            break
        last, some = entry.seq, some or entry.kind in ARCHIVABLE
    if last < first:
        raise PurseError(f"nothing can be archived: entry {first} is not that old")
    if not some:
        raise PurseError("nothing can be archived: no ticket was finished since the last archive")
    return last


def parts(entries: Iterator[Entry]) -> Iterator[list[Entry]]:
    """The entries in parts that one transaction can move."""
    part: list[Entry] = []
    tickets = 0
    for entry in entries:
        part.append(entry)
        tickets += len(entry.body.get("tickets", ()))
        if tickets >= MOST_TICKETS or len(part) >= MOST_ENTRIES:
            yield part
            part, tickets = [], 0
    if part:
        yield part


class Mover:
    """Moves one part of a journal, in one transaction."""

    def __init__(
        self, terms: Terms, storage: Storage, part: list[Entry], file: dict[str, Any]
    ) -> None:
        self.terms, self.storage, self.part, self.file = terms, storage, part, file
        self.asks = {
            each["id"]: entry
            for entry in part
            if entry.kind == "asked"
            for each in entry.body["tickets"]
        }
        self.told = {entry.ticket or 0: entry.seq for entry in part if entry.kind == TOLD}

    def move(self) -> int:
        """Return the number of tickets."""
        wanted = ReadSet(tickets=tuple({**self.asks, **self.told}))
        self.storage.change(self.terms.name, wanted, self.decide)
        return len(self.asks)

    def decide(self, found: LockedState) -> WriteSet:
        """Record it, with the tickets as they are now."""
        check_same(self.terms, found.head)
        ledger = Ledger(self.terms, found.seq, found.head, found.balances)
        transaction = Transaction(ledger, self.storage.now())
        transaction.renew()
        transaction.archive(self.part[0].seq, self.part[-1].seq, self.file)
        rows = [self.row(found.tickets[number]) for number in {**self.asks, **self.told}]
        return write_set(transaction)._replace(archived=rows)

    def row(self, record: TicketRecord) -> ArchivedTicket:
        """The short row of a ticket, which may have been archived before it was told."""
        if record.state in UNFINISHED:
            raise PurseError(f"ticket {record.id} is {record.state}: it cannot be archived")
        told = self.told.get(record.id)
        if record.id in self.asks:
            return archive_ticket(record, told, self.asks[record.id])
        (old,) = self.storage.archived(self.terms.name, record.id - 1, 1)
        count, body = unpack_ask(orjson.loads(old.body)[7] or [1, 1])
        body["tickets"] = [{"id": record.id if old.request else 0}] * count
        ask = Entry(0, 0, "asked", None, None, body)
        return archive_ticket(record, told, ask)._replace(request=old.request)


def hash_of(path: Path) -> str:
    """The SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
