"""Who carries out what the threads of a process want of a campaign: those that come while he is at
it share his next transaction.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, TypeVar

import orjson

from purse.campaign.account.above import account_write, terms_above, transactions
from purse.campaign.account.terms import AccountTerms
from purse.campaign.checkpoint import POLICY, Checkpoint
from purse.campaign.fork_safety import reset_after_fork
from purse.campaign.learner import Learner
from purse.campaign.ledger import Ledger
from purse.campaign.operations import Operation
from purse.campaign.records import CampaignRecord
from purse.campaign.rules import Transaction
from purse.campaign.states import TOLD
from purse.campaign.storage.base import LockedState, ReadSet, Storage, WriteSet
from purse.campaign.terms import Terms
from purse.errors import NoSuchCampaign, PurseError, StorageUnavailable

PAGE_SIZE = 5_000  # reports read at a time
CHECKPOINT_EVERY = 5_000  # entries
MAX_BATCH = 256  # operations that share a transaction
T = TypeVar("T")
STUCK_S = 5.0  # seconds after which a storage that does not answer has kept others waiting, too


class JournalRewound(StorageUnavailable):
    """The journal is not the one that the policy has learnt from: a backup took its place, or
    another server that knows less or else.
    """


class GroupCommitter:
    """Does operations on one campaign, in order, many in a transaction where many wait."""

    def __init__(self, terms: Terms, storage: Storage) -> None:
        self.terms = terms
        self.storage = storage
        self.above: list[AccountTerms] = []  # the accounts, from the top down, once they are read
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Begin anew, in a child process too: there a thread of the parent may have been in the
        middle of something.
        """
        self.learner: Learner | None = None
        self._queue: deque[Operation] = deque()
        self._lock = threading.Lock()

    def do(self, operation: Operation) -> Any:
        """Have the operation done; returns its answer once that is durable, or raises its error."""
        self._queue.append(operation)
        try:
            while not operation.done:
                if self._lock.acquire(blocking=False):
                    self._lead(operation)
                elif operation.ready is None:  # then look again: so far nobody could wake this one
                    operation.ready = threading.Event()
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
                start = time.monotonic()
                self.commit([each for each in list(self._queue)[:MAX_BATCH] if not each.done])
                stuck = time.monotonic() - start > STUCK_S
                if stuck and isinstance(operation.error, StorageUnavailable):
                    self._refuse_all(operation.error)
        finally:
            while self._queue and self._queue[0].done:
                wake(self._queue.popleft())
            self._lock.release()
            self._wake_next()  # after the lock is free: nobody who found it taken is overlooked

    def _refuse_all(self, error: StorageUnavailable) -> None:
        """Refuse those who came while the storage did not answer: they have waited for it, too."""
        for operation in list(self._queue):
            if not operation.done:
                operation.error, operation.done = error, True

    def _wake_next(self) -> None:
        if self._queue:
            with suppress(IndexError):  # another thread may have taken it out
                wake(self._queue[0])

    def commit(self, operations: list[Operation]) -> None:
        """Do these in one transaction; one by one where that fails for another reason than the
        storage, so that nobody suffers for the mistake of another. One thread at a time may call
        this; each operation is `done` afterwards, with its answer or its error.
        """
        try:
            if any(operation.needs_policy for operation in operations):
                learner = self.recovered()  # before others have to wait for it
                learner.compile_ask()
                if self.terms.explore or any(operation.needs_look for operation in operations):
                    learner.compile_look()
            self._transact(operations)
        except Exception as error:
            if len(operations) > 1 and not isinstance(error, StorageUnavailable):
                for operation in operations:
                    self.commit([operation])
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

    def _transact(self, operations: list[Operation]) -> None:
        """Do these in one transaction. Asks come first: the policy has learnt what is in the
        journal, and not yet the reports among these.
        """
        operations.sort(key=lambda operation: not operation.needs_policy)
        try:
            self._attempt(operations)
        except JournalRewound:
            self._attempt(operations)

    def _attempt(self, operations: list[Operation]) -> None:
        try:
            learner = self.recovered() if operations[0].needs_policy else None
            if self.terms.account and not self.above:
                self.above = terms_above(self.storage, self.terms.account)
            now = self.storage.now()
            wants = ReadSet(
                unique([operation.tickets for operation in operations]),
                unique([operation.requests for operation in operations]),
                None if learner is None else learner.seq,
                now if any(operation.expires for operation in operations) else None,
                self.terms.reward_within is not None,
            )
            self.storage.change(
                self.terms.name,
                wants,
                # the time is read under the lock, so that what comes later is not older
                lambda found: self._decide(operations, learner, found, self.storage.now()),
            )
        except BaseException:
            self.learner = None  # it may have learnt a half, or what is no longer there
            raise

    def _decide(
        self, operations: list[Operation], learner: Learner | None, found: LockedState, now: int
    ) -> WriteSet | None:
        check_same(self.terms, found.head)
        ledger = Ledger(self.terms, found.seq, found.head, found.balances)
        ledger.tickets, ledger.requests = found.tickets, found.requests
        transaction = Transaction(ledger, now, transactions(self.above, found.accounts, now))
        checkpoints: list[Checkpoint] = []
        if learner is not None:
            if learner.digest != found.digest:
                raise JournalRewound(
                    f"the journal of {self.terms.name!r} was replaced by another one; try again"
                )
            learner.learn(parsed(found.told), found.seq, found.head.digest)
            if ledger.seq - ledger.head.snapshot >= CHECKPOINT_EVERY:
                ledger.head.snapshot = ledger.seq
                checkpoints.append(learner.checkpoint())
        transaction.renew()
        transaction.expire(found.due)
        missing = [(entry.seq, entry.body) for entry in transaction.entries if entry.kind == TOLD]
        if learner is not None and missing:  # they stand before the asks in the journal
            learner.learn(missing, ledger.seq, ledger.head.digest)
        for operation in operations:
            operation.answer, operation.error = None, None
            try:
                operation.answer = operation.decide(transaction, learner)
            except PurseError as error:
                operation.error = error
        if all(operation.needs_look for operation in operations):
            return None  # who only looks writes nothing, not even a boundary
        # a refusal may make an event of an account alone
        made = transaction.entries or any(each.entries for each in transaction.accounts)
        return write_set(transaction, checkpoints) if made else None

    def recovered(self) -> Learner:
        """The policy with what the journal has taught it so far: from the last checkpoint, or from
        the beginning where that cannot be trusted.
        """
        if self.learner is None:
            learner = Learner(self.terms)
            if not learner.restore(self.storage.checkpoint(self.terms.name, POLICY)) or not (
                self._catch_up(learner)
            ):
                learner = Learner(self.terms)
                if not self._catch_up(learner):
                    raise JournalRewound(
                        f"the journal of {self.terms.name!r} was replaced while it was read"
                    )
            self.learner = learner
        return self.learner

    def _catch_up(self, learner: Learner) -> bool:
        """Learn all reports there are; False where the journal is another one than the policy has
        learnt from so far.
        """
        while True:
            page = self.storage.told(self.terms.name, learner.seq, PAGE_SIZE)
            if page.digest != learner.digest:
                return False
            learner.learn(parsed(page.rows), page.seq, page.last or "")
            if not page.rows:
                return True


def wake(operation: Operation) -> None:
    """Let the thread go on that waits for an operation."""
    if operation.ready is not None:
        operation.ready.set()


def unique(several: Iterable[Iterable[T]]) -> tuple[T, ...]:
    """Each value once, in order."""
    return tuple(dict.fromkeys(chain.from_iterable(several)))


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


def write_set(transaction: Transaction, checkpoints: Sequence[Checkpoint] = ()) -> WriteSet:
    """What a transaction has decided, to be written."""
    ledger = transaction.ledger
    return WriteSet(
        ledger.seq,
        ledger.head,
        ledger.balances,
        [ledger.tickets[number] for number in transaction.touched],
        transaction.entries,
        transaction.digests,
        checkpoints,
        accounts=[account_write(each) for each in transaction.accounts if each.entries],
        labels=ledger.labels.listed(),
    )
