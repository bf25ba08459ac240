"""Webhooks in the memory of this process."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from purse.campaign.journal import EVENT, Entry
from purse.campaign.webhooks.records import Lease, NewWebhook, Settlement, WebhookRecord
from purse.campaign.webhooks.retry import times_ahead


@dataclass
class StoredWebhook:
    """One webhook."""

    name: str
    made: NewWebhook
    settled: Settlement
    lease: str = ""
    lease_until: int = 0


class MemoryWebhooks:
    """The part of the storage that is about webhooks."""

    _lock: threading.RLock

    def __init__(self) -> None:
        super().__init__()
        self._webhooks: dict[str, StoredWebhook] = {}

    @abstractmethod
    def _journal(self, name: str) -> Sequence[Entry]: ...

    def add_webhook(self, name: str, made: NewWebhook) -> str:
        """Store a webhook; return its id, or that of the one that is there already."""
        with self._lock:
            journal = self._journal(name)
            for each in self._of(name):
                if (each.made.url, each.made.secret) == (made.url, made.secret):
                    return each.made.id
            begun = Settlement(journal[-1].seq, 0, 0, 0, "")
            self._webhooks[made.id] = StoredWebhook(name, made, begun)
            return made.id

    def remove_webhook(self, name: str, webhook: str) -> bool:
        """Let go of a webhook; return whether it was there."""
        with self._lock:
            self._journal(name)
            there = any(each.made.id == webhook for each in self._of(name))
            if there:
                del self._webhooks[webhook]
            return there

    def webhooks(self, name: str) -> list[WebhookRecord]:
        """The webhooks of a campaign."""
        with self._lock:
            self._journal(name)
            return [self._record(each) for each in self._of(name)]

    def lease_webhook(self, lease: str, now: int, until: int) -> Lease | None:
        """Lease a webhook that is due."""
        with self._lock:
            first, last = times_ahead(now)
            due = [
                each
                for each in self._webhooks.values()
                if not first <= each.settled.next_at <= last
                and not first <= each.lease_until <= last
                and self.events(each.name, each.settled.cursor, 1)
            ]
            if not due:
                return None
            each = min(due, key=lambda each: (each.settled.next_at, each.made.id))
            each.lease, each.lease_until = lease, until
            made, now_at = each.made, each.settled
            facts = (now_at.cursor, now_at.attempts, now_at.since, lease)
            return Lease(made.id, each.name, made.url, made.secret, *facts)

    def settle_webhook(self, webhook: str, lease: str, settled: Settlement) -> bool:
        """End a lease; return whether it was still there."""
        with self._lock:
            each = self._webhooks.get(webhook)
            if each is None or each.lease != lease:
                return False
            before = each.settled
            each.settled = settled._replace(
                delivered=before.delivered + settled.delivered,
                failed=before.failed + settled.failed,
                skipped=before.skipped + settled.skipped,
            )
            each.lease, each.lease_until = "", 0
            return True

    def events(self, name: str, after: int, limit: int) -> list[Entry]:
        """The events that follow an entry."""
        with self._lock:
            journal = self._journal(name)
            return [each for each in journal if each.kind == EVENT and each.seq > after][:limit]

    def _of(self, name: str) -> list[StoredWebhook]:
        found = [each for each in self._webhooks.values() if each.name == name]
        return sorted(found, key=lambda each: (each.made.created, each.made.id))

    def _record(self, each: StoredWebhook) -> WebhookRecord:
        settled = each.settled
        return WebhookRecord(
            each.made.id,
            each.made.shown,
            sum(
                entry.kind == EVENT and entry.seq > settled.cursor
                for entry in self._journal(each.name)
            ),
            settled.delivered,
            settled.failed,
            settled.skipped,
            settled.attempts,
            settled.next_at,
            settled.error,
            each.made.created,
        )
