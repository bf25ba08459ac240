"""Deliveries beside something else, such as a service: in a thread that ends with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from purse.campaign.storage.base import Storage
from purse.campaign.webhooks.deliverer import Deliverer
from purse.campaign.webhooks.sending import Sender


@contextmanager
def delivering(storage: Storage, *, allow_private: bool) -> Iterator[Deliverer]:
    """Deliver events until the block ends; then wait for messages that are on their way."""
    deliverer = Deliverer(storage, Sender(allow_private=allow_private))
    thread = threading.Thread(
        target=deliverer.run, kwargs={"forever": True}, name="purse-webhooks", daemon=True
    )
    thread.start()
    try:
        yield deliverer
    finally:
        deliverer.stop()
        thread.join()
