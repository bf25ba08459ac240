"""Runs the operations of a process's threads on one level. Operations that arrive during a
transaction share the next one.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, groupby
from operator import attrgetter, sub
from typing import Any, TypeVar, cast

from purse.base.fork_safety import reset_after_fork
from purse.campaign.api.states import ACCOUNT, CAMPAIGN, UNFINISHED
from purse.campaign.ledger.campaign_level import CampaignLevel
from purse.campaign.ledger.level import Level
from purse.campaign.ledger.limits import Label
from purse.campaign.ledger.records import Balance
from purse.campaign.ledger.ticket import fold_ticket
from purse.campaign.rules import operators, reports
from purse.campaign.rules.transaction import Transaction
from purse.campaign.run.learner import CHECKPOINT_EVERY, JournalRewound, Learner, parsed, recovered
from purse.campaign.run.teacher import Teacher
from purse.campaign.storage.sql import LockedLevels, ReadRequest, StoredLevel, Writes
from purse.campaign.storage.storage import Storage
from purse.errors import NotFound, PurseError, StorageUnavailable

_MAX_BATCH = 256  # operations that share a transaction
_LOOK_AGAIN_S = 1.0  # after which a waiting thread looks itself: a signal may stop its waker
_STUCK_S = 5.0  # seconds after which a storage that does not answer has kept others waiting, too
T = TypeVar("T")


@dataclass(eq=False)
class _QueuedOperation:
    """Something that a thread wants done, and its result."""

    decide: Callable[[Transaction], Any]  # calls a rule
    tickets: Sequence[int] = ()
    requests: Sequence[str] = ()
    asks: bool = False  # needs the policy
    expires: bool = False  # needs holds past their deadline to be presumed spent first
    looks: bool = False  # writes nothing
    labels: Sequence[Label] = ()  # that it is about
    limits: Sequence[str] = ()  # keys of labels that may get a limit by it
    sessions: Sequence[str] = ()  # in which it asks
    done: bool = False
    ready: threading.Lock | None = None  # free: it is done, or it is its thread's turn to work
    answer: Any = None
    error: BaseException | None = None


class Committer:
    """Does operations on one level, in order; those that wait share a transaction."""

    def __init__(self, terms: Any, above: Sequence[Any], storage: Storage) -> None:
        self.terms, self.storage = terms, storage
        self.above = above  # the terms of the levels above it, from the top down
        self.renew()
        reset_after_fork(self)

    def renew(self) -> None:
        """Begin without a policy and without operations, in a child process too."""
        self.policy: Learner | None = None
        self._teacher = Teacher(self.terms, self.storage)
        self._queue: deque[_QueuedOperation] = deque()
        self._lock = threading.Lock()  # held for a moment, by `with`: no signal can come between
        self._leader: _QueuedOperation | None = None  # whose thread works for all

    def do(self, decide: Callable[[Transaction], T], **wants: Any) -> T:
        """Decide in the next transaction; return the answer once it is durable, or raise its error.

        wants   fields of an `_QueuedOperation`
        """
        operation = _QueuedOperation(decide, **wants)
        try:
            self._queue.append(operation)
            while not operation.done:
                with self._lock:
                    if self._leader is None:
                        self._leader = operation
                if self._leader is operation:
                    self._lead(operation)
                elif operation.ready is None:  # then look again: no thread could wake this one yet
                    operation.ready = _locked_lock()
                else:
                    operation.ready.acquire(timeout=_LOOK_AGAIN_S)
        except BaseException:  # interrupted: no other thread may wait for this one to lead
            operation.done = True
            if self._leader is operation:
                self._leader = None
            for waiting in list(self._queue):
                _wake(waiting)
            raise
        if operation.error is not None:
            raise operation.error
        return cast(T, operation.answer)

    def _lead(self, operation: _QueuedOperation) -> None:
        """Work until the operation is done, with all that wait; then the next thread leads."""
        try:
            while not operation.done:
                start = time.monotonic()
                self.commit(
                    [waiting for waiting in list(self._queue)[:_MAX_BATCH] if not waiting.done]
                )
                stuck = time.monotonic() - start > _STUCK_S
                if stuck and isinstance(operation.error, StorageUnavailable):
                    for waiting in list(self._queue):  # they have waited for it, too
                        if not waiting.done:
                            waiting.error, waiting.done = operation.error, True
            while self._queue and self._queue[0].done:
                _wake(self._queue.popleft())
        finally:
            self._leader = None  # no signal can come before this, as nothing is called
        if self._queue:  # after that: no thread that found a leader is overlooked
            with suppress(IndexError):  # another thread may have taken it out
                _wake(self._queue[0])

    def commit(self, operations: list[_QueuedOperation], *, tries: int = 3) -> None:
        """Do these in one transaction; one by one if that fails for another reason than the
        storage, so that no operation suffers from the mistake of another.

        tries   if the journal is not the one that the policy knows, or another policy takes over
        """
        policy: Learner | None = None
        try:
            # asks first: the policy has learnt what is in the journal, not the reports among these
            operations.sort(key=lambda operation: not operation.asks)
            if operations[0].asks:
                self.policy = self.policy or self._teacher.next_policy()
                policy = self.policy = self.policy or recovered(self.terms, self.storage)
            wants = _joined(
                operations,
                None if policy is None else policy.seq,
                self.storage.now() if any(operation.expires for operation in operations) else None,
            )
            self.storage.change(
                self.terms.name, wants, lambda locked: self._decide(operations, policy, locked)
            )
        except Exception as error:
            self.policy = None  # it may have learnt a half, or what is no longer there
            if tries > 1 and isinstance(error, JournalRewound):
                self.commit(operations, tries=tries - 1)
                return
            if len(operations) > 1 and not isinstance(error, StorageUnavailable):
                for operation in operations:
                    self.commit([operation])
                return
            for operation in operations:
                operation.error = error
        except BaseException:
            self.policy = None
            for operation in operations:
                operation.error = StorageUnavailable(
                    "interrupted by another thread; ask again with the same request_id"
                )
                operation.done = True
            raise
        for operation in operations:
            operation.done = True

    def _decide(
        self, operations: list[_QueuedOperation], policy: Learner | None, locked: LockedLevels
    ) -> Writes | None:
        """Decide on operations, with the level locked."""
        level = self.level(locked.levels)
        self.know(level, locked)
        # the time is read under the lock, so that what comes later is not older
        transaction = Transaction(level, self.storage.now(), policy)
        checkpoints, looks = [], all(operation.looks for operation in operations)
        if policy is not None:
            assert isinstance(level, CampaignLevel)
            if policy.digest != locked.digest or policy.forgotten != level.head.forgotten:
                raise JournalRewound(
                    f"the journal of {self.terms.name!r} was replaced or changed; try again"
                )
            self._teacher.look(level, policy)  # first: it may not know the arms of reports
            policy.learn(parsed(locked.reports), level.seq, level.head.digest)
            if level.seq - level.head.checkpoint >= CHECKPOINT_EVERY:
                level.head.checkpoint = level.seq
                checkpoints.append((locked.levels[-1].key, *policy.stored()))
        transaction.renew()
        if isinstance(level, CampaignLevel) and locked.due:
            due = [
                level.tickets[number] for number in dict.fromkeys(e.ticket or 0 for e in locked.due)
            ]
            reports.expire(
                transaction, sorted(due, key=lambda ticket: (ticket.deadline, ticket.id))
            )
        if policy is not None and transaction.added:
            _learn_added(policy, transaction)
        head = level.head
        if policy and (policy.widened, policy.taught_from) != (head.taught, head.taught_from):
            operators.hand_over(transaction, taught_from=policy.taught_from)
            if not looks:
                policy.learn((), level.seq, level.head.digest)
                checkpoints.append((locked.levels[-1].key, *policy.stored()))
        over = level.head.over
        for operation in operations:
            operation.answer, operation.error = None, None
            try:
                operation.answer = operation.decide(transaction)
            except PurseError as error:
                operation.error = error
        changed = transaction.added or level.head.over != over
        if not changed or looks:
            return None
        return writes_of(transaction, locked.levels, checkpoints)

    def level(self, levels: Sequence[StoredLevel]) -> Level:
        """Return the level and those above it, as they are stored."""
        all_terms = (*self.above, self.terms)
        level = level_chain(all_terms, levels)
        if level is None or [terms.id for terms in all_terms] != [row.head.id for row in levels]:
            raise recreated_error(self.terms)
        return level

    def know(self, level: Level, locked: LockedLevels) -> None:
        """Let the level know the requests and tickets that operations speak of."""
        level.requests = {entry.request or "": entry for entry in locked.answers}
        if isinstance(level, CampaignLevel):
            for number, entries in groupby([*locked.about, *locked.due], lambda e: e.ticket):
                ticket = fold_ticket(entries, self.terms.reward_within)
                assert ticket is not None
                level.tickets[number or 0] = ticket
            level.loaded = locked.labels
            for entry in locked.sessions:
                level.note_session(entry)


def recreated_error(terms: Any) -> NotFound:
    """Return the error for a level whose name another one has now."""
    kind = CAMPAIGN if hasattr(terms, "arms") else ACCOUNT
    return NotFound(
        f"{kind} {terms.name!r} was deleted and recreated since it was opened; open it again"
    )


def level_chain(all_terms: Sequence[Any], stored: Sequence[StoredLevel]) -> Level | None:
    """Return the last of some levels with those above it, from the top down; None without any."""
    level: Level | None = None
    for terms, row in zip(all_terms, stored, strict=False):
        make = CampaignLevel if hasattr(terms, "arms") else Level
        level = make(terms, row.seq, row.head, row.balances, level)
    return level


def _learn_added(policy: Learner, transaction: Transaction) -> None:
    """Let the policy learn what came before the asks: begun periods, and rewards that are late."""
    level = transaction.level
    learnt = [
        (entry.seq, entry.body)
        for of, entry, *_ in transaction.added
        if of is level and entry.kind in policy.kinds
    ]
    if learnt:
        policy.learn(learnt, level.seq, level.head.digest)


def writes_of(
    transaction: Transaction, stored: Sequence[StoredLevel], checkpoints: Sequence[Any] = ()
) -> Writes:
    """Return the rows that a transaction writes."""
    own = transaction.level
    levels = own.chain()[::-1]
    keys = {level.terms.id: row.key for level, row in zip(levels, stored, strict=True)}
    rows, touched = [], dict[int, bool]()  # tickets, and whether they were issued before
    for level, entry, digest, turn in transaction.added:
        session = entry.body.get("session")  # of an ask
        rows.append((keys[level.terms.id], *entry.row(), bytes.fromhex(digest), turn, session))
        if entry.ticket is not None:
            touched[entry.ticket] = touched.get(entry.ticket, entry.kind != "asked")
    changed, moves = [], []
    for level, before in zip(levels, stored, strict=True):
        text = level.head.to_json()
        if level.seq != before.seq or text != before.text:
            changed.append((level.seq, text, before.key))
        old = before.balances or [Balance()] * len(level.balances)
        for resource, (was, now) in enumerate(zip(old, level.balances, strict=True)):
            if was != now:
                moves.append((before.key, resource, list(map(sub, now, was))))
    if not isinstance(own, CampaignLevel):
        return Writes(changed, moves, rows, (), (), (), checkpoints)
    key, within = keys[own.terms.id], own.terms.reward_within
    issued_before = [(key, number) for number, is_old in touched.items() if is_old]
    tickets = [own.tickets[number] for number in touched if number in own.tickets]
    unfinished = [
        (key, ticket.state, ticket.id, ticket.due(within))
        for ticket in tickets
        if ticket.state in UNFINISHED
    ]
    labels = [(key, *row) for row in own.label_rows()]
    return Writes(changed, moves, rows, issued_before, unfinished, labels, checkpoints)


def _locked_lock() -> threading.Lock:
    """Return a lock that is taken. An event would hold one of its own, which a signal may leave
    behind.
    """
    lock = threading.Lock()
    lock.acquire()
    return lock


def _wake(operation: _QueuedOperation) -> None:
    """Let the thread go on that waits for an operation."""
    if operation.ready is not None:
        with suppress(RuntimeError):  # it was woken already
            operation.ready.release()


def _joined(
    operations: Sequence[_QueuedOperation], reports_after: int | None, due: int | None
) -> ReadRequest:
    """Return the rows that operations need, each value once, in order."""
    if len(operations) == 1:
        (one,) = operations
        return ReadRequest(
            one.tickets, one.requests, reports_after, due, one.labels, one.limits, one.sessions
        )

    def unique(name: str) -> list[Any]:
        return list(dict.fromkeys(chain.from_iterable(map(attrgetter(name), operations))))

    return ReadRequest(
        unique("tickets"),
        unique("requests"),
        reports_after,
        due,
        unique("labels"),
        unique("limits"),
        unique("sessions"),
    )
