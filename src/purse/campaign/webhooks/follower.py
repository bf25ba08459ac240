"""Follows the journals of a storage for one receiver, and sends it their events: at least once, in
their order, with the same key each time.

The journal is the outbox. How far a receiver was told is a checkpoint of each campaign and account,
of the kind "webhook NAME"; it is no cache. It is written after a message has arrived, so that a
follower that dies in between sends the same message again. Several followers of one receiver may
send a message twice.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

import orjson

from purse.base.json import compact_bytes
from purse.campaign.entry import Entry
from purse.campaign.storage.storage import Storage
from purse.campaign.webhooks import message
from purse.campaign.webhooks.file import Receiver
from purse.campaign.webhooks.sending import NotSent, send
from purse.errors import PurseError

LOGGER = logging.getLogger(__name__)
PAUSE_S = 1.0  # seconds until the next look at the journals
PAGE = 1_000  # events read at once
KEEP_EVERY = 10_000  # entries without an event after which the checkpoint is written all the same
FIRST_WAIT = 5_000  # ms after the first failure; twice as long after each further one
LONGEST_WAIT = 3_600_000  # ms
GIVE_UP = 3 * 86_400_000  # ms after the first failure
SLACK = 60_000  # ms by which the clocks of two followers may differ


class Progress(NamedTuple):
    """The place up to which a receiver was told of one journal."""

    seq: int  # the entry up to which all events have arrived, or were given up
    at: int  # ms: when this was written
    attempts: int = 0  # that failed, at the next event
    since: int = 0  # ms: when the first of them failed

    def next_attempt(self, now: int) -> int:
        """Return the time of the next attempt, in ms; now if a clock was wrong before."""
        if not self.attempts or self.at > now + SLACK:
            return now
        return self.at + wait(self.attempts - 1)

    def failed(self, event: int, now: int) -> Progress:
        """Return what follows from a failure: another attempt or, after three days, the end."""
        since = min(self.since or now, now)  # a clock that was ahead keeps nothing for ever
        if now - since >= GIVE_UP:
            return Progress(event, now)
        return Progress(self.seq, now, self.attempts + 1, since)


def wait(failures: int) -> int:
    """Return ms until the next attempt, after a number of failures before the last one.

    >>> [wait(failures) // 1000 for failures in (0, 1, 2, 9, 10, 1000)]
    [5, 10, 20, 2560, 3600, 3600]
    """
    return min(FIRST_WAIT << min(failures, 20), LONGEST_WAIT)


class Waiting(NamedTuple):
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
        self.waiting: dict[str, Waiting] = {}
        self.stopped = threading.Event()
        self._read: dict[str, int] = {}  # by name, the last entry that was read and needs no more
        self._looked: int | None = None  # ms: before the last look at the journals

    def run(self) -> None:
        """Follow until `stop`. Errors of the storage are logged, each once, and tried again."""
        said = ""
        while not self.stopped.is_set():
            trouble = ""
            try:
                self.look()
            except Exception as error:
                trouble = described(error)
                if trouble != said:
                    LOGGER.error("webhook %s cannot read on: %s", self.receiver.name, trouble)
            said = trouble
            self.stopped.wait(PAUSE_S)

    def stop(self) -> None:
        """Begin no more messages."""
        self.stopped.set()

    def look(self) -> None:
        """Send what is due now."""
        now = self.storage.now()
        journals = [
            journal for journal in self.storage.journals() if self.receiver.wants(*journal[:2])
        ]
        self._begin([journal for journal in journals if journal[1] not in self._read], now)
        self._looked = now
        for kind, name, end in journals:
            self._follow(kind, name, end)

    def _begin(self, new: Sequence[tuple[str, str, int]], now: int) -> None:
        """Find where to begin in journals that were not looked at yet: after the last checkpoint.
        Without one, begin at the journal's end, or at its first entry if it is newer than the last
        look.
        """
        told = {name: self._progress(name) for _, name, _ in new}
        if self._looked is None:
            self._looked = max(
                (progress.at for progress in told.values() if progress), default=now + 1
            )
        for kind, name, end in new:
            progress = told[name]
            if progress is None:
                first = self.storage.created(name, kind)
                progress = Progress(0 if first.at >= self._looked else end, now)
                self._keep(name, progress)
            self._read[name] = progress.seq

    def _follow(self, kind: str, name: str, end: int) -> None:
        """Send the events of one journal up to an entry, as far as they are due."""
        if name in self.waiting and self.storage.now() < self.waiting[name].until:
            return
        before = self._read[name] = min(self._read[name], end)
        while self._read[name] < end and (
            page := self.storage.events(name, self._read[name], PAGE)
        ):
            for event in page:
                if self.stopped.is_set() or not self._deliver(kind, name, event):
                    return
                self._read[name] = event.seq
        self._read[name] = max(self._read[name], end)
        if self._read[name] // KEEP_EVERY > before // KEEP_EVERY:
            self._keep(name, Progress(self._read[name], self.storage.now()))

    def _deliver(self, kind: str, name: str, event: Entry) -> bool:
        """Send an event, if that is due; return whether the next may follow."""
        now = self.storage.now()
        progress = self._progress(name) or Progress(self._read[name], now)
        if event.seq <= progress.seq:  # another follower has sent it
            self.waiting.pop(name, None)
            return True
        self.waiting[name] = Waiting(event.at, progress.next_attempt(now))
        if self.waiting[name].until > now:
            return False
        error = self._send(kind, name, event, now)
        now = self.storage.now()
        after = Progress(event.seq, now) if error is None else progress.failed(event.seq, now)
        self._keep(name, after)
        self._count(name, event, error, is_over=after.seq == event.seq)
        if after.seq == event.seq:
            del self.waiting[name]
            return True
        self.waiting[name] = Waiting(event.at, after.next_attempt(now))
        return False

    def _send(self, kind: str, name: str, event: Entry, now: int) -> str | None:
        """Send an event; return what went wrong."""
        receiver = self.receiver
        try:
            first = self.storage.created(name, kind)
            if receiver.format == message.SLACK:
                headers, body = message.slack(first.body, event)
            else:
                headers, body = message.standard(receiver.secret, first.body, event, now // 1000)
            self.send(receiver.target, headers, body, allow_private=receiver.allow_private)
        except Exception as error:
            return described(error)
        return None

    def _count(self, name: str, event: Entry, error: str | None, *, is_over: bool) -> None:
        """Count an attempt, and log a failure."""
        if error is None:
            self.counts["delivered"] += 1
            return
        self.counts["failed"] += 1
        self.counts["skipped"] += is_over
        words = "event %s of %s was not delivered to webhook %s: %s"
        words += "; it was given up after three days" if is_over else ""
        level = logging.ERROR if is_over else logging.WARNING
        LOGGER.log(level, words, event.body["key"], name, self.receiver.name, error)

    def _progress(self, name: str) -> Progress | None:
        row = self.storage.checkpoint(name, self.kind)
        return None if row is None else Progress(row.seq, *orjson.loads(bytes(row.body)))

    def _keep(self, name: str, progress: Progress) -> None:
        seq, *rest = progress
        self.storage.keep(name, self.kind, seq, "", compact_bytes(rest))


def described(error: Exception) -> str:
    """Return what a log may say of an error; only the text of our own holds no secret."""
    is_ours = isinstance(error, (NotSent, PurseError))
    return str(error) if is_ours else type(error).__name__


def deliver(followers: Sequence[Follower]) -> None:
    """Send what is due now, to all receivers at once. Raise what a storage raises."""
    with ThreadPoolExecutor(max(1, len(followers)), "purse-webhook") as threads:
        for done in [threads.submit(follower.look) for follower in followers]:
            done.result()


@contextmanager
def following(followers: Sequence[Follower]) -> Iterator[None]:
    """Follow in a thread for each receiver; at the end wait for messages on their way."""
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
        for thread in threads:
            thread.join()
