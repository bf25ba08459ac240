"""Delivers events: at least once, in their order, with the same key each time.

The journal is the outbox. A deliverer leases a webhook that is due, in a short transaction, sends
the next event outside of any, and records in another how that went. Several deliverers take turns
by the lease. One that dies leaves a lease that ends by itself, and the event is sent again.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from purse.campaign.storage.base import Storage
from purse.campaign.webhooks import retry
from purse.campaign.webhooks.errors import NotSent
from purse.campaign.webhooks.message import body_of, headers_of, key_of
from purse.campaign.webhooks.records import Lease, Settlement
from purse.campaign.webhooks.sending import Send
from purse.errors import NoSuchCampaign, PurseError

LOGGER = logging.getLogger(__name__)
SEND_S = 10.0  # seconds that a receiver has to answer, from the look-up of its name on
LEASE = 60_000  # ms: longer than a message takes, so that nobody else sends the same meanwhile
AT_ONCE = 4  # messages on their way, so that a slow receiver does not keep others waiting
PAUSE_S = 1.0  # seconds until the next look at what is due


class Deliverer:
    """Delivers the events of all campaigns and accounts of a storage.

    storage   where webhooks and journals are kept
    send      sends one message
    """

    def __init__(self, storage: Storage, send: Send) -> None:
        self.storage, self.send = storage, send
        self.stopped = threading.Event()
        self.is_failing = False  # whether the storage did not answer the last time

    def lease(self) -> tuple[Lease | None, float]:
        """Take a webhook that is due, where there is one; return also until when a message may be
        sent, on the clock of `time.monotonic`.
        """
        latest, now = time.monotonic() + SEND_S, self.storage.now()
        return self.storage.lease_webhook(secrets.token_hex(8), now, now + LEASE), latest

    def finish(self, lease: Lease, latest: float) -> None:
        """Send the next event of a webhook, and record how that went."""
        settled = self.attempt(lease, latest)
        if settled is not None:
            self.storage.settle_webhook(lease.id, lease.lease, settled)

    def attempt(self, lease: Lease, latest: float) -> Settlement | None:
        """Send the next event of a webhook; return what is to be recorded."""
        events = self.storage.events(lease.name, lease.cursor, 1)
        if not events:
            return None
        (event,) = events
        terms = self.terms_of(lease.name)
        key, body = key_of(terms, event), body_of(terms, event)
        headers = headers_of(lease.secret, key, self.storage.now() // 1000, body)
        try:
            self.send(lease.url, headers, body, latest)
        except NotSent as error:
            words = "event %s of %s was not delivered to webhook %s: %s"
            LOGGER.warning(words, event.body["key"], lease.name, lease.id, error)
            return retry.failed(lease, event.seq, str(error), self.storage.now())
        return retry.delivered(event.seq, self.storage.now())

    def terms_of(self, name: str) -> dict[str, Any]:
        """Return the terms of a campaign or an account, as the first entry of its journal has
        them.
        """
        try:
            (first,) = self.storage.entries(name, 0, 1)
        except NoSuchCampaign:
            (first,) = self.storage.account_entries(name, 0, 1)
        return first.body

    def run(self, *, forever: bool) -> int:
        """Deliver what is due, several at once; return how many messages were tried.

        forever   go on until `stop`; otherwise until nothing is due
        """
        tried, begun = 0, set[Future[None]]()
        with ThreadPoolExecutor(AT_ONCE, "purse-deliver") as threads:
            while not self.stopped.is_set():
                if len(begun) == AT_ONCE:
                    begun = wait(begun, return_when=FIRST_COMPLETED).not_done
                lease, latest = self.next_lease() if forever else self.lease()
                if lease is not None:
                    begun.add(threads.submit(self.finish_quietly, lease, latest))
                    tried += 1
                elif forever:
                    self.stopped.wait(PAUSE_S)
                    begun = {each for each in begun if not each.done()}
                elif begun:  # more may be due after one of them
                    begun = wait(begun, return_when=FIRST_COMPLETED).not_done
                else:
                    break
        return tried

    def next_lease(self) -> tuple[Lease | None, float]:
        """Take a webhook that is due; none where the storage does not answer, which is said
        once.
        """
        try:
            found = self.lease()
        except Exception as error:
            if not self.is_failing:
                LOGGER.error("no webhook can be leased: %s", described(error))
            self.is_failing = True
            return None, 0.0
        self.is_failing = False
        return found

    def finish_quietly(self, lease: Lease, latest: float) -> None:
        """Send the next event of a webhook; what goes wrong is for the log, and for the next
        attempt.
        """
        try:
            self.finish(lease, latest)
        except Exception as error:
            LOGGER.error("a delivery was not recorded: %s", described(error))

    def stop(self) -> None:
        """Begin no more deliveries; those that were begun come to their end."""
        self.stopped.set()


def described(error: Exception) -> str:
    """Return what a log may say of an error: the text of one that is not ours may hold an address
    or a secret.
    """
    return str(error) if isinstance(error, PurseError) else type(error).__name__
