"""Who carries out what the threads of a process want of a campaign: those that come while he is at it share his next transaction."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import orjson

from purse.campaign.book import Book
from purse.campaign.fork import renew_after_fork
from purse.campaign.ledger import Head, Ledger
from purse.campaign.mind import Mind, Snapshot
from purse.campaign.storage import Change, Found, Storage, Wants
from purse.campaign.terms import Terms
from purse.errors import NoSuchCampaign, PurseError, StorageUnavailable

PAGE = 5_000  # reports read at a time
SNAPSHOT_EVERY = 5_000  # entries
TOGETHER = 256  # operations that share a transaction


@dataclass(eq=False)
class Operation:
    """Something that a thread wants done: what it has to know, how it decides and, once it is done, what came of it."""

    decide: Callable[[Book], Any]
    tickets: tuple[int, ...] = ()
    requests: tuple[str, ...] = ()
    chooses: bool = False  # needs the policy
    expires: bool = False  # needs expired holds to be settled first
    done: bool = False
    news: threading.Event = field(default_factory=threading.Event)  # it is done, or it is its thread's turn to work
    answer: Any = None
    error: BaseException | None = None


class Rewound(StorageUnavailable):
    """The journal is not the one that the policy has learnt from: a backup took its place, or another server that knows less or else."""


class Clerk:
    """Does operations on one campaign, in order, many in a transaction where many wait."""

    def __init__(self, terms: Terms, storage: Storage) -> None:
        self.terms = terms
        self.storage = storage
        self.renew()
        renew_after_fork(self)

    def renew(self) -> None:
        """Begin anew, in a child process too: there a thread of the parent may have been in the middle of something."""
        self.mind: Mind | None = None
        self._epoch = 0
        self._queue: deque[Operation] = deque()
        self._lock = threading.Lock()

    def do(self, operation: Operation) -> Any:
        """Have the operation done; returns its answer once that is durable, or raises its error."""
        self._queue.append(operation)
        try:
            while not operation.done:
                if self._lock.acquire(blocking=False):
                    self._lead(operation)
                else:
                    operation.news.wait()
                    operation.news.clear()
        except BaseException:  # this thread was interrupted: nobody may wait for it to lead
            with suppress(ValueError):
                self._queue.remove(operation)
            self._call_the_next()
            raise
        if operation.error is not None:
            raise operation.error
        return operation.answer

    def _lead(self, operation: Operation) -> None:
        """Work until the operation is done, with all that wait; then the next who waits leads. Whoever is done need not come to the lock any more."""
        try:
            while not operation.done:
                self._work([each for each in list(self._queue)[:TOGETHER] if not each.done])
        finally:
            while self._queue and self._queue[0].done:
                self._queue.popleft().news.set()
            self._lock.release()
            self._call_the_next()  # after the lock is free: nobody who found it taken is overlooked

    def _call_the_next(self) -> None:
        with suppress(IndexError):
            self._queue[0].news.set()

    def _work(self, operations: list[Operation]) -> None:
        """Do these in one transaction; one by one where that fails for another reason than the storage, so that nobody suffers for the mistake of another.

        Asks come first: the policy has learnt what is in the journal, and not yet the reports among these.
        """
        operations.sort(key=lambda operation: not operation.chooses)
        try:
            try:
                self._transact(operations)
            except Rewound:
                self._transact(operations)
        except Exception as error:
            if len(operations) > 1 and not isinstance(error, StorageUnavailable):
                for operation in operations:
                    self._work([operation])
                return
            for operation in operations:
                operation.error = error
        except BaseException:
            for operation in operations:
                operation.error = StorageUnavailable("interrupted by another thread; ask again with the same request_id")
                operation.done = True
            raise
        for operation in operations:
            operation.done = True

    def _transact(self, operations: list[Operation]) -> None:
        try:
            mind = self.recovered() if any(operation.chooses for operation in operations) else None
            now = self.storage.now()
            wants = Wants(
                tuple(dict.fromkeys(number for operation in operations for number in operation.tickets)),
                tuple(dict.fromkeys(request for operation in operations for request in operation.requests)),
                None if mind is None else mind.seq,
                now if any(operation.expires for operation in operations) else None,
            )
            self.storage.change(self.terms.name, wants, lambda found: self._decide(operations, mind, found, now))
        except BaseException:
            self.mind = None  # it may have learnt a half, or what is no longer there
            raise

    def _decide(self, operations: list[Operation], mind: Mind | None, found: Found, now: int) -> Change | None:
        check_same(self.terms, found.head)
        ledger = Ledger(self.terms, found.seq, found.head, found.purses)
        ledger.tickets, ledger.requests = found.tickets, found.requests
        book, snapshot = Book(ledger, now), None
        if mind is not None:
            if mind.seq > found.seq or self.storage.epoch != self._epoch:
                raise Rewound
            mind.learn(parsed(found.told), found.seq)
            snapshot = self._snapshot(mind, ledger)
        book.expire(found.due)
        for operation in operations:
            operation.answer, operation.error = None, None
            try:
                operation.answer = operation.decide(book)
            except PurseError as error:
                operation.error = error
        return change_of(book, snapshot) if book.entries else None

    def _snapshot(self, mind: Mind, ledger: Ledger) -> Snapshot | None:
        if ledger.seq - ledger.head.snapshot < SNAPSHOT_EVERY:
            return None
        ledger.head.snapshot = ledger.seq
        return mind.snapshot()

    def recovered(self) -> Mind:
        """The policy with what the journal has taught it so far: from the last snapshot, or from the beginning where that cannot be trusted."""
        if self.mind is None:
            mind, self._epoch = Mind(self.terms), max(0, self.storage.epoch)
            mind.recall(self.storage.snapshot(self.terms.name))
            while page := self.storage.told(self.terms.name, mind.seq, PAGE):
                mind.learn(parsed(page), page[-1][0])
            self.mind = mind
        return self.mind


def check_same(terms: Terms, head: Head) -> None:
    """Refuse a campaign that took the place, and the name, of the one with these terms."""
    if head.id != terms.id:
        raise NoSuchCampaign(f"campaign {terms.name!r} was made anew since it was opened; open it again")


def parsed(told: Any) -> list[tuple[int, dict[str, Any]]]:
    """Reports with their bodies read, all at once."""
    bodies = orjson.loads(f"[{','.join(body for _, body in told)}]")
    return [(seq, body) for (seq, _), body in zip(told, bodies, strict=True)]


def change_of(book: Book, snapshot: Snapshot | None = None) -> Change:
    """What a book has decided, to be written."""
    ledger = book.ledger
    return Change(ledger.seq, ledger.head, ledger.purses, [ledger.tickets[number] for number in book.touched], book.entries, snapshot)
