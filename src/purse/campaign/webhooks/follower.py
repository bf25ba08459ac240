"""Follows the journals of a storage for one receiver, and sends it their events: at least once, in
their order, with the same key each time.

The journal is the outbox. How far a receiver was told is a checkpoint of each campaign and account,
of the kind "webhook NAME"; it is no cache. It is moved on after a message has arrived, if it
is still the one that was read: a follower that dies in between sends the same message again, and
one that is behind others does not take them back.
"""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import orjson

from purse.base.json import compact_bytes
from purse.campaign.ledger.entry import LedgerEntry
from purse.campaign.ledger.records import RESTORED
from purse.campaign.storage.sql import Journal
from purse.campaign.storage.storage import Storage
from purse.campaign.webhooks import message
from purse.campaign.webhooks.file import Receiver
from purse.campaign.webhooks.sending import SEND_S, NotSent, send
from purse.errors import PurseError, StorageUnavailable

_LOGGER = logging.getLogger(__name__)
_PAUSE_S = 1.0  # seconds until the next look at the journals
_FIRST_WAIT = 5_000  # ms after the first failure; twice as long after each further one
_LONGEST_WAIT = 3_600_000  # ms
_DAY = 86_400_000  # ms: the most that counts from one attempt to the next, whatever a clock says
_GIVE_UP = 3 * _DAY  # ms of attempts
_SLACK = 60_000  # ms by which the clocks of two followers may differ, or a commit may take


class _ReaderPosition(NamedTuple):
    """The place up to which a receiver was told of one journal."""

    seq: int  # the entry up to which all events have arrived, or were given up
    looked: int  # ms: when the journals were listed, before this was written
    attempts: int = 0  # that failed, at the next event
    at: int = 0  # ms: when the last of them failed
    failing: int = 0  # ms from the first of them to the last

    def next_attempt(self, now: int) -> int:
        """Return the time of the next attempt, in ms; now if a clock was wrong before."""
        if not self.attempts or self.at > now + _SLACK:
            return now
        return self.at + _wait(self.attempts - 1)

    def failed(self, event: int, looked: int, now: int) -> "_ReaderPosition":
        """Return the progress after a failure: another attempt or, after three days, the end."""
        failing = self.failing
        if self.attempts:
            failing += min(max(now - self.at, 0), _DAY)
        if failing >= _GIVE_UP:
            return _ReaderPosition(event, looked)
        return _ReaderPosition(self.seq, looked, self.attempts + 1, now, failing)


def _wait(failures: int) -> int:
    """Return ms until the next attempt, after a number of failures before the last one.

    >>> [_wait(failures) // 1000 for failures in (0, 1, 2, 9, 10, 1000)]
    [5, 10, 20, 2560, 3600, 3600]
    """
    return min(_FIRST_WAIT << min(failures, 20), _LONGEST_WAIT)


class _Waiting(NamedTuple):
    """An event that waits."""

    since: int  # ms
    until: int  # ms: the next attempt


