"""The operations that wait at a server for each campaign: those that come while a transaction is
made share the next one.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from purse.campaign.group_commit import MAX_BATCH, GroupCommitter, check_same
from purse.campaign.operations import Operation
from purse.campaign.records import CampaignRecord
from purse.campaign.storage.base import Storage
from purse.campaign.storage.remote.unix_socket import frame
from purse.campaign.terms import Terms
from purse.errors import NoSuchCampaign, PurseError, StorageUnavailable

LOGGER = logging.getLogger(__name__)
MOST_CAMPAIGNS = 256  # kept open; those that were not used for longest are let go
TOO_LATE = "the deadline passed before the server came to it, so nothing was done; repeat it"


class Call(NamedTuple):
    """Something that a client waits for."""

    client: Any  # the connection that gets the answer
    number: int
    deadline: float  # by `time.monotonic`

    @property
    def is_late(self) -> bool:
        """Whether the client has given up."""
        return self.deadline < time.monotonic()


Answers = list[tuple[Any, bytes]]  # each with the connection that gets it


class CommitQueue:
    """What waits for one campaign. The loop adds to it, and one thread at a time takes from it."""

    def __init__(self, name: str, id: str) -> None:
        self.name, self.id = name, id
        self.waiting: deque[tuple[Call, Operation]] = deque()
        self.is_busy = False
        self.committer: GroupCommitter | None = None

    def commit(self, storage: Storage) -> Answers:
        """Do what waits, in one transaction, and return the answers."""
        batch = [self.waiting.popleft() for _ in range(min(MAX_BATCH, len(self.waiting)))]
        operations = [operation for _, operation in batch]
        try:
            committer = self._opened(storage)
            if any(operation.needs_policy for operation in operations):
                committer.recovered()  # may take longer than clients wait: look at deadlines after
            committer.commit(in_time(batch))
        except BaseException as error:  # a policy file may raise anything, and clients wait
            for operation in operations:
                operation.error = operation.error or error
        if any(isinstance(operation.error, NoSuchCampaign) for operation in operations):
            self.committer = None  # another campaign may get the name
        return [(call.client, answer(call, each.answer, each.error)) for call, each in batch]

    def _opened(self, storage: Storage) -> GroupCommitter:
        if self.committer is None:
            (first,) = storage.entries(self.name, 0, 1)
            terms = Terms.from_dict(first.body)
            check_same(terms, CampaignRecord(id=self.id))
            self.committer = GroupCommitter(terms, storage)
        return self.committer


def in_time(batch: list[tuple[Call, Operation]]) -> list[Operation]:
    """Return the operations for which clients still wait; the others get an error."""
    kept = []
    for call, operation in batch:
        if call.is_late:
            operation.error = StorageUnavailable(TOO_LATE)
        else:
            kept.append(operation)
    return kept


def answer(call: Call, value: Any, error: BaseException | None = None) -> bytes:
    """Return the frame that answers a call."""
    if error is not None and not isinstance(error, PurseError):
        LOGGER.error("failed", exc_info=error)
    try:
        return frame([call.number, value] if error is None else [call.number, None, error])
    except Exception as unsent:  # it is too long, or JSON has no word for it
        return frame([call.number, None, unsent])


class CommitQueues:
    """The queues of all campaigns; all methods are for the thread of the event loop.

    deliver   is called there with the answers of each transaction
    """

    def __init__(self, storage: Storage, deliver: Callable[[Answers], None]) -> None:
        self._storage, self._deliver = storage, deliver
        self._loop = asyncio.get_running_loop()
        self._queues: OrderedDict[tuple[str, str], CommitQueue] = OrderedDict()
        self.threads = ThreadPoolExecutor(MOST_CAMPAIGNS, "purse-commit")

    def add(self, name: str, id: str, call: Call, operation: Operation) -> None:
        """Have an operation done."""
        queue = self._queues.get((name, id))
        if queue is None:
            self._let_go()
            queue = self._queues[name, id] = CommitQueue(name, id)
        self._queues.move_to_end((name, id))
        queue.waiting.append((call, operation))
        if not queue.is_busy:
            self._begin(queue)

    def _let_go(self) -> None:
        """Make room for another campaign, where one is not busy."""
        if len(self._queues) >= MOST_CAMPAIGNS:
            idle = (key for key, queue in self._queues.items() if not queue.is_busy)
            self._queues.pop(next(idle, ("", "")), None)

    def _begin(self, queue: CommitQueue) -> None:
        queue.is_busy = True
        self.threads.submit(self._work, queue)

    def _work(self, queue: CommitQueue) -> None:
        """In a thread of the pool."""
        answers = queue.commit(self._storage)
        self._loop.call_soon_threadsafe(self._done, queue, answers)

    def _done(self, queue: CommitQueue, answers: Answers) -> None:
        if queue.waiting:
            self._begin(queue)
        else:
            queue.is_busy = False
        self._deliver(answers)
