"""What is stored of webhooks, apart from the journal. Of what is read, only a lease holds an
address and a secret.
"""

from __future__ import annotations

from typing import NamedTuple


class NewWebhook(NamedTuple):
    """A webhook that is to be stored."""

    id: str
    url: str
    shown: str  # scheme and host of the address
    secret: str
    created: int  # ms

    def __repr__(self) -> str:
        """The webhook without its address and secret."""
        return f"<NewWebhook {self.id}>"


class WebhookRecord(NamedTuple):
    """What may be shown of a webhook."""

    id: str
    shown: str
    waiting: int  # events that were not delivered yet
    delivered: int
    failed: int  # attempts
    skipped: int  # events that were given up
    attempts: int  # at the next event, so far
    next_at: int  # ms
    error: str  # of the last attempt, in a word or two; "" where it worked
    created: int  # ms


class Lease(NamedTuple):
    """A webhook that one deliverer may use until a time, with what it needs for that."""

    id: str
    name: str  # of the campaign
    url: str
    secret: str
    cursor: int  # the entry up to which events were delivered
    attempts: int
    since: int  # ms: when the next event was first tried; 0 where it was not
    lease: str

    def __repr__(self) -> str:
        """The lease without address and secret."""
        return f"<Lease of webhook {self.id} of {self.name!r}, after entry {self.cursor}>"


class Settlement(NamedTuple):
    """How a delivery ended: what is stored of it when the lease ends."""

    cursor: int
    attempts: int
    since: int
    next_at: int
    error: str
    delivered: int = 0  # one more
    failed: int = 0
    skipped: int = 0
