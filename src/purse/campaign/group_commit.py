"""Who carries out what the threads of a process want of a campaign: those that come while he is at
it share his next transaction.

Where processes queue up for the storage, what others want who wait is done in the same transaction,
too.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import suppress
from itertools import chain
from typing import Any

import orjson

from purse.campaign.fork_safety import reset_after_fork
from purse.campaign.learner import Learner, Snapshot
from purse.campaign.ledger import CampaignRecord, Ledger
from purse.campaign.operations import Operation, apply_results, decode, encode, encode_results
from purse.campaign.rules import Transaction
from purse.campaign.storage.base import ROOM, LockedState, ReadSet, Storage, Turn, WriteSet
from purse.campaign.terms import Terms
from purse.errors import NoSuchCampaign, PurseError, StorageUnavailable

PAGE_SIZE = 5_000  # reports read at a time
SNAPSHOT_EVERY = 5_000  # entries
FEW = 4  # reports that are learnt as quickly as taken over
MAX_BATCH = 256  # operations that share a transaction


class JournalRewound(StorageUnavailable):
    """The journal is not the one that the policy has learnt from: a backup took its place, or
    another server that knows less or else.
    """


class Elsewhere(Exception):
    """What was left for us comes from another place than the journal."""


class GroupCommitter:
    """Does operations on one campaign, in order, many in a transaction where many wait."""

    def __init__(self, terms: Terms, storage: Storage) -> None:
        self.terms = terms
        self.storage = storage
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Begin anew, in a child process too: there a thread of the parent may have been in the
        middle of something.
        """
        self.learner: Learner | None = None
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
                    operation.ready.wait()
                    operation.ready.clear()
        except BaseException:  # this thread was interrupted: nobody may wait for it to lead
            with suppress(ValueError):
                self._queue.remove(operation)
            self._wake_next()
            raise
        if operation.error is not None:
            raise operation.error
        return operation.answer

    def _lead(self, operation: Operation) -> None:
        """Work until the operation is done, with all that wait; then the next who waits leads.
        Whoever is done need not come to the lock any more.
        """
        try:
            while not operation.done:
                self._work([each for each in list(self._queue)[:MAX_BATCH] if not each.done])
        finally:
            while self._queue and self._queue[0].done:
                self._queue.popleft().ready.set()
            self._lock.release()
            self._wake_next()  # after the lock is free: nobody who found it taken is overlooked

    def _wake_next(self) -> None:
        with suppress(IndexError):
            self._queue[0].ready.set()

    def _work(self, operations: list[Operation]) -> None:
        """Do these in one transaction; one by one where that fails for another reason than the
        storage, so that nobody suffers for the mistake of another.
        """
        try:
            if any(operation.needs_policy for operation in operations):
                self.recovered()  # before others have to wait for it
            with self.storage.turn(self.terms.name, lambda: encode(self.terms, operations)) as turn:
                if turn.reply is None:
                    self._serve(operations, turn)
                else:
                    apply_results(operations, turn.reply)
        except Exception as error:
            if len(operations) > 1 and not isinstance(error, StorageUnavailable):
                for operation in operations:
                    self._work([operation])
                return
            for operation in operations:
                operation.error = error
        except BaseException:
            for operation in operations:
                operation.error = StorageUnavailable(
                    "interrupted by another thread; ask again with the same request_id"
                )
                operation.done = True
            raise
        for operation in operations:
            operation.done = True

    def _serve(self, operations: list[Operation], turn: Turn) -> None:
        """Do these, and what the guests want who wait. Where both together do not go well, only
        these: the guests will be inside themselves.
        """
        guests = [decode(self.terms, text, self.choose) for text in turn.notices]
        if self.learner is None:  # who only reports does not make others wait until he has a policy
            guests = [
                [] if any(operation.needs_policy for operation in guest) else guest
                for guest in guests
            ]
        if any(guests):
            try:
                self._transact([*operations, *chain.from_iterable(guests)], turn, guests)
            except StorageUnavailable:
                raise
            except Exception:
                turn.found, turn.answers, turn.left = None, (), None
            else:
                return
        self._transact(operations, turn, [])

    def _transact(
        self, operations: list[Operation], turn: Turn, guests: list[list[Operation]]
    ) -> None:
        """Do these in one transaction. Asks come first: the policy has learnt what is in the
        journal, and not yet the reports among these.
        """
        operations.sort(key=lambda operation: not operation.needs_policy)
        try:
            self._attempt(operations, turn, guests)
        except (JournalRewound, Elsewhere):
            turn.found = None
            self._attempt(operations, turn, guests)

    def _attempt(
        self, operations: list[Operation], turn: Turn, guests: list[list[Operation]]
    ) -> None:
        learner: Learner | None = None
        before: Snapshot | None = None
        try:
            learner = self.recovered() if operations[0].needs_policy else None
            mark, left = self._left(learner, turn.found)
            if learner is not None and left is not None:
                before = learner.snapshot()
                learner.restore(left)
            now = self.storage.now()
            wants = ReadSet(
                tuple(
                    dict.fromkeys(
                        number for operation in operations for number in operation.tickets
                    )
                ),
                tuple(
                    dict.fromkeys(
                        request for operation in operations for request in operation.requests
                    )
                ),
                None if learner is None else learner.seq,
                now if any(operation.expires for operation in operations) else None,
            )

            def decide(found: LockedState) -> WriteSet | None:
                if before is not None and found.head.handover != mark:
                    raise Elsewhere
                change = self._decide(operations, learner, found, now)
                if guests and change is not None and learner is not None and learner.size < ROOM:
                    change.head.handover = f"{self.terms.id} {os.urandom(8).hex()}"
                    turn.left = learner.snapshot().packed(change.head.handover)
                turn.answers = [encode_results(guest) if guest else None for guest in guests]
                return change

            self.storage.change(self.terms.name, wants, decide)
        except Elsewhere:
            assert learner is not None
            learner.restore(before)
            raise
        except BaseException:
            self.learner = None  # it may have learnt a half, or what is no longer there
            raise

    def _left(self, learner: Learner | None, found: bytes | None) -> tuple[str, Snapshot | None]:
        """What another process has learnt since and left, so that it need not be learnt here; and
        the mark that the campaign's head has to bear then.
        """
        mark, left = Snapshot.unpacked(found) if found is not None else ("", None)
        newer = (
            learner is not None
            and left is not None
            and left.seq > learner.seq + FEW
            and mark.startswith(self.terms.id)
            and learner.is_compatible(left)
        )
        return mark, left if newer else None

    def _decide(
        self, operations: list[Operation], learner: Learner | None, found: LockedState, now: int
    ) -> WriteSet | None:
        check_same(self.terms, found.head)
        ledger = Ledger(self.terms, found.seq, found.head, found.balances)
        ledger.tickets, ledger.requests = found.tickets, found.requests
        transaction, snapshot = Transaction(ledger, now), None
        if learner is not None:
            if learner.seq > found.seq or self.storage.epoch != self._epoch:
                raise JournalRewound
            learner.learn(parsed(found.told), found.seq)
            snapshot = self._snapshot(learner, ledger)
        transaction.expire(found.due)
        for operation in operations:
            operation.answer, operation.error = None, None
            try:
                operation.answer = operation.decide(transaction)
            except PurseError as error:
                operation.error = error
        return write_set(transaction, snapshot) if transaction.entries else None

    def _snapshot(self, learner: Learner, ledger: Ledger) -> Snapshot | None:
        if ledger.seq - ledger.head.snapshot < SNAPSHOT_EVERY:
            return None
        ledger.head.snapshot = ledger.seq
        return learner.snapshot()

    def choose(self, t: int, left: list[int], pending: list[int]) -> tuple[list[int], list[float]]:
        """The policy's choice in round t."""
        return self.recovered().choose(t, left, pending)

    def recovered(self) -> Learner:
        """The policy with what the journal has taught it so far: from the last snapshot, or from
        the beginning where that cannot be trusted.
        """
        if self.learner is None:
            learner, self._epoch = Learner(self.terms), max(0, self.storage.epoch)
            learner.restore(self.storage.snapshot(self.terms.name))
            while page := self.storage.told(self.terms.name, learner.seq, PAGE_SIZE):
                learner.learn(parsed(page), page[-1][0])
            self.learner = learner
        return self.learner


def check_same(terms: Terms, head: CampaignRecord) -> None:
    """Refuse a campaign that took the place, and the name, of the one with these terms."""
    if head.id != terms.id:
        raise NoSuchCampaign(
            f"campaign {terms.name!r} was deleted and recreated since it was opened; open it again"
        )


def parsed(told: Any) -> list[tuple[int, dict[str, Any]]]:
    """Reports with their bodies read, all at once."""
    bodies = orjson.loads(f"[{','.join(body for _, body in told)}]")
    return [(seq, body) for (seq, _), body in zip(told, bodies, strict=True)]


def write_set(transaction: Transaction, snapshot: Snapshot | None = None) -> WriteSet:
    """What a transaction has decided, to be written."""
    ledger = transaction.ledger
    return WriteSet(
        ledger.seq,
        ledger.head,
        ledger.balances,
        [ledger.tickets[number] for number in transaction.touched],
        transaction.entries,
        snapshot,
    )