class Follower:
    """Sends the events of all journals that a receiver wants.

    counts    messages that arrived ("delivered"), attempts that failed ("failed"), and events that
              were given up ("skipped"), since this follower began
    waiting   by name of the campaign or account, the event that was not sent yet
    """

    def __init__(
        self, storage: Storage, receiver: Receiver, send: Callable[..., None] = send
    ) -> None:
        self.storage, self.receiver, self.send = storage, receiver, send
        self.kind = f"webhook {receiver.name}"
        self.counts: Counter[str] = Counter()
        self.waiting: dict[str, _Waiting] = {}
        self.stopped = threading.Event()
        self._looked = 0  # ms: before the last look at the journals; 0: none yet
        self._tried: dict[
            str, tuple[LedgerEntry, _ReaderPosition]
        ] = {}  # an outcome that is not stored yet
        self._troubles: list[str] = []  # of the last look

    def run(self) -> None:
        """Follow until `stop`. Errors of the storage are logged, each once, and tried again."""
        logged = ""
        while not self.stopped.is_set():
            trouble = ""
            try:
                self.look()
            except Exception as error:
                trouble = _described(error)
                if trouble != logged:
                    _LOGGER.error("webhook %s cannot read on: %s", self.receiver.name, trouble)
            logged = trouble
            self.stopped.wait(_PAUSE_S)

    def stop(self) -> None:
        """Begin no more messages."""
        self.stopped.set()

    def look(self) -> None:
        """Send what is due now. Of the journals that cannot be read, the first is named at the end,
        and keeps no other waiting.
        """
        now, self._troubles = self.storage.now(), []
        journals = self._journals()
        if new := [journal for journal in journals if journal.read is None]:
            self._begin(new, [_progress_of(old).looked for old in journals if old.body], now)
            journals = self._journals()
        self._looked = now
        unread = [journal for journal in journals if journal.has_more]
        for name in self.waiting.keys() - {journal.name for journal in unread}:
            del self.waiting[name]  # another follower has sent it, or the level is gone
        for journal in unread:
            with self._apart(journal):
                self._follow(journal)
        if self._troubles:
            raise PurseError(self._troubles[0])

    def _journals(self) -> list[Journal]:
        """Return the journals that the receiver wants."""
        return [
            journal
            for journal in self.storage.journals(self.kind)
            if self.receiver.wants(journal.kind, journal.name)
        ]

    @contextmanager
    def _apart(self, journal: Journal) -> Iterator[None]:
        """Note what is wrong with one journal, and go on with the next."""
        try:
            yield
        except StorageUnavailable:
            raise
        except Exception as error:
            self._troubles.append(f"{journal.kind} {journal.name!r}: {_described(error)}")

    def _begin(self, new: Sequence[Journal], looks: Sequence[int], now: int) -> None:
        """Begin in journals without a checkpoint: at their end if this receiver was not seen
        before, or if they were there before it was last told, and not wanted. One that was made
        later is told from its first entry, or from its restore.

        looks   when the journals were listed, for the checkpoints of others
        """
        # a time to come is that of a clock that was ahead
        last = max((look for look in looks if look <= now), default=0)
        places = []
        for journal in new:
            with self._apart(journal):
                seq = journal.seq
                if looks or self._looked:
                    begun, first = self._beginning(journal)
                    if self._looked or begun >= last - _SLACK:
                        seq = first
                places.append((journal.name, *_stored(_ReaderPosition(seq, now))))
        self.storage.begin_checkpoints(self.kind, places)

    def _beginning(self, journal: Journal) -> tuple[int, int]:
        """Return when a level was made here, in ms, and the entry before the first one since."""
        restored = self.storage.checkpoint(journal.name, RESTORED)
        if restored is not None:
            return int(restored.body), restored.seq
        return self.storage.created(journal.name, journal.kind).at, 0

    def _follow(self, journal: Journal) -> None:
        """Send the events of one journal, in their order, as far as they are due."""
        now = self.storage.now()
        if journal.name not in self.waiting or _progress_of(journal).next_attempt(now) <= now:
            while not self.stopped.is_set() and self._deliver(journal.kind, journal.name):
                pass

    def _deliver(self, kind: str, name: str) -> bool:
        """Send the next event of a journal, if that is due; return whether there may be another."""
        row = self.storage.checkpoint(name, self.kind)
        if row is None:  # the level is another one; the next look begins there
            return False
        before = _ReaderPosition(row.seq, *orjson.loads(bytes(row.body)))
        event = next(iter(self.storage.events(name, before.seq, 1)), None)
        if event is None:
            self.waiting.pop(name, None)
            return False
        tried, after = self._tried.get(name, (None, before))
        if tried != event:
            now = self.storage.now()
            self.waiting[name] = _Waiting(event.at, before.next_attempt(now))
            if self.waiting[name].until > now:
                return False
            after = self._try(kind, name, event, before)
        # the next look stores it if this one cannot, and sends nothing again
        self.storage.move_checkpoint(name, self.kind, before.seq, *_stored(after))
        self._tried.pop(name, None)
        if after.seq == event.seq:
            self.waiting.pop(name, None)
            return True
        self.waiting[name] = _Waiting(event.at, after.next_attempt(after.at))
        return False

    def _try(
        self, kind: str, name: str, event: LedgerEntry, before: _ReaderPosition
    ) -> _ReaderPosition:
        """Send an event once; return and remember the outcome."""
        error = self._send(kind, name, event, self.storage.now())
        after = _ReaderPosition(event.seq, self._looked)
        if error is not None:
            after = before.failed(event.seq, self._looked, self.storage.now())
        self._tried[name] = event, after
        self._count(name, event, error, is_over=after.seq == event.seq)
        return after

    def _send(self, kind: str, name: str, event: LedgerEntry, now: int) -> str | None:
        """Send an event; return what went wrong."""
        receiver = self.receiver
        try:
            first = self.storage.created(name, kind)
            if receiver.format == message.SLACK:
                headers, body = message.slack(first.body, event)
            else:
                headers, body = message.standard(receiver.secret, first.body, event, now // 1000)
            self.send(receiver.target, headers, body, allow_private=receiver.allow_private)
        except StorageUnavailable:  # nothing was sent
            raise
        except Exception as error:
            return _described(error)
        return None

    def _count(self, name: str, event: LedgerEntry, error: str | None, *, is_over: bool) -> None:
        """Count an attempt, and log a failure."""
        if error is None:
            self.counts["delivered"] += 1
            return
        self.counts["failed"] += 1
        self.counts["skipped"] += is_over
        words = "event %s of %s was not delivered to webhook %s: %s"
        words += "; it was given up after three days" if is_over else ""
        level = logging.ERROR if is_over else logging.WARNING
        _LOGGER.log(level, words, event.body["key"], name, self.receiver.name, error)


def _progress_of(journal: Journal) -> _ReaderPosition:
    """Return how far a receiver was told of a journal that it follows."""
    assert journal.read is not None
    assert journal.body is not None
    return _ReaderPosition(journal.read, *orjson.loads(bytes(journal.body)))


def _stored(progress: _ReaderPosition) -> tuple[int, bytes]:
    """Return entry and body of a checkpoint."""
    seq, *facts = progress
    return seq, compact_bytes(facts)


def _described(error: Exception) -> str:
    """Return an error's text for a log; only the text of our own errors holds no secret."""
    is_ours = isinstance(error, (NotSent, PurseError))
    return str(error) if is_ours else type(error).__name__


def deliver(followers: Sequence[Follower]) -> None:
    """Send what is due now, to all receivers at once. Raise what a storage raises."""
    with ThreadPoolExecutor(max(1, len(followers)), "purse-webhook") as threads:
        for done in [threads.submit(follower.look) for follower in followers]:
            done.result()


@contextmanager
def following(followers: Sequence[Follower]) -> Iterator[None]:
    """Follow in a thread for each receiver; at the end wait for messages on their way, as long as
    one may take: a name server that hangs holds its thread longer, which ends with the program.
    """
    threads = [
        threading.Thread(
            target=follower.run, name=f"purse-webhook-{follower.receiver.name}", daemon=True
        )
        for follower in followers
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for follower in followers:
            follower.stop()
        until = time.monotonic() + SEND_S + 1
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
